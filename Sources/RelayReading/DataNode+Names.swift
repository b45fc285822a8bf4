package import RelayJSON
@_spi(Rooms) import RelayRecords

// Looking up names in a node that are only known at run time, as updaters do.

extension DataNode {
    /// The value of a leaf; nil when the data has no such field, or its value is unknown.
    package func leaf(named name: String) -> JSONValue? {
        guard let field = field(named: name) else { return nil }
        switch field.kind {
        case .typename: return .string(typename)
        case .dataID: return .string(reading.symbols.idString(record))
        case .scalar: return row.slot(of: field.key).map { row.json($0) }
        case .linked, .plural, .alias: return nil
        }
    }

    /// The value of a linked or plural field; nil when the data has no such field.
    package func child(named name: String) -> Child? {
        field(named: name).flatMap { $0.child == nil ? nil : children[$0.childPlace] }
    }

    /// Whether a field leads to what a handler keeps of it, such as a connection, and not to what the server returned.
    package func isHandled(_ name: String) -> Bool {
        guard let field = field(named: name) else { return false }
        switch field.kind {
        case .linked, .plural:
            return reading.symbols.nameText(field.key).starts(with: "__".utf8)
        case .scalar, .typename, .dataID, .alias: return false
        }
    }

    private func field(named name: String) -> FlatReading.Field? {
        var name = name
        return name.withUTF8 { name in
            reading.place(of: name, hint: 0).map { reading.fields[$0] }
        }
    }
}
