package import RelayJSON

/// A message from a client (graphql-transport-ws).
package enum ClientMessage: Hashable, Sendable {
    case connectionInit(payload: JSONObject?)
    case ping(payload: JSONObject?)
    case pong(payload: JSONObject?)
    /// Starts an operation. The payload has `query`, and may have `operationName`, `variables`,
    /// `extensions`.
    case subscribe(id: String, payload: JSONObject)
    /// The client cancels an operation.
    case complete(id: String)
}

extension ClientMessage {
    /// Reads one message.
    package init(_ bytes: [UInt8], _ limits: JSONLimits = .init()) throws(InvalidMessage) {
        let message = try MessageReader(bytes, limits)
        switch message.type {
        case "connection_init": self = .connectionInit(payload: try message.payload())
        case "ping": self = .ping(payload: try message.payload())
        case "pong": self = .pong(payload: try message.payload())
        case "subscribe":
            let id = try message.id()
            guard let payload = try message.payload() else {
                throw InvalidMessage("\"subscribe\" message expects the \"payload\" property")
            }
            try Self.checkSubscribe(payload)
            self = .subscribe(id: id, payload: payload)
        case "complete": self = .complete(id: try message.id())
        default: throw message.unknownType
        }
    }

    /// The members of an operation's request, each of the kind the protocol document gives it.
    private static func checkSubscribe(_ payload: JSONObject) throws(InvalidMessage) {
        func expect(_ name: String, _ kind: String, _ isGood: (JSONValue) -> Bool)
            throws(InvalidMessage)
        {
            guard let value = payload[name], !value.isNull, !isGood(value) else { return }
            throw InvalidMessage(
                "\"subscribe\" message payload expects the \"\(name)\" property to be \(kind) or "
                    + "null or missing")
        }
        guard payload["query"]?.string != nil else {
            throw InvalidMessage(
                "\"subscribe\" message payload expects the \"query\" property to be a string")
        }
        try expect("operationName", "a string") { $0.string != nil }
        try expect("variables", "an object") { $0.object != nil }
        try expect("extensions", "an object") { $0.object != nil }
    }

    package var bytes: [UInt8] {
        var object = JSONObject()
        func end(_ type: String, _ payload: JSONObject?) {
            object["type"] = .string(type)
            if let payload { object["payload"] = .object(payload) }
        }
        switch self {
        case .connectionInit(let payload): end("connection_init", payload)
        case .ping(let payload): end("ping", payload)
        case .pong(let payload): end("pong", payload)
        case .subscribe(let id, let payload):
            object["id"] = .string(id)
            end("subscribe", payload)
        case .complete(let id):
            object["id"] = .string(id)
            end("complete", nil)
        }
        return JSONValue.object(object).bytes
    }
}

/// What a text message of a client says, read once and anywhere.
package struct ReceivedMessage: Sendable {
    package let content: Result<ClientMessage, InvalidMessage>
    package let byteCount: Int

    package init(_ bytes: [UInt8], _ limits: JSONLimits = .init()) {
        content = Result { () throws(InvalidMessage) in try ClientMessage(bytes, limits) }
        byteCount = bytes.count
    }
}
