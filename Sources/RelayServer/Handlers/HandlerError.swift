import GraphQLExecution

/// What a handler throws to say more than a message: `extensions.code` of the error that a client gets.
public protocol CodedError: Error {
    /// For programs: `NOT_FOUND`, `CONFLICT`, `FORBIDDEN`, or one of your own.
    var code: String? { get }
    /// For people.
    var message: String { get }
}

/// An error of a handler.
///
///     throw HandlerError("A todo needs a text.", code: "BAD_USER_INPUT")
public struct HandlerError: CodedError, Hashable {
    public let message: String
    public let code: String?

    public init(_ message: String, code: String? = nil) {
        self.message = message
        self.code = code
    }
}

extension ExecutionError {
    /// What a client is told of an error that a handler threw. An error without a message for people
    /// is shown as its description.
    init(thrown error: any Error) {
        switch error {
        case let error as ExecutionError: self = error
        case let error as any CodedError:
            self.init(error.message, code: error.code.map(ErrorCode.init(rawValue:)))
        default: self.init("\(error)")
        }
    }
}
