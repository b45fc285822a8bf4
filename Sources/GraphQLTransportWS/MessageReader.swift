import RelayJSON

/// Why bytes are not a message of the protocol.
package struct InvalidMessage: Error, Hashable, Sendable {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}

/// The members that messages are made of, checked as they are asked for.
///
/// The whole text is checked, and the payload's bytes are kept as they are: a result is often handed
/// on without being looked into.
struct MessageReader {
    let type: String
    private let bytes: [UInt8]
    private let limits: JSONLimits
    private let idMember: Member?
    private let payloadMember: Member?

    private struct Member {
        let kind: JSONReader.Kind
        let range: Range<Int>
        /// Where the value of its own member `extensions` is; of the payload only.
        var extensions: Range<Int>?
    }

    init(_ bytes: [UInt8], _ limits: JSONLimits = .init()) throws(InvalidMessage) {
        let members: [String: Member]
        do throws(JSONError) {
            members = try Self.members(of: bytes, limits)
        } catch {
            throw InvalidMessage("Invalid message received: \(error)")
        }
        self.bytes = bytes
        self.limits = limits
        idMember = members["id"]
        payloadMember = members["payload"]
        guard let member = members["type"], member.kind == .string,
            case .string(let type)? = try? JSONValue(parsing: bytes[member.range])
        else {
            throw InvalidMessage("Message is missing the \"type\" property that is a string")
        }
        self.type = type
    }

    /// Where the members that we know are; of two with one name, the last.
    private static func members(
        of bytes: [UInt8], _ limits: JSONLimits
    ) throws(JSONError) -> [String: Member] {
        let result = bytes.withUnsafeBytes { buffer -> Result<[String: Member], JSONError> in
            do throws(JSONError) {
                var members: [String: Member] = [:]
                var reader = JSONReader(buffer, limits: limits)
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    let name = key.string
                    let kind = try reader.peek()
                    let start = reader.byteOffset
                    var extensions: Range<Int>?
                    if name == "payload", kind == .object {
                        extensions = try Self.extensions(in: &reader)
                    } else {
                        _ = try reader.skipValue()
                    }
                    guard ["type", "id", "payload"].contains(name) else { continue }
                    members[name] = Member(
                        kind: kind, range: start..<reader.byteOffset, extensions: extensions)
                }
                try reader.finish()
                return .success(members)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Skips an object, if one is next.
    /// - Returns: where the value of its member `extensions` is; of several, the last.
    private static func extensions(in reader: inout JSONReader) throws(JSONError) -> Range<Int>? {
        var found: Range<Int>?
        try reader.beginObject()
        while let key = try reader.nextKey() {
            let isFound = key.string == "extensions"
            _ = try reader.peek()
            let start = reader.byteOffset
            _ = try reader.skipValue()
            if isFound { found = start..<reader.byteOffset }
        }
        return found
    }

    var unknownType: InvalidMessage {
        InvalidMessage("Invalid message \"type\" property \"\(type)\"")
    }

    func id() throws(InvalidMessage) -> String {
        guard let idMember, case .string(let id)? = try? JSONValue(parsing: bytes[idMember.range])
        else {
            throw InvalidMessage("\"\(type)\" message expects the \"id\" property to be a string")
        }
        guard !id.isEmpty else {
            throw InvalidMessage("\"\(type)\" message requires a non-empty \"id\" property")
        }
        return id
    }

    /// The payload, where one that is given must be an object; null is as good as none.
    func payload() throws(InvalidMessage) -> JSONObject? {
        switch payloadMember?.kind {
        case nil, .null?: return nil
        case .object?: return try value(of: payloadMember)?.object
        case _?:
            throw InvalidMessage(
                "\"\(type)\" message expects the \"payload\" property to be an object or null or "
                    + "missing")
        }
    }

    /// The payload's bytes, where it must be an object.
    func payloadBytes() throws(InvalidMessage) -> [UInt8] {
        guard let payloadMember, payloadMember.kind == .object else {
            throw InvalidMessage(
                "\"\(type)\" message expects the \"payload\" property to be an object")
        }
        return Array(bytes[payloadMember.range])
    }

    /// The bytes of the payload's member `extensions`, which was found on the way.
    var payloadExtensions: [UInt8]? { payloadMember?.extensions.map { Array(bytes[$0]) } }

    /// The payload of an `error` message.
    func errors() throws(InvalidMessage) -> [JSONValue] {
        guard payloadMember?.kind == .array, let errors = try value(of: payloadMember)?.array else {
            throw InvalidMessage(
                "\"\(type)\" message expects the \"payload\" property to be an array")
        }
        return errors
    }

    private func value(of member: Member?) throws(InvalidMessage) -> JSONValue? {
        guard let member else { return nil }
        do throws(JSONError) {
            return try JSONValue(parsing: bytes[member.range], limits: limits)
        } catch {
            throw InvalidMessage("Invalid message received: \(error)")
        }
    }
}
