package import RelayJSON
@_spi(Rooms) package import RelayRecords

/// A record in a client's optimistic response.
package struct ExpectedRecord: Sendable {
    package let id: DataID
    package let type: String
    package let fields: [(key: String, value: FieldValue)]
}

extension FieldPlan {
    /// The records in the value that a client expects for this field. What does not fit the selection is
    /// ignored: it is a guess, and the real response will follow.
    /// - Returns: inner records first.
    package func expectedRecords(in value: JSONValue, _ symbols: Symbols) -> [ExpectedRecord] {
        var reader = ExpectedRecordReader(symbols: symbols)
        _ = reader.read(value, shape)
        return reader.records
    }

    /// The id of the node in an edge that a client expects, if this field is a payload and the edge one
    /// of its fields.
    package func expectedNode(in value: JSONValue, _ symbols: Symbols) -> DataID? {
        guard let plan = shape.selection?.onlyPlan, let object = value.object else { return nil }
        for field in plan.fields {
            guard case .payloadPart(.edge) = field.resolver,
                let edge = object[field.responseName]?.object,
                let edgePlan = field.shape.selection?.onlyPlan
            else { continue }
            for field in edgePlan.fields {
                guard case .connectionPart(.node) = field.resolver else { continue }
                var reader = ExpectedRecordReader(symbols: symbols)
                return reader.read(edge[field.responseName] ?? .null, field.shape)
            }
        }
        return nil
    }
}

extension OutputShape {
    fileprivate var selection: SelectionPlan? {
        switch self {
        case .object(let selection): selection
        case .nonNull(let inner): inner.selection
        case .leaf, .list: nil
        }
    }
}

private struct ExpectedRecordReader {
    let symbols: Symbols
    var records: [ExpectedRecord] = []

    /// Reads a value; returns the id of the record that it is.
    mutating func read(_ value: JSONValue, _ shape: OutputShape) -> DataID? {
        switch (shape, value) {
        case (.nonNull(let inner), _):
            return read(value, inner)
        case (.list(let item), .array(let elements)):
            for element in elements { _ = read(element, item) }
            return nil
        case (.object(let selection), .object(let object)):
            return read(object, selection)
        default:
            return nil
        }
    }

    private mutating func read(_ object: JSONObject, _ selection: SelectionPlan) -> DataID? {
        guard let plan = selection.onlyPlan ?? abstractPlan(selection, object) else { return nil }
        var id: DataID?
        var fields: [(key: String, value: FieldValue)] = []
        for field in plan.fields {
            guard let value = object[field.responseName] else { continue }
            let linked = read(value, field.shape)
            switch field.resolver {
            case .id: id = value.string.map(DataID.init(_:))
            case .stored(let key):
                let key = symbols.nameString(key)
                if let linked {
                    fields.append((key, .link(linked)))
                } else if field.shape.selection == nil {
                    fields.append((key, FieldValue(leaf: value)))
                }
            default: break
            }
        }
        guard let id, plan.type != nil else { return nil }
        records.append(ExpectedRecord(id: id, type: plan.typeName, fields: fields))
        return id
    }

    private func abstractPlan(_ selection: SelectionPlan, _ object: JSONObject) -> ObjectPlan? {
        object["__typename"]?.string.flatMap(symbols.findName).flatMap {
            try? selection.plan(for: $0)
        }
    }
}
