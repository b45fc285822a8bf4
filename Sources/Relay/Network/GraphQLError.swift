import Foundation
public import RelayArtifacts
import RelayJSON

/// One error of a GraphQL response (GraphQL §7.1.2).
public struct GraphQLError: SentenceError, Hashable, Sendable {
    /// A place in the operation's text, from 1.
    public struct Location: Hashable, Sendable {
        /// The line, from 1.
        public var line: Int
        /// The column, from 1.
        public var column: Int

        /// A place; both from 1.
        public init(line: Int, column: Int) {
            self.line = line
            self.column = column
        }
    }

    /// A step from the response's data to the field with the error.
    public enum PathSegment: Hashable, Sendable, CustomStringConvertible {
        /// The response name of a field.
        case key(String)
        /// A place in a list, from 0.
        case index(Int)

        public var description: String {
            switch self {
            case .key(let key): key
            case .index(let index): "\(index)"
            }
        }
    }

    /// For people.
    public var message: String
    /// The places in the operation's text; empty if the server gave none.
    public var locations: [Location]
    /// nil if the error does not belong to a field.
    public var path: [PathSegment]?
    /// What the server adds, such as `code`.
    public var extensions: VariableData

    /// An error of a response.
    /// - Parameters:
    ///   - message: for people.
    ///   - locations: the places in the operation's text.
    ///   - path: nil if the error does not belong to a field.
    ///   - extensions: what the server adds, such as `code`.
    public init(
        message: String, locations: [Location] = [], path: [PathSegment]? = nil,
        extensions: VariableData = [:]
    ) {
        self.message = message
        self.locations = locations
        self.path = path
        self.extensions = extensions
    }

    /// `extensions.code`, if it is a string.
    public var code: String? {
        if case .string(let code)? = extensions["code"] { code } else { nil }
    }

    public var errorDescription: String? { message }
}

extension GraphQLError {
    /// Reads what is there; not every server follows the specification to the letter.
    init(_ json: JSONValue) {
        self.init(message: json["message"]?.string ?? "The server sent an error without a message.")
        locations = (json["locations"]?.array ?? []).compactMap { location in
            guard let line = location["line"]?.int, let column = location["column"]?.int else {
                return nil
            }
            return Location(line: Int(line), column: Int(column))
        }
        path = json["path"]?.array?.compactMap { segment in
            switch segment {
            case .string(let key): .key(key)
            case .int(let index): .index(Int(index))
            default: nil
            }
        }
        if let object = json["extensions"]?.object { extensions = VariableData(object) }
    }
}

extension GraphQLError {
    /// Whether a server that answers a mutation with this code, and without data, has not carried it out, or does not
    /// know yet whether it has, and will once it can.
    package static func putsOffMutation(_ code: String?) -> Bool {
        ["OVERLOADED", "STORAGE_FULL", "OUTCOME_UNKNOWN"].contains(code)
    }
}

/// The server answered an operation with errors and no data, or with nothing but null for the fields of a mutation.
public struct NetworkError: SentenceError {
    /// The server's errors, at least one.
    public var errors: [GraphQLError]
    /// The operation that failed.
    public var operation: ConcreteRequest
    /// Its variables, including defaults.
    public var variables: VariableData

    public var errorDescription: String? {
        let messages = errors.map(\.message).joined(separator: "; ")
        return "Operation \(operation.params.name) failed: \(messages)"
    }
}

/// The answer to a query or a mutation ended before all of its parts had arrived (`@defer`, `@stream`). A mutation was
/// carried out nevertheless.
public struct IncompleteResponseError: SentenceError, Hashable, Sendable {
    /// The operation's name.
    public var operation: String

    public var errorDescription: String? {
        """
        The response to operation \(operation) ended before all of its parts had arrived. What arrived is in \
        the store.
        """
    }
}

/// The server has ended the stream of a live query: what it has brought is no longer kept up to date.
public struct LiveQueryEndedError: SentenceError, Hashable, Sendable {
    /// The operation's name.
    public var operation: String

    package init(operation: String) { self.operation = operation }

    public var errorDescription: String? {
        "The server has ended \(operation): its data is no longer kept up to date."
    }
}

/// A page was fetched, and the connection still ends at the cursor from which it was asked for.
public struct RepeatedPageError: SentenceError, Hashable, Sendable {
    /// The operation's name.
    public var operation: String
    /// From where the page was asked for.
    public var cursor: String

    public var errorDescription: String? {
        """
        Operation \(operation) brought no page after the cursor "\(cursor)": the server gives the same cursor again, or \
        the page belongs to a connection with other filters. What arrived is in the store.
        """
    }
}

/// The server's answer could not be applied: it is not a GraphQL response, or an updater threw.
public struct ResponseError: SentenceError {
    /// The operation's name.
    public var operation: String
    /// What is wrong with it.
    public var cause: any Error

    public var errorDescription: String? {
        """
        The response to operation \(operation) was not applied. \(sentence(cause)) The store is unchanged.
        """
    }
}
