import GraphQLExecution
import RelayJSON
import StoreEngine

/// What becomes of the results of one stream whose peer may be slow. Pure.
///
/// While more than a limit waits for the peer, results that take each other's place are held back, all but
/// the newest; a stream in which each result counts ends, and its last cursor says where to resume.
struct StreamPacing: Sendable {
    enum Action {
        case send(Response)
        /// Something newer may come before it can be sent.
        case hold
        /// The stream ends with this error.
        case end(JSONValue)
        case fail([ExecutionError])
        case complete
        case nothing
    }

    /// The cursor of the last result that was sent, or, before the first event, of the beginning.
    private(set) var lastCursor: String?
    /// The newest of the results that were held back.
    private var held: Response?
    /// Whether everything that was missed has been delivered.
    private var isCaughtUp: Bool
    /// Whether everything that the stream should have received so far is on its way: nothing is missing, or
    /// held back.
    var isUpToDate: Bool { isCaughtUp && held == nil }

    /// - Parameter resumeCursor: where the stream resumes; nil for one that begins.
    init(resumeCursor: String?) {
        // It can also resume there if not even its first message finds room.
        lastCursor = resumeCursor
        isCaughtUp = resumeCursor == nil
    }

    /// - Parameters:
    ///   - isFull: more than the limit waits for the peer.
    ///   - awaitsPeer: nothing is read from the peer before it has taken everything, so what can be held back is:
    ///     with new results all the time it would never be done.
    mutating func take(
        _ event: Delivery.Event, isFull: Bool, awaitsPeer: Bool = false
    ) -> Action {
        switch event {
        case .began(let cursor):
            lastCursor = cursor
            return .nothing
        case .next(let response):
            if isFull { return .end(Self.slowConsumer(lastCursor)) }
            return send(response)
        case .missed(let response):
            return send(response)
        case .latest(let response):
            if isFull || awaitsPeer {
                held = response
                return .hold
            }
            return send(response)
        case .patch(let response, let full):
            // A sink that has missed one gets a whole result in its place.
            if isFull || awaitsPeer {
                held = full()
                return .hold
            }
            return send(held == nil ? response : full())
        case .caughtUp:
            isCaughtUp = true
            return .nothing
        case .failed(let errors):
            return .fail(errors)
        case .completed:
            return .complete
        }
    }

    /// The peer has taken everything: the result that was held back for it.
    mutating func drained() -> Response? {
        guard let response = held else { return nil }
        _ = send(response)
        return response
    }

    private mutating func send(_ response: Response) -> Action {
        held = nil
        lastCursor = response.cursor ?? lastCursor
        return .send(response)
    }

    private static func slowConsumer(_ cursor: String?) -> JSONValue {
        let message = """
            Results arrive faster than the client takes them, so the subscription ends. Resume it \
            with the cursor.
            """
        var extensions: JSONObject = ["code": .string(ErrorCode.slowConsumer.rawValue)]
        if let cursor { extensions["relay"] = ["cursor": .string(cursor)] }
        return ["message": .string(message), "extensions": .object(extensions)]
    }
}

extension Delivery.Event {
    /// A result that may be dropped for a newer one.
    var isReplaceable: Bool {
        switch self {
        case .latest, .patch: true
        case .began, .next, .missed, .caughtUp, .failed, .completed: false
        }
    }
}
