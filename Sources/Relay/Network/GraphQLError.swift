public import Foundation
public import RelayArtifacts
import RelayJSON

/// One error of a GraphQL response (GraphQL §7.1.2).
public struct GraphQLError: LocalizedError, Hashable, Sendable {
    /// A place in the operation's text, from 1.
    public struct Location: Hashable, Sendable {
        public var line: Int
        public var column: Int

        public init(line: Int, column: Int) {
            self.line = line
            self.column = column
        }
    }

    /// A step from the response's data to the field with the error.
    public enum PathSegment: Hashable, Sendable, CustomStringConvertible {
        case key(String)
        case index(Int)

        public var description: String {
            switch self {
            case .key(let key): key
            case .index(let index): "\(index)"
            }
        }
    }

    public var message: String
    public var locations: [Location]
    /// nil where the error is not of one field.
    public var path: [PathSegment]?
    /// What the server adds, such as `code`.
    public var extensions: VariableData

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
    /// Takes what is there; servers are not always to the letter.
    init(_ json: JSONValue) {
        self.init(message: json["message"]?.string ?? "The server gave an error without a message.")
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

/// The server answered an operation with errors and no data.
public struct NetworkError: LocalizedError {
    public var errors: [GraphQLError]
    public var operation: ConcreteRequest
    public var variables: VariableData

    public var errorDescription: String? {
        let messages = errors.map(\.message).joined(separator: "; ")
        return "Operation \(operation.params.name) failed: \(messages)"
    }
}

/// The server's answer cannot be taken in: it is no GraphQL response, or an updater threw.
public struct ResponseError: LocalizedError {
    public var operation: String
    /// What is wrong with it.
    public var cause: any Error

    public var errorDescription: String? {
        "The response to operation \(operation) was not applied: \(cause). The store is as it was."
    }
}
