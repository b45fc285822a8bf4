package import RelayJSON

/// How a leaf's type converts a stored value: result coercion of the scalars (GraphQL §3.5).
package enum LeafKind: UInt8, Sendable {
    case int
    case float
    case string
    case boolean
    case id
    /// A custom scalar of the schema: any JSON.
    case any
}

/// The result of writing a leaf.
package enum LeafOutcome: Sendable {
    case written
    /// The field is null or was never set; nothing was written.
    case null
    /// The stored value does not fit the type; nothing was written.
    case mismatch
}

extension Row {
    /// Writes the value of a field as JSON, straight from the row's memory.
    /// - Parameter hint: where the last look-up ended. Fields are often requested in the shape's order,
    ///   so the next slot is tried first.
    package func writeLeaf(
        _ key: NameIndex, hint: inout Int, as kind: LeafKind, to writer: inout JSONWriter
    ) -> LeafOutcome {
        guard let slot = slot(of: key, hint: &hint) else { return .null }
        return writeLeaf(slot, as: kind, to: &writer)
    }

    /// Writes the value of a slot as JSON.
    package func writeLeaf(
        _ slot: Int, as kind: LeafKind, to writer: inout JSONWriter
    ) -> LeafOutcome {
        switch (tag(slot), kind) {
        case (.null, _), (.absent, _), (.failed, _):
            return .null
        case (.string, .string), (.string, .id), (.string, .any):
            withText(slot) { writer.write(utf8: $0) }
        case (.true, .boolean), (.true, .any):
            writer.raw("true")
        case (.false, .boolean), (.false, .any):
            writer.raw("false")
        case (.int, .int):
            guard Int32(exactly: int(slot)) != nil else { return .mismatch }
            writer.write(int(slot))
        case (.int, .float), (.int, .any):
            writer.write(int(slot))
        case (.double, .float), (.double, .any):
            guard double(slot).isFinite else { return .mismatch }
            writer.write(double(slot))
        case (.int, .id):
            writer.write(String(int(slot)))
        case (.json, .any):
            withText(slot) { writer.raw($0) }
        default:
            return .mismatch
        }
        return .written
    }

    /// The value of a slot that holds a leaf; nil for links.
    package func leaf(_ slot: Int) -> JSONValue? {
        switch tag(slot) {
        case .link, .links: nil
        default: json(slot)
        }
    }

    @inline(__always)
    func slot(of key: NameIndex, hint: inout Int) -> Int? {
        let shape = shape
        if hint < shape.keys.count, shape.keys[hint] == key {
            defer { hint += 1 }
            return hint
        }
        guard let slot = shape.slot(of: key) else { return nil }
        hint = slot + 1
        return slot
    }

    /// The slot of a key that has a value.
    @inline(__always)
    package func presentSlot(of key: NameIndex, hint: inout Int) -> Int? {
        guard let slot = slot(of: key, hint: &hint), tag(slot) != .absent else { return nil }
        return slot
    }

    /// The value of a leaf as JSON; null for anything else.
    package func json(_ slot: Int) -> JSONValue {
        switch tag(slot) {
        case .true: .bool(true)
        case .false: .bool(false)
        case .int: .int(int(slot))
        case .double: .double(double(slot))
        case .string: .string(withText(slot) { String(decoding: $0, as: UTF8.self) })
        case .json: withText(slot) { (try? JSONValue(parsing: $0)) ?? .null }
        case .absent, .null, .failed, .link, .links: .null
        }
    }
}
