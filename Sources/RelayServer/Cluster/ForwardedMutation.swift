import GraphQLExecution
import GraphQLLanguage
import RelayJSON
import StoreEngine

// A mutation that one server of a cluster hands to another: the payload of a `subscribe` message, with who asks.

extension GraphQLRequest {
    private static let identityName = "identity"

    /// The request as it is handed on.
    var forwarded: JSONObject {
        var payload: JSONObject = [
            "query": .string(query), Self.identityName: identity.forwarded,
        ]
        if let operationName { payload["operationName"] = .string(operationName) }
        if !variables.members.isEmpty { payload["variables"] = .object(variables) }
        // The document stands in the request, whatever it was named by.
        var extensions = extensions
        extensions["persistedQuery"] = nil
        if !extensions.members.isEmpty { payload["extensions"] = .object(extensions) }
        return payload
    }

    /// - Parameter payload: of another server of the cluster, which has accepted the request.
    init(forwarded payload: JSONObject) throws(ExecutionError) {
        guard let identity = payload[Self.identityName].flatMap(Identity.init(forwarded:)) else {
            throw ExecutionError(
                "The server that handed this on does not say who asks.", code: .badUserInput)
        }
        try self.init(payload, from: identity)
        documentID = nil
        isForwarded = true
    }
}

extension Identity {
    fileprivate var forwarded: JSONValue {
        switch self {
        case .unrestricted: return ["kind": "unrestricted"]
        case .nobody: return ["kind": "nobody"]
        case .viewer(let viewer):
            var object: JSONObject = [
                "kind": "viewer", "id": .string(viewer.id), "claims": .object(viewer.claimValues),
            ]
            if let end = viewer.expiresAt { object["expiresAt"] = .int(end) }
            return .object(object)
        }
    }

    /// Nil if it is none: nobody may become somebody by a mistake.
    fileprivate init?(forwarded json: JSONValue) {
        switch json["kind"]?.string {
        case "unrestricted"?: self = .unrestricted
        case "nobody"?: self = .nobody
        case "viewer"?:
            guard let id = json["id"]?.string, !id.isEmpty, let claims = json["claims"]?.object
            else { return nil }
            var expiresAt: Int64?
            if case .int(let end)? = json["expiresAt"] { expiresAt = end }
            self = .viewer(Viewer(id: id, claimValues: claims, expiresAt: expiresAt))
        default: return nil
        }
    }
}

extension SourceLocation {
    fileprivate init?(forwarded json: JSONValue) {
        guard case .int(let line)? = json["line"], case .int(let column)? = json["column"] else {
            return nil
        }
        self.init(line: Int(line), column: Int(column))
    }
}

extension ExecutionError {
    /// The same error as its `json` says.
    init(forwarded json: JSONValue) {
        let code = json["extensions"]?["code"]?.string.map(ErrorCode.init(rawValue:))
        self.init(
            json["message"]?.string ?? "The server that leads the cluster gave no reason.",
            code: code)
        locations = (json["locations"]?.array ?? []).compactMap(SourceLocation.init(forwarded:))
        path = (json["path"]?.array ?? []).compactMap { segment in
            switch segment {
            case .string(let name): .field(name)
            case .int(let index): .index(Int(index))
            default: nil
            }
        }
        id = json["extensions"]?["id"]?.string
        cursor = json["extensions"]?["cursor"]?.string
    }
}
