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

    /// Bytes of ids and keys that the records of one result may have, each counted wherever it occurs. Of a record without
    /// an `id` these are the keys on the way to it, so a small result can have records that are far larger.
    package static let textLimit = 64 << 20

    /// The records of a result.
    /// - Parameter data: the member `data` of a response.
    /// - Returns: nil if their ids and keys together exceed the limit.
    package func records(of data: JSONValue, textLimit: Int = textLimit) -> ResultRecords? {
        var splitter = ResultSplitter(variables: variables, textLimit: textLimit)
        if let root = data.object {
            splitter.split(root, operation.selections, type: nil, ResultRecords.rootID, [:])
        }
        return splitter.isOverLimit ? nil : splitter.records
    }
}

/// Splits one result into records.
private struct ResultSplitter {
    private let variables: VariableData
    private(set) var records = ResultRecords()
    /// The keys that depend on variables, each made once.
    private var keys: [ObjectIdentifier: ExactText] = [:]
    /// Bytes of ids and keys that there is still room for.
    private var room: Int

    init(variables: VariableData, textLimit: Int) {
        self.variables = variables
        room = textLimit
    }

    /// There are more ids and keys than allowed; the records are not complete.
    var isOverLimit: Bool { room < 0 }

    /// Adds an object's record.
    /// - Parameter fields: those of its record that are known already.
    mutating func split(
        _ object: JSONObject, _ selections: [NormalizationSelection], type: String?,
        _ id: ExactText, _ fields: [ExactText: JSONValue]
    ) {
        var fields = fields
        collect(object, selections, type: type, id, into: &fields)
        // Once for all its fields: an id may be long, and is hashed.
        records.merge(fields, into: id)
    }

    private mutating func collect(
        _ object: JSONObject, _ selections: [NormalizationSelection], type: String?,
        _ id: ExactText, into fields: inout [ExactText: JSONValue]
    ) {
        for selection in selections {
            if isOverLimit { return }
            switch selection {
            case .scalarField(let field):
                guard let value = object[field.responseName] else { continue }
                if field.name == "__typename" {
                    fields[ResultRecords.typeKey] = value
                } else {
                    fields[key(field, field.key)] = .leaf(value)
                }
            case .linkedField(let field):
                guard let value = object[field.responseName] else { continue }
                let key = key(field, field.key)
                fields[key] = split(value, field, key, of: id)
            case .inlineFragment(let fragment):
                if fragment.counts(for: object, type) {
                    collect(object, fragment.selections, type: type, id, into: &fields)
                }
            case .condition(let condition):
                if condition.holds(under: variables) {
                    collect(object, condition.selections, type: type, id, into: &fields)
                }
            case .defer(let part):
                collect(object, part.selections, type: type, id, into: &fields)
            case .stream(let part):
                collect(object, part.selections, type: type, id, into: &fields)
            case .handle, .typeDiscriminator, .clientExtension:
                // Handled by the client alone.
                continue
            }
        }
    }

    /// The link, or the links, that a field's value becomes.
    private mutating func split(
        _ value: JSONValue, _ field: NormalizationLinkedField, _ key: ExactText,
        of parent: ExactText
    ) -> JSONValue {
        switch value {
        case .object(let object):
            return ["ref": .string(split(object, field, key, of: parent, nil).text)]
        case .array(let elements):
            var links: [JSONValue] = []
            for (index, element) in elements.enumerated() {
                if isOverLimit { break }
                guard let object = element.object else {
                    links.append(.null)
                    continue
                }
                links.append(.string(split(object, field, key, of: parent, index).text))
            }
            return ["refs": .array(links)]
        default:
            return .null
        }
    }

    private mutating func split(
        _ object: JSONObject, _ field: NormalizationLinkedField, _ key: ExactText,
        of parent: ExactText, _ index: Int?
    ) -> ExactText {
        let type = field.concreteType ?? field.selections.member("__typename", of: object)?.string
        let id = ExactText(
            field.selections.member("id", of: object)?.recordID
                ?? clientID(of: object, field, key.text, parent.text, index))
        room -= id.text.utf8.count
        let fields = type.map { [ResultRecords.typeKey: JSONValue.string($0)] } ?? [:]
        split(object, field.selections, type: type, id, fields)
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

    private mutating func key(_ field: AnyObject, _ key: StorageKey) -> ExactText {
        let text: ExactText
        if let constant = key.constant {
            text = ExactText(constant)
        } else if let known = keys[ObjectIdentifier(field)] {
            text = known
        } else {
            text = ExactText(key.resolved(with: variables))
            keys[ObjectIdentifier(field)] = text
        }
        room -= text.text.utf8.count
        return text
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
