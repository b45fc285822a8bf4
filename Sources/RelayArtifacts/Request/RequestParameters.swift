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

extension RequestParameters {
    /// Whether a query is live (`@live`), so that more results follow the first; nil if only the server has its text.
    package var isLive: Bool? { text.flatMap { $0.isEmpty ? nil : Self.isLive($0) } }

    /// Whether the text of a query has `@live`.
    package static func isLive(_ text: String) -> Bool {
        var rest = text.utf8[...]
        while let directive = rest.firstIndex(of: UInt8(ascii: "@")) {
            rest = rest[directive...].dropFirst()
            guard rest.starts(with: "live".utf8) else { continue }
            rest = rest.dropFirst("live".utf8.count)
            guard let next = rest.first, isNameByte(next) else { return true }
        }
        return false
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
