package import GraphQLExecution
package import RelayJSON

/// One client request, as every transport passes it on (GraphQL over HTTP §Request Parameters).
package struct GraphQLRequest: Sendable, Hashable {
    /// The document's text; empty when the request only refers to a document that the server has.
    package var query: String
    /// The request's reference to its document, instead of the text or along with it.
    package var documentID: DocumentID?
    package var operationName: String?
    package var variables: JSONObject
    package var extensions: JSONObject
    /// Who asks.
    package var identity: Identity
    /// Another server of the cluster has accepted it, and hands it on: it has the text of its document, which was
    /// measured there.
    package var isForwarded = false

    package init(
        query: String, operationName: String? = nil, variables: JSONObject = [:],
        extensions: JSONObject = [:], identity: Identity = .unrestricted
    ) {
        self.query = query
        self.operationName = operationName
        self.variables = variables
        self.extensions = extensions
        self.identity = identity
    }
}

/// Refers to a document that the server may have (GraphQL over HTTP, appendix A).
package enum DocumentID: Sendable, Hashable {
    /// The SHA-256 of the text, in hexadecimal: `"documentId": "sha256:…"`, or the `sha256Hash` of the
    /// `persistedQuery` extension.
    case sha256(String)
    /// A name given when the document was persisted.
    case custom(String)

    package init(_ text: String) {
        let prefix = "sha256:"
        self =
            text.hasPrefix(prefix) ? .sha256(String(text.dropFirst(prefix.count))) : .custom(text)
    }
}

extension GraphQLRequest {
    /// Reads the parameters of a request from a POST body or a `subscribe` payload.
    /// - Throws: if the request is not well-formed. The document itself is not checked.
    package init(_ parameters: JSONObject, from identity: Identity) throws(ExecutionError) {
        self.init(query: "", identity: identity)
        variables = try Self.object("variables", in: parameters) ?? [:]
        extensions = try Self.object("extensions", in: parameters) ?? [:]
        if let name = try Self.string("operationName", in: parameters), !name.isEmpty {
            operationName = name
        }
        if let id = try Self.string("documentId", in: parameters) {
            documentID = DocumentID(id)
        } else if let extensionObject = try Self.object("persistedQuery", in: extensions) {
            documentID = .sha256(try Self.hash(in: extensionObject))
        }
        if let text = try Self.string("query", in: parameters) {
            query = text
        } else if documentID == nil {
            throw ExecutionError(
                "A request needs a \"query\" that is a string.", code: .badUserInput)
        }
    }

    /// Apollo's automatic persisted queries, version 1.
    private static func hash(in extensionObject: JSONObject) throws(ExecutionError) -> String {
        if let version = extensionObject["version"], version != 1 {
            throw ExecutionError("Unsupported persisted query version", code: .badUserInput)
        }
        guard let hash = try string("sha256Hash", in: extensionObject) else {
            throw ExecutionError(
                "The extension \"persistedQuery\" needs a \"sha256Hash\".", code: .badUserInput)
        }
        return hash
    }

    private static func string(
        _ name: String, in object: JSONObject
    ) throws(ExecutionError) -> String? {
        switch object[name] {
        case nil, .null?: return nil
        case .string(let text)?: return text
        case let other?: throw wrong(name, "a string", other)
        }
    }

    private static func object(
        _ name: String, in object: JSONObject
    ) throws(ExecutionError) -> JSONObject? {
        switch object[name] {
        case nil, .null?: return nil
        case .object(let inner)?: return inner
        case let other?: throw wrong(name, "an object", other)
        }
    }

    private static func wrong(
        _ name: String, _ expected: String, _ found: JSONValue
    ) -> ExecutionError {
        ExecutionError(
            "\"\(name)\" of a request must be \(expected), not \(found.kindName).",
            code: .badUserInput)
    }
}

extension JSONValue {
    /// The kind of value, for messages.
    package var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .int, .double: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }
}
