import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords

/// What a request asks for beyond GraphQL: the members of `extensions.relay` (docs/websocket.md).
struct RelayExtensions: Sendable {
    /// A point in the past to query.
    enum Point: Sendable, Hashable {
        case sequence(UInt64)
        /// Microseconds since 1970-01-01 00:00 UTC.
        case time(Int64)
    }

    /// The id that a client gives a mutation, so that it is carried out once however often it is sent.
    private(set) var mutationID: MutationID?
    /// The cursor after which a stream resumes.
    private(set) var resume: String?
    /// Results after the first are sent as record patches.
    private(set) var sendsRecords = false
    /// Unconfirmed entries are shown.
    private(set) var showsOptimistic = false
    /// The answer that the client expects from a mutation.
    private(set) var optimisticResponse: JSONObject?
    private(set) var at: Point?
    /// A cursor that the state must have reached; until then the request waits.
    private(set) var atLeast: StreamCursor?
    /// The event for which to explain why a subscriber was, or was not, notified.
    private(set) var explain: UInt64?

    /// The results are split into records: for patches, or to find those that are not confirmed.
    var needsRecords: Bool { sendsRecords || showsOptimistic }

    /// The same of a request, so far as one look tells. An explanation has one result.
    static func needsRecords(_ request: GraphQLRequest) -> Bool {
        let relay = request.extensions["relay"]
        return (relay?["records"] == true || relay?["optimistic"] == true)
            && (relay?["explain"] ?? .null).isNull
    }

    /// Reads the members and ignores unknown ones.
    /// - Throws: if a member has the wrong type.
    init(_ request: GraphQLRequest) throws(ExecutionError) {
        guard let relay = request.extensions["relay"], relay != .null else { return }
        guard let members = relay.object else {
            throw Self.wrong("extensions.relay", "an object", relay)
        }
        for (name, value) in members where value != .null {
            switch name {
            case "mutationId": mutationID = try Self.mutationID(value)
            case "resume": resume = try Self.string(name, value)
            case "records": sendsRecords = try Self.flag(name, value)
            case "optimistic": showsOptimistic = try Self.flag(name, value)
            case "optimisticResponse":
                guard let response = value.object else {
                    throw Self.wrong("extensions.relay.\(name)", "an object", value)
                }
                optimisticResponse = response
            case "at": at = try Self.point(value)
            case "atLeast": atLeast = try Self.cursor(name, value)
            case "explain": explain = try Self.sequence(name, value)
            default: break
            }
        }
    }

    /// Checks that the members fit this kind of operation. Ignoring one would give a wrong answer: the
    /// present instead of the past, or a gap in a resumed stream.
    func check(_ operation: PreparedOperation) throws(ExecutionError) {
        if at != nil, operation.kind != .query || operation.isLive {
            throw ExecutionError(
                "extensions.relay.at: the past can be queried; it cannot be changed or followed.",
                code: .badUserInput)
        }
        if explain != nil, operation.kind == .mutation || resume != nil || at != nil {
            throw ExecutionError(
                "extensions.relay.explain: only a single subscription or query can be explained.",
                code: .badUserInput)
        }
        if resume != nil, !operation.isStream {
            throw ExecutionError(
                "extensions.relay.resume: only a subscription or a live query can be resumed.",
                code: .badUserInput)
        }
    }

    // MARK: Members

    /// Limit on the bytes of the client's part of a mutation id.
    private static let clientNameLimit = 256

    private static func mutationID(_ value: JSONValue) throws(ExecutionError) -> MutationID {
        let text = try string("mutationId", value)
        guard let id = MutationID(text) else {
            let message = """
                "\(text)" is not a mutation id: it must be CLIENT:N, N being a whole number from 0 \
                to \(UInt64.max).
                """
            throw ExecutionError(message, code: .badUserInput)
        }
        guard id.client.utf8.count <= clientNameLimit else {
            let message = """
                A mutation id's client may have \(clientNameLimit) bytes, not \(id.client.utf8.count).
                """
            throw ExecutionError(message, code: .badUserInput)
        }
        return id
    }

    private static func point(_ value: JSONValue) throws(ExecutionError) -> Point {
        switch value {
        case .int(let number):
            if let sequence = UInt64(exactly: number), sequence > 0 { return .sequence(sequence) }
        case .string(let text):
            if let sequence = UInt64(text), sequence > 0 { return .sequence(sequence) }
            if let time = RFC3339.microseconds(text) { return .time(time) }
        default: break
        }
        throw ExecutionError(
            "extensions.relay.at must be the sequence of an event, from 1, or an RFC 3339 time.",
            code: .badUserInput)
    }

    private static func cursor(
        _ name: String, _ value: JSONValue
    ) throws(ExecutionError) -> StreamCursor {
        guard let cursor = StreamCursor(try string(name, value)) else {
            throw ExecutionError(
                "extensions.relay.\(name) must be a cursor that a server gave.", code: .badUserInput
            )
        }
        return cursor
    }

    private static func sequence(
        _ name: String, _ value: JSONValue
    ) throws(ExecutionError) -> UInt64 {
        guard case .int(let number) = value, let sequence = UInt64(exactly: number), sequence > 0
        else {
            throw ExecutionError(
                "extensions.relay.\(name) must be the sequence of an event, from 1.",
                code: .badUserInput)
        }
        return sequence
    }

    private static func string(
        _ name: String, _ value: JSONValue
    ) throws(ExecutionError) -> String {
        guard let text = value.string else {
            throw wrong("extensions.relay.\(name)", "a string", value)
        }
        return text
    }

    private static func flag(_ name: String, _ value: JSONValue) throws(ExecutionError) -> Bool {
        guard case .bool(let isSet) = value else {
            throw wrong("extensions.relay.\(name)", "a boolean", value)
        }
        return isSet
    }

    private static func wrong(
        _ name: String, _ expected: String, _ found: JSONValue
    ) -> ExecutionError {
        ExecutionError(
            "\(name) must be \(expected), not \(found.kindName).", code: .badUserInput)
    }
}
