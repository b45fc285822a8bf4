package import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import ResultPatches

/// The complete bytes of one response: `{"data":…,"errors":…,"extensions":…}`. Shared by all recipients.
package final class Response: Sendable {
    package let bytes: [UInt8]
    /// Whether there is an `errors` entry.
    package let hasErrors: Bool
    /// The cursor that the response carries.
    package let cursor: String?

    package init(bytes: [UInt8], hasErrors: Bool, cursor: String? = nil) {
        self.bytes = bytes
        self.hasErrors = hasErrors
        self.cursor = cursor
    }
}

/// The server's notes on a response, in `extensions.relay` (docs/websocket.md).
struct RelayNotes: Sendable {
    var cursor: StreamCursor?
    /// In the first message of a resumed stream: whether everything it missed will follow.
    var recovered: Bool?
    /// What of the result is not confirmed.
    var unconfirmed: Unconfirmed?
    /// The id of the mutation being answered.
    var mutationID: MutationID?
    /// Replaces the result.
    var records: RecordPatch?
    /// Why a subscriber was, or was not, notified of an event.
    var explanation: JSONObject?

    fileprivate func write(to writer: inout JSONWriter) {
        var separator = UInt8(ascii: "{")
        func begin(_ name: StaticString, _ writer: inout JSONWriter) {
            writer.raw(separator)
            separator = UInt8(ascii: ",")
            writer.raw(name)
        }
        if let cursor {
            begin("\"cursor\":", &writer)
            writer.write(cursor.text)
        }
        if let recovered {
            begin("\"recovered\":", &writer)
            writer.raw(recovered ? "true" : "false")
        }
        if let unconfirmed {
            begin("\"optimistic\":true", &writer)
            if let records = unconfirmed.records {
                begin("\"optimisticRecords\":", &writer)
                writer.write(.array(records.map { .string($0.text) }))
            }
        }
        if let mutationID {
            begin("\"mutationId\":", &writer)
            writer.write(mutationID.description)
        }
        if let records {
            begin("\"records\":", &writer)
            writer.raw(records.bytes)
            if !records.left.isEmpty {
                begin("\"left\":", &writer)
                writer.write(.array(records.left.map { .string($0.text) }))
            }
        }
        if let explanation {
            begin("\"explain\":", &writer)
            writer.write(.object(explanation))
        }
        if separator == UInt8(ascii: "{") { writer.raw(separator) }
        writer.raw(UInt8(ascii: "}"))
    }
}

extension Response {
    /// Adds the server's notes to a response that is still open.
    convenience init(open bytes: [UInt8], hasErrors: Bool, _ notes: RelayNotes) {
        var writer = JSONWriter(continuing: bytes)
        writer.raw(",\"extensions\":{\"relay\":")
        notes.write(to: &writer)
        writer.raw("}}")
        self.init(bytes: writer.bytes, hasErrors: hasErrors, cursor: notes.cursor?.text)
    }

    /// Adds the server's notes to a result.
    convenience init(_ result: ExecutedResult, _ notes: RelayNotes) {
        self.init(open: result.bytes, hasErrors: result.hasErrors, notes)
    }

    /// A message without a result: `{"data":null,"extensions":…}`.
    convenience init(_ notes: RelayNotes) {
        self.init(open: Array("{\"data\":null".utf8), hasErrors: false, notes)
    }

    /// A record patch in place of a result; the errors stay.
    convenience init(patch records: RecordPatch, _ result: ExecutedResult, _ notes: RelayNotes) {
        var notes = notes
        notes.records = records
        var writer = JSONWriter()
        writer.raw("{\"data\":null")
        if result.hasErrors, let errors = result.json?["errors"] {
            writer.raw(",\"errors\":")
            writer.write(errors)
        }
        self.init(open: writer.bytes, hasErrors: result.hasErrors, notes)
    }

