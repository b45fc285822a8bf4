package import RelayJSON

/// A message from a client (graphql-transport-ws).
package enum ClientMessage: Hashable, Sendable {
    case connectionInit(payload: JSONObject?)
    case ping(payload: JSONObject?)
    case pong(payload: JSONObject?)
    /// Starts an operation. The payload has `query`, and may have `operationName`, `variables`,
    /// `extensions`.
    case subscribe(id: String, payload: JSONObject)
    /// The client wants no more of an operation.
    case complete(id: String)
}

/// Why bytes are no message of the protocol.
package struct InvalidMessage: Error, Hashable, Sendable {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}

extension ClientMessage {
    /// Reads one message.
    package init(_ bytes: [UInt8]) throws(InvalidMessage) {
        let message = try MessageReader(bytes)
        switch message.type {
        case "connection_init": self = .connectionInit(payload: try message.payload())
        case "ping": self = .ping(payload: try message.payload())
        case "pong": self = .pong(payload: try message.payload())
        case "subscribe":
            let id = try message.id()
            guard let payload = try message.payload() else {
                throw InvalidMessage("\"subscribe\" message expects the \"payload\" property")
            }
            guard payload["query"]?.string != nil else {
                throw InvalidMessage(
                    "\"subscribe\" message payload expects the \"query\" property to be a string")
            }
            self = .subscribe(id: id, payload: payload)
        case "complete": self = .complete(id: try message.id())
        default: throw message.unknownType
        }
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

/// The parts that all messages have, checked as they are asked for.
struct MessageReader {
    let type: String
    private let object: JSONObject

    init(_ bytes: [UInt8]) throws(InvalidMessage) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw InvalidMessage("Invalid message received: \(error)")
        }
        guard case .object(let object) = value else {
            throw InvalidMessage("Message is expected to be an object, but got \(value.text)")
        }
        guard let type = object["type"]?.string else {
            throw InvalidMessage("Message is missing the \"type\" property that is a string")
        }
        self.type = type
        self.object = object
    }

    var unknownType: InvalidMessage {
        InvalidMessage("Invalid message \"type\" property \"\(type)\"")
    }

    func id() throws(InvalidMessage) -> String {
        guard let id = object["id"]?.string else {
            throw InvalidMessage(
                "\"\(type)\" message expects the \"id\" property to be a string")
        }
        guard !id.isEmpty else {
            throw InvalidMessage(
                "\"\(type)\" message requires a non-empty \"id\" property")
        }
        return id
    }

    /// The payload, where one that is given must be an object; null is as good as none.
    func payload() throws(InvalidMessage) -> JSONObject? {
        switch object["payload"] {
        case nil, .null?: return nil
        case .object(let payload)?: return payload
        case let other?:
            throw InvalidMessage(
                "\"\(type)\" message expects the \"payload\" property to be an object or null or "
                    + "missing, but got \(other.text)")
        }
    }

    /// The payload of an `error` message.
    func errors() throws(InvalidMessage) -> [JSONValue] {
        guard case .array(let errors)? = object["payload"] else {
            throw InvalidMessage(
                "\"\(type)\" message expects the \"payload\" property to be an array")
        }
        return errors
    }
}
