package import RelayArtifacts
package import RelayJSON

/// Splits the results of one operation into records, as a Relay client would that runs the operation's own
/// text. From these the server knows which fields of which records a new result changes, and the client what
/// the server assumes it to have.
///
/// An object with an `id` is the record of that id; any other is `client:<parent id>:<storage key>`, in a list
/// followed by `:<index>`, or by the id of its `node` if it is an edge.
package struct RecordNormalizer: Sendable {
    package let operation: NormalizationOperation
    package let variables: VariableData

    /// - Parameter variables: including defaults of those not given.
    package init(_ operation: NormalizationOperation, variables: VariableData) {
        self.operation = operation
        self.variables = variables
    }

    /// The number of selections, and the most bytes that the keys on the way from the root to a field have together. A record
    /// without an `id` is named by these keys, so long arguments are repeated for each record below.
    package var extent: (selectionCount: Int, longestPath: Int) { extent(operation.selections) }

    private func extent(
        _ selections: [NormalizationSelection]
    ) -> (selectionCount: Int, longestPath: Int) {
        var all = (selectionCount: selections.count, longestPath: 0)
        for selection in selections {
            var (own, below) = (0, (selectionCount: 0, longestPath: 0))
            switch selection {
            case .scalarField(let field): own = key(field.key).utf8.count
            case .linkedField(let field):
                own = key(field.key).utf8.count
                below = extent(field.selections)
            case .inlineFragment(let fragment): below = extent(fragment.selections)
            case .condition(let condition): below = extent(condition.selections)
            case .defer(let part): below = extent(part.selections)
            case .stream(let part): below = extent(part.selections)
            case .handle, .typeDiscriminator, .clientExtension: break
            }
            all.selectionCount += below.selectionCount
            all.longestPath = max(all.longestPath, own + below.longestPath)
        }
        return all
    }

    /// The records of a result.
    /// - Parameter data: the member `data` of a response.
    package func records(of data: JSONValue) -> ResultRecords {
        var records = ResultRecords()
        if let root = data.object {
            normalize(root, operation.selections, type: nil, ResultRecords.rootID, &records)
        }
        return records
    }

    private func normalize(
        _ object: JSONObject, _ selections: [NormalizationSelection], type: String?,
        _ id: ExactText,
        _ records: inout ResultRecords
    ) {
        records.begin(id)
        for selection in selections {
            switch selection {
            case .scalarField(let field):
                guard let value = object[field.responseName] else { continue }
                if field.name == "__typename" {
                    records.set(ResultRecords.typeKey, value, of: id)
                } else {
                    records.set(ExactText(key(field.key)), .leaf(value), of: id)
                }
            case .linkedField(let field):
                guard let value = object[field.responseName] else { continue }
                let key = key(field.key)
                let link = normalize(value, field, key, of: id, &records)
                records.set(ExactText(key), link, of: id)
            case .inlineFragment(let fragment):
                if fragment.counts(for: object, type) {
                    normalize(object, fragment.selections, type: type, id, &records)
                }
            case .condition(let condition):
                if condition.holds(under: variables) {
                    normalize(object, condition.selections, type: type, id, &records)
                }
            case .defer(let part):
                normalize(object, part.selections, type: type, id, &records)
            case .stream(let part):
                normalize(object, part.selections, type: type, id, &records)
            case .handle, .typeDiscriminator, .clientExtension:
                // Handled by the client alone.
                continue
            }
        }
    }

    /// The link, or the links, that a field's value becomes.
    private func normalize(
        _ value: JSONValue, _ field: NormalizationLinkedField, _ key: String, of parent: ExactText,
        _ records: inout ResultRecords
    ) -> JSONValue {
        switch value {
        case .object(let object):
            return ["ref": .string(normalize(object, field, key, of: parent, nil, &records).text)]
        case .array(let elements):
            return [
                "refs": .array(
                    elements.enumerated().map { index, element in
                        guard let object = element.object else { return .null }
                        let id = normalize(object, field, key, of: parent, index, &records)
                        return .string(id.text)
                    })
            ]
        default:
            return .null
        }
    }

    private func normalize(
        _ object: JSONObject, _ field: NormalizationLinkedField, _ key: String,
        of parent: ExactText,
        _ index: Int?, _ records: inout ResultRecords
    ) -> ExactText {
        let type = field.concreteType ?? field.selections.member("__typename", of: object)?.string
        let id = ExactText(
            field.selections.member("id", of: object)?.recordID
                ?? clientID(of: object, field, key, parent.text, index))
        records.begin(id)
        if let type { records.set(ResultRecords.typeKey, .string(type), of: id) }
        normalize(object, field.selections, type: type, id, &records)
        return id
    }

    private func clientID(
        of object: JSONObject, _ field: NormalizationLinkedField, _ key: String, _ parent: String,
        _ index: Int?
    ) -> String {
        let owner = parent.hasPrefix("client:") ? parent : "client:\(parent)"
        guard let index else { return "\(owner):\(key)" }
        let place = field.selections.nodeID(of: object) ?? "\(index)"
        return "\(owner):\(key):\(place)"
    }

    private func key(_ key: StorageKey) -> String {
        key.constant ?? key.resolved(with: variables)
    }
}

extension NormalizationInlineFragment {
    /// Whether the selections apply to an object.
    /// - Parameter type: its type, as far as it is known.
    fileprivate func counts(for object: JSONObject, _ type: String?) -> Bool {
        if let type, counts(for: type) { return true }
        return abstractKey.map { object[$0] != nil } ?? false
    }
}

extension [NormalizationSelection] {
    /// The value of a scalar field of an object, whatever its alias in the response.
    fileprivate func member(_ name: String, of object: JSONObject) -> JSONValue? {
        for selection in self {
            switch selection {
            case .scalarField(let field) where field.name == name:
                if let value = object[field.responseName] { return value }
            case .inlineFragment(let fragment):
                if let value = fragment.selections.member(name, of: object) { return value }
            case .condition(let condition):
                if let value = condition.selections.member(name, of: object) { return value }
            default: continue
            }
        }
        return nil
    }

    /// The id of an edge's node.
    fileprivate func nodeID(of edge: JSONObject) -> String? {
        for case .linkedField(let field) in self where field.name == "node" && !field.plural {
            guard let node = edge[field.responseName]?.object else { continue }
            return field.selections.member("id", of: node)?.recordID
        }
        return nil
    }
}

extension JSONValue {
    /// As a record's id: a server may send a number where the schema has ID.
    fileprivate var recordID: String? {
        switch self {
        case .string(let id): id.isEmpty ? nil : id
        case .int(let number): "\(number)"
        default: nil
        }
    }

    /// A leaf in the form of a seed file.
    fileprivate static func leaf(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array, .object: ["value": value]
        default: value
        }
    }
}