    /// An event for a client that has had one of the stream: its records, or the whole result where that is much
    /// shorter or has no records. (Nothing takes the last event's root away, so a result without one would be that.)
    convenience init(
        event result: ExecutedResult, _ normalizer: RecordNormalizer, _ notes: RelayNotes
    ) {
        let patch = result.records(normalizer).flatMap { records in
            records.records[ResultRecords.rootID].flatMap { _ in
                RecordPatch(from: ResultRecords(), to: records, inPlaceOf: result) { _ in false }
            }
        }
        if let patch {
            self.init(patch: patch, result, notes)
        } else {
            self.init(result, notes)
        }
    }

    /// The response to a request that was not executed.
    package convenience init(refused errors: [ExecutionError]) {
        var writer = JSONWriter()
        writer.raw("{\"errors\":")
        writer.write(errors)
        writer.raw(UInt8(ascii: "}"))
        self.init(bytes: writer.bytes, hasErrors: true)
    }
}

/// The outcome of a request for one result.
package enum Outcome: Sendable {
    /// It was executed; the response may still contain errors.
    case executed(Response)
    /// It was not executed, and nothing happened (GraphQL §7.1: a request error).
    case refused([ExecutionError])
    /// A mutation that arrived while the server was stopping; nothing happened. Closing the connection tells
    /// the client to send the mutation again; without a connection to close, this is an error.
    case stopping
    /// A mutation whose events the journal has refused, because another server appends to it, or will.
    ///
    /// Nothing happened, unless it was sent before, or somebody else has sent it, and then nobody answered: then it
    /// may be done.
    case overtaken(mayBeDone: Bool)

    /// The outcome as a separate response.
    package var response: Response {
        switch self {
        case .executed(let response): response
        case .refused(let errors): Response(refused: errors)
        case .stopping: Response(refused: Self.stoppingErrors)
        case .overtaken: Response(refused: Self.overtakenErrors)
        }
    }

    /// Of a state that has what the mutation did.
    var cursor: String? {
        switch self {
        case .executed(let response): response.cursor
        case .refused(let errors): errors.first?.cursor
        case .stopping, .overtaken: nil
        }
    }

    package static let stoppingErrors = [
        ExecutionError(
            "The server is stopping. Nothing was changed; try again later.", code: .overloaded)
    ]

    /// The handler of a mutation has worked, perhaps with effects elsewhere, and the mutation is revoked.
    static let handlerOvertaken = Outcome.refused([
        ExecutionError(
            """
            Another server took over while this waited for its handler. What the handler returned was not written; what \
            it did elsewhere is not known here.
            """, code: .outcomeUnknown)
    ])

    /// The same, because the log did not take its end.
    static let handlerUnwritten = Outcome.refused([
        ExecutionError(
            """
            The log takes no more at the moment, so what the handler returned was not written; what it did elsewhere is \
            not known here.
            """, code: .outcomeUnknown)
    ])

    /// The connection to the server that carries out mutations was lost.
    package static let unknown = Outcome.refused([
        ExecutionError(
            """
            The connection to the server that carries out mutations was lost. Whether this one was carried out is not \
            known; with the same mutationId it is carried out once.
            """, code: .outcomeUnknown)
    ])

    /// What refuses a mutation because of its id: no other attempt has another outcome.
    private static let codesOfIDs: Set<ErrorCode?> = [
        .alreadyApplied, .mutationIDReused, .mutationIDTooOld, .outcomeUnknown,
    ]

    /// What this attempt says of a mutation that may have been carried out by an earlier one: that nothing was changed
    /// this time says nothing of that.
    package var ofLaterAttempt: Outcome {
        switch self {
        case .executed: self
        case .refused(let errors) where Self.codesOfIDs.contains(errors.first?.code): self
        case .refused, .stopping, .overtaken: .unknown
        }
    }

    package static let overtakenErrors = [
        ExecutionError(
            "Another server has taken over. Nothing was changed; send it again.", code: .overloaded)
    ]
}
