import RelayJSON

/// A value as indented lines, with what differs from the one before marked.
struct ResultTree {
    private var lines: ResultRows
    private let unconfirmed: Set<String>

    /// - Parameters:
    ///   - old: the value before; nil if there is none to compare with.
    ///   - path: where the value is in the result.
    ///   - record: the record that it belongs to.
    static func add(
        _ value: JSONValue, after old: JSONValue?, unconfirmed: Set<String> = [],
        at path: [String] = [], of record: String? = nil, to lines: inout ResultRows
    ) {
        var tree = ResultTree(lines: lines, unconfirmed: unconfirmed)
        tree.add(
            value, old.map(Old.value) ?? .unknown,
            Place(path: path, rootDepth: path.count, record: record))
        lines = tree.lines
    }

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

    /// Where a value stands.
    private struct Place {
        var path: [String]
        /// How deep the value is that is shown as a whole.
        let rootDepth: Int
        var label = ""
        var record: String?
        /// Whether all of it was in the value before, and is gone.
        var isRemoved = false

        /// What is shown as a whole has no line, and is not above anything.
        var isRoot: Bool { path.count == rootDepth }

        func inner(_ name: String) -> Place {
            var place = self
            place.path.append(name)
            place.label = name
            return place
        }
    }

    private mutating func add(_ value: JSONValue, _ old: Old, _ place: Place) {
        var place = place
        if let id = value.recordID { place.record = id }
        switch value {
        case .object(let object) where !object.isEmpty:
            writeHead(place, isNew: old.isNothing)
            for member in object { add(member.value, old[member.key], place.inner(member.key)) }
        case .array(let elements) where !elements.isEmpty:
            writeHead(place, isNew: old.isNothing)
            add(elements, old, place)
        default: write(value, place, isChanged: !old.isSame(as: value))
        }
    }

    private mutating func add(_ elements: [JSONValue], _ old: Old, _ place: Place) {
        guard case .value(let value) = old, let olds = value.array else {
            for (index, element) in elements.enumerated() {
                add(element, old.isUnknown ? .unknown : .nothing, place.inner("\(index)"))
            }
            return
        }
        let before = Counterparts(olds)
        var taken = Counterparts.Taken()
        for (index, element) in elements.enumerated() {
            let old = before.counterpart(of: element, at: index, &taken)
            add(element, old.map(Old.value) ?? .nothing, place.inner("\(index)"))
        }
        for value in before.others(than: taken, after: elements.count) {
            var place = place.inner("gone")
            place.isRemoved = true
            add(value, .unknown, place)
        }
    }

    // MARK: Lines

    private func label(_ place: Place) -> String {
        String(repeating: "  ", count: max(place.path.count - place.rootDepth - 1, 0)) + place.label
    }

    private func mark(_ place: Place) -> ResultRow.Piece.Mark {
        if place.isRemoved { return .removed }
        return place.record.map(unconfirmed.contains) == true ? .unconfirmed : .none
    }

    /// The line of what has lines of its own.
    private mutating func writeHead(_ place: Place, isNew: Bool) {
        if place.isRoot { return }
        let mark = isNew && !place.isRemoved ? .changed : mark(place)
        add([.init(text: label(place), mark: mark)], place)
    }

    private mutating func write(_ value: JSONValue, _ place: Place, isChanged: Bool) {
        let mark = mark(place)
        var pieces: [ResultRow.Piece] = []
        if !place.isRoot { pieces.append(.init(text: label(place) + ": ", mark: mark)) }
        pieces.append(.init(text: value.text, mark: isChanged ? .changed : mark))
        add(pieces, place)
    }

    private mutating func add(_ pieces: [ResultRow.Piece], _ place: Place) {
        lines.add(pieces, path: place.isRemoved ? nil : place.path, record: place.record)
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
