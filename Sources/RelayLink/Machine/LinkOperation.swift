import GraphQLTransportWS
import RelayArtifacts
import RelayJSON

/// One operation of a link.
struct LinkOperation: Sendable {
    enum Phase: Sendable {
        /// To be sent as soon as there is a connection and its turn comes.
        case waiting
        /// The server has it.
        case sent(ClientConnection.Operation)
        /// Stopped at the server, because its responses are not being read.
        case suspended
        /// The server has ended the stream repeatedly; a timer will send it.
        case resting
    }

    let request: OperationRequest
    /// A mutation that an earlier run of the program left unfinished: nobody waits for its answer.
    let isUnfinished: Bool
    var phase = Phase.waiting
    /// The cursor of the last response; for streams that can be resumed.
    private(set) var cursor: String?
    private(set) var responseCount = 0
    /// It was sent with a cursor, and the server has not said yet whether it resumes.
    private(set) var awaitsRecovery = false
    /// The server has had it before.
    private(set) var wasSent = false
    /// The server has read it over the current connection, and did not close that because of it.
    private(set) var isRead = false
    /// The server may send patches of records in place of whole results.
    private(set) var asksForRecords: Bool
    /// Its reader may have patches of records, also where the server has refused them since.
    private(set) var mayRenounceRecords: Bool
    /// How often the server has ended the stream since it last sent anything for it.
    private(set) var endingCount = 0
    /// How often a connection ended while the server had it without having answered.
    var interruptionCount: UInt64

    init(
        _ request: OperationRequest, asksForRecords: Bool = false, interruptionCount: UInt64 = 0,
        isUnfinished: Bool = false
    ) {
        self.request = request
        self.isUnfinished = isUnfinished
        self.asksForRecords = asksForRecords
        mayRenounceRecords = asksForRecords
        self.interruptionCount = interruptionCount
    }

    var isMutation: Bool { request.kind == .mutation }

    /// Whether another response may follow, as far as is known.
    var isStream: Bool { request.continues ?? (responseCount > 1) }

    /// Whether it waits for its first response and changes nothing.
    var isUnansweredQuery: Bool { request.kind == .query && responseCount == 0 }

    /// A query that has its answer, or the beginning of one that comes in parts: it is not sent again.
    var isAnswered: Bool { request.kind == .query && responseCount > 0 && !isStream }

    /// It has come in one piece, as far as is known.
    var isAnsweredWhole: Bool { isAnswered && responseCount == 1 }

    /// A query without an answer starts over: what it gets is newer than any cursor.
    var canResume: Bool { cursor != nil && request.continues != false && !isUnansweredQuery }

    /// Whether it misses something when it starts over.
    var hasBegun: Bool { wasSent && isStream && !isUnansweredQuery }

    /// It is sent over a connection.
    /// - Returns: the payload.
    mutating func send() -> JSONObject {
        let resumes = canResume && wasSent
        wasSent = true
        isRead = false
        awaitsRecovery = resumes
        return request.payload(
            resuming: resumes ? cursor : nil, asksForRecords: asksForRecords)
    }

    enum Received: Hashable {
        case deliver
        /// The stream resumes; the message was not one of its responses.
        case resumed(isComplete: Bool)
        /// The server does not resume; the stream restarted with this response.
        case restarted
    }

    /// Something has arrived that shows that the server has read it.
    mutating func noteRead() { isRead = true }

    /// A response has come.
    mutating func receive(_ notes: ResponseNotes) -> Received {
        isRead = true
        if notes.recovered == nil { endingCount = 0 }
        cursor = notes.cursor ?? cursor
        if awaitsRecovery {
            awaitsRecovery = false
            if let recovered = notes.recovered { return .resumed(isComplete: recovered) }
            responseCount += 1
            return .restarted
        }
        responseCount += 1
        return .deliver
    }

    /// Everything up to a cursor has been delivered.
    mutating func progress(to cursor: String) {
        // The notice may have been sent before the server learned where to resume. It says nothing about a query
        // that the server has not answered.
        guard case .sent = phase, !awaitsRecovery, !isMutation, !isUnansweredQuery else { return }
        self.cursor = cursor
    }

    /// It goes on after a cursor, or restarts, with whole results.
    mutating func renounceRecords(at cursor: String?) {
        asksForRecords = false
        mayRenounceRecords = false
        self.cursor = cursor
    }

    /// The server has not started it, or not resumed it; it is sent again without patches of records.
    mutating func beginWithoutRecords() {
        asksForRecords = false
        mayRenounceRecords = responseCount > 0
        wasSent = awaitsRecovery
    }

    /// The server has ended the stream, which can be resumed from here.
    mutating func interrupt(at cursor: String) {
        self.cursor = cursor
        endingCount += 1
    }

    /// The server has put it off.
    mutating func pause() { endingCount += 1 }
}
