import Foundation
import RelayArtifacts
import RelayJSON

/// An `optimisticResponse` has a field that its mutation does not select there, whatever the object's type: none of it
/// would be shown.
public struct UnknownFieldError: SentenceError, Hashable, Sendable {
    /// The operation's name.
    public var operation: String
    /// Member names from the response to the object, with dots between; empty: the root.
    public var path: String
    /// The name that was found.
    public var field: String
    /// The names that the object may have, with aliases in place of aliased fields.
    public var fields: [String]

    public var errorDescription: String? {
        let known = fields.map { "\"\($0)\"" }.joined(separator: ", ")
        let place = path.isEmpty ? "its root" : "\"\(path)\""
        return """
            The optimistic response cannot be used: operation \(operation) does not select "\(field)" at \(place), but \
            \(known).
            """
    }
}

/// An `optimisticResponse` has no fields: nothing would be shown.
public struct EmptyOptimisticResponseError: SentenceError, Hashable, Sendable {
    /// The operation's name.
    public var operation: String

    public var errorDescription: String? {
        """
        The optimistic response cannot be used: it has no fields, so \(operation) would show nothing. Leave it out if \
        nothing is to be shown.
        """
    }
}

/// Looks for names in an optimistic response that its operation does not select there.
///
/// An object may have the names of all selections, including those whose type or condition does not fit: types
/// are often left out of handwritten data. What the names stand for is for the normalizer to judge.
struct OptimisticResponseCheck {
    private let operation: String

    /// - Throws: an ``UnknownFieldError`` for a name that no selection has, the outermost first, and an
    ///   ``EmptyOptimisticResponseError`` if there are no names although the operation always has some.
    static func check(_ data: JSONObject, of request: ConcreteRequest) throws {
        let selections = request.operation.selections
        let name = request.params.name
        try OptimisticResponseCheck(operation: name).check([("", data)], [selections])
        let isEmpty = data.members.allSatisfy { $0.key == "__typename" }
        if isEmpty, selections.contains(where: \.isAlwaysThere) {
            throw EmptyOptimisticResponseError(operation: name)
        }
    }

    /// Objects of one field, with their paths, and their selections.
    private func check(
        _ objects: [(path: String, object: JSONObject)], _ sources: [[NormalizationSelection]]
    ) throws {
        var names = SelectedNames()
        for source in sources { names.add(source) }
        var children: [String: [(path: String, object: JSONObject)]] = [:]
        for (path, object) in objects {
            for (name, value) in object.members.sorted(by: { $0.key < $1.key }) {
                if names.hidden.contains(name) { continue }
                guard let selected = names.selected[name] else {
                    throw UnknownFieldError(
                        operation: operation, path: path, field: name, fields: names.fields)
                }
                // A leaf may be any JSON.
                if selected.isEmpty { continue }
                let place = path.isEmpty ? name : "\(path).\(name)"
                children[name, default: []] += Self.objects(in: value, at: place)
            }
        }
        for name in names.fields {
            guard let objects = children[name], let selected = names.selected[name] else {
                continue
            }
            try check(objects, selected)
        }
    }

    /// The object that a value is, or the objects in its lists.
    private static func objects(
        in value: JSONValue, at path: String
    ) -> [(path: String, object: JSONObject)] {
        switch value {
        case .object(let object): [(path, object)]
        case .array(let values):
            values.enumerated().flatMap { objects(in: $1, at: "\(path).\($0)") }
        default: []
        }
    }
}

/// The names that an object may have in a response.
private struct SelectedNames {
    /// In the order in which they are selected, each once.
    private(set) var fields: [String] = []
    /// The selections of a field's objects, once for each selection of the field; none for leaves.
    private(set) var selected: [String: [[NormalizationSelection]]] = [:]
    /// Asked about types; present in every response.
    private(set) var hidden: Set<String> = ["__typename"]

    mutating func add(_ selections: [NormalizationSelection]) {
        for selection in selections {
            switch selection {
            case .scalarField(let field) where field.name == "__typename":
                hidden.insert(field.responseName)
            case .scalarField(let field): add(field.responseName, [])
            case .linkedField(let field): add(field.responseName, [field.selections])
            case .inlineFragment(let part):
                if let key = part.abstractKey { hidden.insert(key) }
                add(part.selections)
            case .typeDiscriminator(let type): hidden.insert(type.abstractKey)
            case .condition(let part): add(part.selections)
            case .clientExtension(let part): add(part.selections)
            case .defer(let part): add(part.selections)
            case .stream(let part): add(part.selections)
            case .handle: break
            }
        }
    }

    private mutating func add(_ name: String, _ selections: [[NormalizationSelection]]) {
        if selected[name] == nil { fields.append(name) }
        selected[name, default: []] += selections
    }
}

extension NormalizationSelection {
    /// Whether it selects a field unconditionally.
    fileprivate var isAlwaysThere: Bool {
        switch self {
        case .scalarField(let field): field.responseName != "__typename"
        case .linkedField: true
        case .inlineFragment(let part): part.selections.contains(where: \.isAlwaysThere)
        default: false
        }
    }
}
