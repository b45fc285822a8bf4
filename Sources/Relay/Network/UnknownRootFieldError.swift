import Foundation
import RelayArtifacts

/// An `optimisticResponse` has a field that its mutation does not select: nothing of it would be shown.
public struct UnknownRootFieldError: SentenceError, Hashable, Sendable {
    /// The operation's name.
    public var operation: String
    /// The name that was found.
    public var field: String
    /// The names that the operation has, aliases in place of fields that have one.
    public var fields: [String]

    public var errorDescription: String? {
        let known = fields.map { "\"\($0)\"" }.joined(separator: ", ")
        return """
            The optimistic response cannot be used: operation \(operation) does not select "\(field)" at its root, but \
            \(known).
            """
    }

    /// - Throws: an `UnknownRootFieldError` for the first name that the operation does not have at its root.
    static func check(_ names: some Sequence<String>, of request: ConcreteRequest) throws {
        let fields = request.operation.selections.flatMap(\.responseNames)
        for name in names.sorted() where name != "__typename" && !fields.contains(name) {
            throw UnknownRootFieldError(
                operation: request.params.name, field: name, fields: fields)
        }
    }
}

extension NormalizationSelection {
    /// What the selection brings to the object that it is of.
    fileprivate var responseNames: [String] {
        switch self {
        case .scalarField(let field): [field.responseName]
        case .linkedField(let field): [field.responseName]
        case .inlineFragment(let part): part.selections.flatMap(\.responseNames)
        case .condition(let part): part.selections.flatMap(\.responseNames)
        case .clientExtension(let part): part.selections.flatMap(\.responseNames)
        case .defer(let part): part.selections.flatMap(\.responseNames)
        case .stream(let part): part.selections.flatMap(\.responseNames)
        case .handle, .typeDiscriminator: []
        }
    }
}
