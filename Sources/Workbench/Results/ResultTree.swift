import RelayJSON

/// A value as indented lines, with what differs from the one before marked.
struct ResultTree {
    private var lines = ResultRows()
    private let unconfirmed: Set<String>

    /// - Parameter old: the value before; nil if there is none to compare with.
    static func rows(
        of value: JSONValue, after old: JSONValue?, unconfirmed: Set<String> = []
    ) -> [ResultRow] {
        var tree = ResultTree(unconfirmed: unconfirmed)
        tree.add(value, old.map(Old.value) ?? .unknown, name: "", Place())
        return tree.lines.finished
    }

    private init(unconfirmed: Set<String>) { self.unconfirmed = unconfirmed }

    /// What was where a value is now.
    fileprivate enum Old {
        /// Nobody knows.
        case unknown
        case nothing
        case value(JSONValue)

        subscript(key: String) -> Old {
            switch self {
            case .unknown: .unknown
            case .nothing: .nothing
            case .value(let value): value[key].map(Old.value) ?? .nothing
            }
        }
    }

    /// Where a line stands.
    private struct Place {
        var depth = 0
        var record: String?
        /// Whether all of it was in the value before, and is gone.
        var isRemoved = false

        var inner: Place {
            var place = self
            place.depth += 1
            return place
        }
    }

    private mutating func add(_ value: JSONValue, _ old: Old, name: String, _ place: Place) {
        var place = place
        if let id = value["id"]?.string { place.record = id }
        switch value {
        case .object(let object) where !object.isEmpty:
            write(name, old.isNothing ? "" : nil, old, place)
            // What has no name has no line, and is not above anything.
            let inner = name.isEmpty ? place : place.inner
            for member in object {
                add(member.value, old[member.key], name: member.key, inner)
            }
        case .array(let elements) where !elements.isEmpty:
            write(name, nil, old, place)
            add(elements, old, place.inner)
        default:
            write(name, value.text, old.isSame(as: value) ? .unknown : old, place)
        }
    }

    /// Elements are those of before by their ids, or by their places if they have none.
    private mutating func add(_ elements: [JSONValue], _ old: Old, _ place: Place) {
        guard case .value(let value) = old, let olds = value.array else {
            for (index, element) in elements.enumerated() {
                add(element, old.isUnknown ? .unknown : .nothing, name: "\(index)", place)
            }
            return
        }
        let byID = Dictionary(
            olds.compactMap { old in old.identity.map { ($0, old) } },
            uniquingKeysWith: { a, _ in a })
        for (index, element) in elements.enumerated() {
            let before =
                if let identity = element.identity { byID[identity] } else {
                    index < olds.count ? olds[index] : nil
                }
            add(element, before.map(Old.value) ?? .nothing, name: "\(index)", place)
        }
        let now = Set(elements.compactMap(\.identity))
        let gone =
            now.isEmpty && byID.isEmpty
            ? Array(olds.dropFirst(elements.count))
            : olds.filter { old in old.identity.map { !now.contains($0) } ?? false }
        for value in gone {
            var place = place
            place.isRemoved = true
            add(value, .unknown, name: "gone", place)
        }
    }

    /// - Parameter text: nil for what has lines of its own.
    private mutating func write(_ name: String, _ text: String?, _ old: Old, _ place: Place) {
        let indent = String(repeating: "  ", count: place.depth)
        if name.isEmpty, text == nil || text == "" { return }
        var mark = ResultRow.Piece.Mark.none
        if let record = place.record, unconfirmed.contains(record) { mark = .unconfirmed }
        if !old.isUnknown, text != nil { mark = .changed }
        if place.isRemoved { mark = .removed }
        let label = name.isEmpty ? "" : name + (text.map { $0.isEmpty ? "" : ": " } ?? "")
        if mark == .removed || text == "" {
            lines.add(
                [.init(text: indent + label + (text ?? ""), mark: mark)], record: place.record)
        } else {
            lines.add(
                [
                    .init(
                        text: indent + label, mark: mark == .unconfirmed ? .unconfirmed : .none)
                ] + (text.map { [.init(text: $0, mark: mark)] } ?? []), record: place.record)
        }
    }
}

extension ResultTree.Old {
    fileprivate var isUnknown: Bool { if case .unknown = self { true } else { false } }
    fileprivate var isNothing: Bool { if case .nothing = self { true } else { false } }

    fileprivate func isSame(as value: JSONValue) -> Bool {
        switch self {
        case .unknown: true
        case .nothing: false
        case .value(let old): old == value
        }
    }
}

extension JSONValue {
    /// What tells an element of a list from others: its id, or that of an edge's node.
    var identity: String? {
        self["id"]?.string ?? self["node"]?["id"]?.string ?? self["cursor"]?.string
    }
}
