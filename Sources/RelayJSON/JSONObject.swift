/// The members of a JSON object, in their original order.
///
/// A repeated name keeps its first place and its last value, as with ECMAScript's `JSON.parse`. Two
/// objects are equal if they have the same members in any order.
package struct JSONObject: Sendable {
    package private(set) var members: [(key: String, value: JSONValue)] = []
    /// Places of the members by name; kept only once a scan would cost more than a look-up.
    private var places: [ExactText: Int]?

    private static let scanLimit = 12

    package init() {}

    package init(_ members: some Sequence<(String, JSONValue)>) {
        for (key, value) in members { self[key] = value }
    }

    package var count: Int { members.count }
    package var isEmpty: Bool { members.isEmpty }
    package var keys: [String] { members.map(\.key) }

    /// The value of a member; setting nil removes the member.
    package subscript(_ key: String) -> JSONValue? {
        get { place(of: key).map { members[$0].value } }
        set {
            switch (place(of: key), newValue) {
            case (let place?, let value?):
                members[place].value = value
            case (nil, let value?):
                places?[ExactText(key)] = members.count
                members.append((key, value))
                if places == nil, members.count > Self.scanLimit { index() }
            case (let place?, nil):
                members.remove(at: place)
                if places != nil { index() }
            case (nil, nil):
                break
            }
        }
    }

    private func place(of key: String) -> Int? {
        if let places { return places[ExactText(key)] }
        return members.firstIndex { $0.key.isSame(as: key) }
    }

    private mutating func index() {
        var places: [ExactText: Int] = [:]
        places.reserveCapacity(members.count * 2)
        for (place, member) in members.enumerated() {
            places[ExactText(member.key)] = place
        }
        self.places = places
    }
}

extension JSONObject: Hashable {
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }

    package func hash(into hasher: inout Hasher) {
        // Order is ignored, so the members' hashes are summed.
        var sum = 0
        for member in members {
            var one = Hasher()
            member.key.hashBytes(into: &one)
            one.combine(member.value)
            sum &+= one.finalize()
        }
        hasher.combine(sum)
    }
}

extension JSONObject: Sequence {
    package func makeIterator() -> IndexingIterator<[(key: String, value: JSONValue)]> {
        members.makeIterator()
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}
