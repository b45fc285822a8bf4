/// The three kinds of operation (GraphQL §2.3).
public enum OperationKind: String, Hashable, Sendable {
    /// Changes something, and reads the result.
    case mutation
    /// Reads, once.
    case query
    /// Reads whenever something happens.
    case subscription
}

/// What a network needs to know about an operation to send it.
public struct RequestParameters: Hashable, Sendable {
    /// The operation's name in the document; usually sent as `operationName`.
    public var name: String
    /// Query, mutation or subscription.
    public var operationKind: OperationKind
    /// The operation with all fragments it needs; usually sent as `query`. Either this or `id` is set.
    public var text: String?
    /// The id under which the server knows the persisted operation. Either this or `text` is set.
    public var id: String?

    /// - Parameters: exactly one of `text` and `id` must be given.
    public init(
        name: String, operationKind: OperationKind, text: String? = nil, id: String? = nil
    ) {
        self.name = name
        self.operationKind = operationKind
        self.text = text
        self.id = id
    }
}
