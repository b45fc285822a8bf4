package import RelayArtifacts
package import RelayJSON

/// An operation in the form it is sent: the parameters of a `subscribe` message or of an HTTP body.
package struct OperationRequest: Sendable, Hashable {
    package let name: String
    package let kind: OperationKind
    /// `CLIENT:N`, for a mutation.
    package let mutationID: String?
    /// Whether more responses follow the first: they do in a subscription and a live query. nil if only the server
    /// knows, because the query's text is persisted there.
    package let continues: Bool?
    /// Everything except what the connection adds.
    private let parameters: JSONObject
    /// The members of `extensions.relay`.
    private let relay: JSONObject

    /// - Parameters:
    ///   - relay: further members of `extensions.relay`.
    ///   - mutationID: for a mutation.
    package init(
        _ request: RequestParameters, variables: VariableData, relay: JSONObject = [:],
        mutationID: String? = nil
    ) {
        var parameters = JSONObject()
        // graphql-transport-ws wants a query even when a document is only named.
        parameters["query"] = .string(request.text ?? "")
        if let id = request.id { parameters["documentId"] = .string(id) }
        if !request.name.isEmpty { parameters["operationName"] = .string(request.name) }
        if !variables.isEmpty { parameters["variables"] = .object(variables.json) }
        self.init(
            name: request.name, kind: request.operationKind, parameters: parameters, relay: relay,
            mutationID: mutationID)
    }

    /// An operation from a program that does not use the client runtime.
    ///
    /// - Parameters:
    ///   - parameters: `query`, and perhaps `operationName` and `variables`.
    ///   - relay: the members of `extensions.relay`.
    ///   - mutationID: for a mutation.
    package init(
        name: String, kind: OperationKind, parameters: JSONObject, relay: JSONObject = [:],
        mutationID: String? = nil
    ) {
        self.name = name
        self.kind = kind
        self.mutationID = kind == .mutation ? mutationID : nil
        switch kind {
        case .subscription: continues = true
        case .mutation: continues = false
        case .query:
            let text = parameters["query"]?.string ?? ""
            continues = text.isEmpty ? nil : RequestParameters.isLive(text)
        }
        self.parameters = parameters
        var members = relay
        if let mutationID = self.mutationID { members["mutationId"] = .string(mutationID) }
        self.relay = members
    }

    /// - Parameters:
    ///   - cursor: the point after which a stream resumes.
    ///   - asksForRecords: whether later results may be sent as patches of records.
    package func payload(
        resuming cursor: String? = nil, asksForRecords: Bool = false
    ) -> JSONObject {
        var relay = relay
        if let cursor { relay["resume"] = .string(cursor) }
        if asksForRecords { relay["records"] = true }
        if relay.isEmpty { return parameters }
        var payload = parameters
        payload["extensions"] = ["relay": .object(relay)]
        return payload
    }
}
