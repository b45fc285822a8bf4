import Foundation
import RelayJSON
@_spi(Rooms) import RelayStore

/// Data cannot be made from what the store has.
public struct ReadError: SentenceError, Hashable, Sendable {
    /// What is wrong.
    public enum Reason: Hashable, Sendable {
        /// A field that must have a value is null or was never fetched.
        case absent
        /// The field is not part of the selection.
        case notSelected
        /// The value is not of this kind.
        case mismatch(expected: String)
        /// The server sent errors for the field.
        case failed([GraphQLError])
        /// The field is `@required(action: THROW)`, and null.
        case required
    }

    /// What is wrong.
    public var reason: Reason
    /// Response names from where reading began, including list indexes.
    public var path: [String]

    init(_ reason: Reason, at path: [String]) {
        self.reason = reason
        self.path = path
    }

    init(_ error: DataError) {
        path = [error.field]
        reason =
            switch error.problem {
            case .notSelected: .notSelected
            case .notA(let expected): .mismatch(expected: expected)
            case .failed(let errors): .failed(errors.flatMap(\.graphQLErrors))
            }
    }

    @usableFromInline
    func below(_ steps: String...) -> ReadError { ReadError(reason, at: steps + path) }

    public var errorDescription: String? {
        let place = path.joined(separator: ".")
        return switch reason {
        case .absent: "\"\(place)\" is null or unknown, and its type does not allow that."
        case .notSelected: "\"\(place)\" is not part of the selection."
        case .mismatch(let expected): "\"\(place)\" has the wrong type; expected \(expected)."
        case .failed(let errors):
            "\"\(place)\" failed: \(errors.map(\.message).joined(separator: "; "))"
        case .required: "The required field \"\(place)\" is null."
        }
    }
}

/// The errors of a field, fragment or operation with `@catch`.
public struct FieldErrors: SentenceError, Hashable, Sendable {
    /// As the server sent them.
    public var errors: [GraphQLError]

    /// The errors of a field.
    public init(errors: [GraphQLError]) { self.errors = errors }

    public var errorDescription: String? { errors.map(\.message).joined(separator: "; ") }
}

extension FieldError {
    /// As the server sent them; their paths are those of the response.
    var graphQLErrors: [GraphQLError] { (errors.array ?? []).map(GraphQLError.init) }
}
