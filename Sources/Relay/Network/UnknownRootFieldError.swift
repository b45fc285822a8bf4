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

    /// - Throws: an `UnknownRootFieldError` for the first name that the operation does not have at its root, and an
    ///   ``EmptyOptimisticResponseError`` where there is none and the operation always has one.
    static func check(_ names: some Sequence<String>, of request: ConcreteRequest) throws {
        let selections = request.operation.selections
        // Each once, however many fragments select it.
        var fields: [String] = []
        for name in selections.flatMap(\.responseNames) where !fields.contains(name) {
            fields.append(name)
        }
        let names = names.filter { $0 != "__typename" }
        for name in names.sorted() where !fields.contains(name) {
            throw UnknownRootFieldError(
                operation: request.params.name, field: name, fields: fields)
        }
        if names.isEmpty, selections.contains(where: \.isAlwaysThere) {
            throw EmptyOptimisticResponseError(operation: request.params.name)
        }
    }
}

/// An `optimisticResponse` has no field: nothing would be shown.
public struct EmptyOptimisticResponseError: SentenceError, Hashable, Sendable {
    /// The operation's name.
    public var operation: String

    public var errorDescription: String? {
        """
        The optimistic response cannot be used: it has no field, so that \(operation) would show nothing. Leave it out \
        where nothing is to be shown.
        """
    }
}

extension NormalizationSelection {
    /// Whether it brings a field on no condition.
    fileprivate var isAlwaysThere: Bool {
        switch self {
        case .scalarField(let field): field.responseName != "__typename"
        case .linkedField: true
        case .inlineFragment(let part): part.selections.contains(where: \.isAlwaysThere)
        default: false
        }
    }

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
