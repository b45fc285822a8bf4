/// Thrown by a handler or a shared mutation to give more than a message: `extensions.code` of the error that a
/// client gets.
public protocol CodedError: Error {
    /// For programs: `NOT_FOUND`, `CONFLICT`, `FORBIDDEN`, or one of your own.
    var code: String? { get }
    /// For people.
    var message: String { get }
}

/// An error of a handler or of a shared mutation.
///
///     throw HandlerError("A todo needs a text.", code: "BAD_USER_INPUT")
public struct HandlerError: CodedError, Hashable {
    /// For people.
    public let message: String
    /// For programs; nil: none.
    public let code: String?

    /// - Parameters:
    ///   - message: for people.
    ///   - code: for programs, as `extensions.code` of the error.
    public init(_ message: String, code: String? = nil) {
        self.message = message
        self.code = code
    }
}
