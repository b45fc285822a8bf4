package import RelayJSON

/// A message from a server (graphql-transport-ws).
package enum ServerMessage: Hashable, Sendable {
    case connectionAck(payload: JSONObject?)
    case ping(payload: JSONObject?)
    case pong(payload: JSONObject?)
    /// One result of an operation: an ExecutionResult.
    case next(id: String, payload: JSONObject)
    /// The operation was not executed, or ends with errors; nothing of it follows.
    case error(id: String, payload: [JSONValue])
    /// The operation is over.
    case complete(id: String)
}

extension ServerMessage {
    /// Reads one message.
    package init(_ bytes: [UInt8]) throws(InvalidMessage) {
        let message = try MessageReader(bytes)
        switch message.type {
        case "connection_ack": self = .connectionAck(payload: try message.payload())
        case "ping": self = .ping(payload: try message.payload())
        case "pong": self = .pong(payload: try message.payload())
        case "next":
            guard let payload = try message.payload() else {
                throw InvalidMessage("\"next\" message expects the \"payload\" property")
            }
            self = .next(id: try message.id(), payload: payload)
        case "error": self = .error(id: try message.id(), payload: try message.errors())
        case "complete": self = .complete(id: try message.id())
        default: throw message.unknownType
        }
    }

    package var bytes: [UInt8] {
        var object = JSONObject()
        func begin(_ type: String, id: String? = nil) {
            if let id { object["id"] = .string(id) }
            object["type"] = .string(type)
        }
        func add(_ payload: JSONObject?) {
            if let payload { object["payload"] = .object(payload) }
        }
        switch self {
        case .connectionAck(let payload):
            begin("connection_ack")
            add(payload)
        case .ping(let payload):
            begin("ping")
            add(payload)
        case .pong(let payload):
            begin("pong")
            add(payload)
        case .next(let id, let payload):
            begin("next", id: id)
            add(payload)
        case .error(let id, let errors):
            begin("error", id: id)
            object["payload"] = .array(errors)
        case .complete(let id):
            begin("complete", id: id)
        }
        return JSONValue.object(object).bytes
    }

    /// The bytes before the result in a `next` message. The result and ``nextSuffix`` follow, and are the
    /// same for all that get it, so they need to be put together only once.
    package static func nextPrefix(id: String) -> [UInt8] {
        var writer = JSONWriter(capacity: 64)
        writer.raw("{\"id\":")
        writer.write(id)
        writer.raw(",\"type\":\"next\",\"payload\":")
        return writer.bytes
    }

    /// The bytes after the result in a `next` message.
    package static let nextSuffix: [UInt8] = [UInt8(ascii: "}")]
}
