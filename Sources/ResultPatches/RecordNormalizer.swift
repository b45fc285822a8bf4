package import RelayArtifacts
package import RelayJSON

/// Splits the results of one operation into records, as a Relay client would that runs the operation's own
/// text. From these the server knows which fields of which records a new result changes, and the client what
/// the server assumes it to have.
///
/// An object with an `id` is the record of that id; any other is `client:<parent id>:<storage key>`, in a list
/// followed by `:<index>`, or by the id of its `node` if it is an edge.
///
/// So one record may be in several places of a result. Its fields are the same there, or else the result is
/// contradictory and has no records: a link of which there is one has to lead to everything below it.
package struct RecordNormalizer: Sendable {
    package let operation: NormalizationOperation
    package private(set) var variables: VariableData
    /// No other field is called `id` or `node`.
    private let hasOwnNames: Bool

    /// - Parameter variables: including defaults of those not given.
    package init(_ operation: NormalizationOperation, variables: VariableData) {
        self.operation = operation
        self.variables = variables
        hasOwnNames = operation.selections.haveOwnNames
    }

    /// The same operation under other variables.
    package func under(_ variables: VariableData) -> RecordNormalizer {
        var copy = self
        copy.variables = variables
        return copy
    }

    /// Bytes of ids and keys that the records of one result may have, each counted wherever it occurs. Of a record without
    /// an `id` these are the keys on the way to it, so a small result can have records that are far larger.
    package static let textLimit = 64 << 20

    /// The records of a result.
    /// - Parameter data: the member `data` of a response.
    /// - Returns: nil if they would not have all of the data, or if their ids and keys together exceed the limit.
    package func records(of data: JSONValue, textLimit: Int = textLimit) -> ResultRecords? {
        var splitter = ResultSplitter(
            variables: variables, hasOwnNames: hasOwnNames, textLimit: textLimit)
        if let root = data.object {
            splitter.split(root, operation.selections, type: nil, ResultRecords.rootID, [:])
        }
        return splitter.isInvalid ? nil : splitter.records
    }
}

/// Splits one result into records.
private struct ResultSplitter {
    private let variables: VariableData
    private let hasOwnNames: Bool
    private(set) var records = ResultRecords()
    /// The keys that depend on variables, each made once.
    private var keys: [ObjectIdentifier: ExactText] = [:]
    /// Bytes of ids and keys that there is still room for.
    private var room: Int
    /// Some of the data is in no record.
    private var isContradictory = false

    init(variables: VariableData, hasOwnNames: Bool, textLimit: Int) {
        self.variables = variables
        self.hasOwnNames = hasOwnNames
        room = textLimit
    }

    /// The records are not complete, or there are more ids and keys than allowed.
    var isInvalid: Bool { isContradictory || room < 0 }

    /// Adds an object's record.
    /// - Parameter fields: those of its record that are known already.
    mutating func split(
        _ object: JSONObject, _ selections: [NormalizationSelection], type: String?,
        _ id: ExactText, _ fields: [ExactText: JSONValue]
    ) {
        var fields = fields
        collect(object, selections, type: type, id, into: &fields)
        // Once for all its fields: an id may be long, and is hashed.
        if !records.merge(fields, into: id) { isContradictory = true }
    }

