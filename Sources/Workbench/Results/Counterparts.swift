import RelayJSON

/// The elements of a list before, found again by what they are: by type and id, or by their places if they have no ids.
struct Counterparts {
    private let elements: [JSONValue]
    /// The places of those with ids, in order.
    private var places: [String: [Int]] = [:]

    /// Which have been found again.
    struct Taken {
        fileprivate var places: Set<Int> = []
        fileprivate var counts: [String: Int] = [:]
    }

    init(_ elements: [JSONValue]) {
        self.elements = elements
        for (place, element) in elements.enumerated() {
            if let identity = element.identity { places[identity, default: []].append(place) }
        }
    }

    /// What an element was before; of several that are the same thing, the first was the first. Nil if it is new.
    func counterpart(of element: JSONValue, at index: Int, _ taken: inout Taken) -> JSONValue? {
        var place: Int? = index
        if let identity = element.identity {
            let count = taken.counts[identity, default: 0]
            taken.counts[identity] = count + 1
            place = places[identity].flatMap { $0.indices.contains(count) ? $0[count] : nil }
        }
        guard let place, elements.indices.contains(place) else { return nil }
        taken.places.insert(place)
        return elements[place]
    }

    /// Those that are gone: with ids, whatever was not found again; without, what stood behind the end of now.
    func others(than taken: Taken, after count: Int) -> [JSONValue] {
        elements.indices
            .filter { !taken.places.contains($0) && (elements[$0].identity != nil || $0 >= count) }
            .map { elements[$0] }
    }
}

extension JSONValue {
    /// The id of an object: a text or a number.
    var recordID: String? {
        switch self["id"] {
        case .string(let id)?: id
        case .int(let id)?: "\(id)"
        default: nil
        }
    }

    /// What tells an element of a list from others: type and id, or those of an edge's node.
    fileprivate var identity: String? {
        let object = self["node"] ?? self
        guard let id = object.recordID else { return self["cursor"]?.string }
        return (object["__typename"]?.string ?? "") + ":" + id
    }
}
