package import GraphQLLanguage
package import RelayJSON

/// An error in the `errors` of a response (GraphQL §7.1.2).
package struct ExecutionError: Error, Hashable, Sendable {
    package enum PathSegment: Hashable, Sendable {
        case field(String)
        case index(Int)
    }

    package var message: String
    package var locations: [SourceLocation]
    /// From the root of the operation; empty for an error that does not belong to a field.
    package var path: [PathSegment]
    /// What went wrong, for programs: `extensions.code`.
    package var code: ErrorCode?
    /// Identifies the line of the server's log with details that clients must not see: `extensions.id`.
    package var id: String?
    /// A state that has what the error tells of: `extensions.cursor`.
    package var cursor: String?

    package init(
        _ message: String, code: ErrorCode? = nil, locations: [SourceLocation] = [],
        path: [PathSegment] = []
    ) {
        self.message = message
        self.code = code
        self.locations = locations
        self.path = path
    }

    /// Names and literals of a document may be as long as the document.
    private static let messageBytes = 1_024

    /// An error of the language as an error of a response.
    package init(_ error: DocumentError) {
        self.init(
            error.message.shortened(to: Self.messageBytes),
            code: error.code.map(ErrorCode.init(rawValue:)),
            locations: error.locations)
    }
}

/// The values of `extensions.code`.
package struct ErrorCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let notFound = ErrorCode(rawValue: "NOT_FOUND")
    package static let conflict = ErrorCode(rawValue: "CONFLICT")
    package static let badUserInput = ErrorCode(rawValue: "BAD_USER_INPUT")
    package static let unauthenticated = ErrorCode(rawValue: "UNAUTHENTICATED")
    package static let forbidden = ErrorCode(rawValue: "FORBIDDEN")
    package static let limitExceeded = ErrorCode(rawValue: "LIMIT_EXCEEDED")
    package static let storageFull = ErrorCode(rawValue: "STORAGE_FULL")
    package static let slowConsumer = ErrorCode(rawValue: "SLOW_CONSUMER")
    package static let internalError = ErrorCode(rawValue: "INTERNAL_ERROR")
    package static let alreadyApplied = ErrorCode(rawValue: "ALREADY_APPLIED")
    package static let mutationIDReused = ErrorCode(rawValue: "MUTATION_ID_REUSED")
    package static let mutationIDTooOld = ErrorCode(rawValue: "MUTATION_ID_TOO_OLD")
    package static let overloaded = ErrorCode(rawValue: "OVERLOADED")
    /// Between the servers of a cluster.
    package static let notLeading = ErrorCode(rawValue: "NOT_LEADING")
    package static let behind = ErrorCode(rawValue: "BEHIND")
    package static let outcomeUnknown = ErrorCode(rawValue: "OUTCOME_UNKNOWN")
}

extension ExecutionError {
    package var json: JSONValue {
        var object: JSONObject = ["message": .string(message)]
        if !locations.isEmpty {
            object["locations"] = .array(
                locations.map {
                    ["line": .int(Int64($0.line)), "column": .int(Int64($0.column))]
                })
        }
        if !path.isEmpty {
            object["path"] = .array(
                path.map {
                    switch $0 {
                    case .field(let name): .string(name)
                    case .index(let index): .int(Int64(index))
                    }
                })
        }
        var extensions = JSONObject()
        if let code { extensions["code"] = .string(code.rawValue) }
        if let id { extensions["id"] = .string(id) }
        if let cursor { extensions["cursor"] = .string(cursor) }
        if !extensions.members.isEmpty { object["extensions"] = .object(extensions) }
        return .object(object)
    }

    /// The same as an error of a root field.
    package func at(_ field: FieldPlan?) -> ExecutionError {
        guard let field else { return self }
        var error = self
        error.locations = [field.location]
        error.path = [.field(field.responseName)]
        return error
    }
}

extension JSONWriter {
    /// `[error, …]`
    package mutating func write(_ errors: [ExecutionError]) {
        write(JSONValue.array(errors.map(\.json)))
    }
}