    private mutating func collect(
        _ object: JSONObject, _ selections: [NormalizationSelection], type: String?,
        _ id: ExactText, into fields: inout [ExactText: JSONValue]
    ) {
        for selection in selections {
            if isInvalid { return }
            switch selection {
            case .scalarField(let field):
                guard let value = object[field.responseName] else { continue }
                if field.name == "__typename" {
                    set(ResultRecords.typeKey, value, in: &fields)
                } else {
                    set(key(field, field.key), .leaf(value), in: &fields)
                }
            case .linkedField(let field):
                guard let value = object[field.responseName] else { continue }
                let key = key(field, field.key)
                set(key, split(value, field, key, of: id), in: &fields)
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

    private mutating func set(
        _ key: ExactText, _ value: JSONValue, in fields: inout [ExactText: JSONValue]
    ) {
        if let old = fields.updateValue(value, forKey: key), old != value { isContradictory = true }
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
                if isInvalid { break }
                guard let object = element.object else {
                    links.append(link(element))
                    continue
                }
                links.append(.string(split(object, field, key, of: parent, index).text))
            }
            return ["refs": .array(links)]
        default:
            return link(value)
        }
    }

    /// The link that null becomes. There is none for lists in lists.
    private mutating func link(_ value: JSONValue) -> JSONValue {
        if !value.isNull { isContradictory = true }
        return .null
    }

    private mutating func split(
        _ object: JSONObject, _ field: NormalizationLinkedField, _ key: ExactText,
        of parent: ExactText, _ index: Int?
    ) -> ExactText {
        let type = field.concreteType ?? field.selections.typeName(of: object)
        let id = ExactText(
            recordID(of: object, field.selections, type)
                ?? clientID(of: object, field, type, key.text, parent.text, index))
        room -= id.text.utf8.count
        let fields = type.map { [ResultRecords.typeKey: JSONValue.string($0)] } ?? [:]
        split(object, field.selections, type: type, id, fields)
        return id
    }

    private func clientID(
        of object: JSONObject, _ field: NormalizationLinkedField, _ type: String?, _ key: String,
        _ parent: String, _ index: Int?
    ) -> String {
        let owner = parent.hasPrefix("client:") ? parent : "client:\(parent)"
        guard let index else { return "\(owner):\(key)" }
        let place = nodeID(of: object, field.selections, type) ?? "\(index)"
        return "\(owner):\(key):\(place)"
    }

    /// An object's own id, also if only selections around these select it.
    private func recordID(
        of object: JSONObject, _ selections: [NormalizationSelection], _ type: String?
    ) -> String? {
        if hasOwnNames, let id = object["id"] { return id.recordID }
        return selections.id(of: object, type, variables)?.recordID
    }

    /// The id of an edge's node.
    private func nodeID(
        of edge: JSONObject, _ selections: [NormalizationSelection], _ type: String?
    ) -> String? {
        if hasOwnNames, let id = edge["node"]?["id"] { return id.recordID }
        for case .linkedField(let field) in selections where field.name == "node" && !field.plural {
            guard let node = edge[field.responseName]?.object else { continue }
            let type = field.concreteType ?? field.selections.typeName(of: node)
            return recordID(of: node, field.selections, type)
        }
        return nil
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
    /// An object's type, where it is selected for all types.
    fileprivate func typeName(of object: JSONObject) -> String? {
        for case .scalarField(let field) in self where field.name == "__typename" {
            return object[field.responseName]?.string
        }
        return nil
    }

    /// The value of an object's `id`, whatever its alias in the response.
    fileprivate func id(
        of object: JSONObject, _ type: String?, _ variables: VariableData
    ) -> JSONValue? {
        for selection in self {
            var selections: [NormalizationSelection] = []
            switch selection {
            case .scalarField(let field) where field.name == "id":
                if let value = object[field.responseName] { return value }
            case .inlineFragment(let fragment) where fragment.counts(for: object, type):
                selections = fragment.selections
            case .condition(let condition) where condition.holds(under: variables):
                selections = condition.selections
            default: continue
            }
            if let value = selections.id(of: object, type, variables) { return value }
        }
        return nil
    }

    /// Whether no other field is called `id` or `node` in responses.
    fileprivate var haveOwnNames: Bool {
        allSatisfy { selection in
            switch selection {
            case .scalarField(let field): Self.isOwnName(field.responseName, of: field.name)
            case .linkedField(let field):
                Self.isOwnName(field.responseName, of: field.name)
                    && field.selections.haveOwnNames
            case .inlineFragment(let fragment): fragment.selections.haveOwnNames
            case .condition(let condition): condition.selections.haveOwnNames
            case .defer(let part), .stream(let part): part.selections.haveOwnNames
            case .handle, .typeDiscriminator, .clientExtension: true
            }
        }
    }

    private static func isOwnName(_ responseName: String, of name: String) -> Bool {
        responseName == name || responseName != "id" && responseName != "node"
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
