package import RelayJSON

/// One entry of the log.
package struct Event: Sendable, Hashable {
    /// Its place in the log, from 1, without gaps.
    package var sequence: UInt64
    /// Microseconds since 1970-01-01 00:00 UTC. An input: the fold never asks a clock.
    package var timeMicroseconds: Int64
    package var body: EventBody

    package init(sequence: UInt64, timeMicroseconds: Int64, body: EventBody) {
        self.sequence = sequence
        self.timeMicroseconds = timeMicroseconds
        self.body = body
    }
}

package enum EventBody: Sendable, Hashable {
    /// Sequence 1: the schema and the seed records.
    case genesis(schema: String, seed: WriteSet)
    /// The schema changes here.
    case schema(String)
    /// A client's intent; a response confirms it, or a revocation ends it.
    case mutation(MutationIntent)
    /// A mutation ends with what it did.
    case response(MutationResponse)
    /// A mutation ends without having done anything.
    case revocation(Revocation)
    /// A local change without a mutation: commitUpdate, commitPayload, import.
    case update(LocalUpdate)
    /// A kind that a newer version writes. Kept, and ignored by the fold.
    case unknown(kind: UInt8, payload: [UInt8])
}

/// What a client asked for: operation, arguments, viewer, and the name it gave the mutation.
package struct MutationIntent: Sendable, Hashable {
    /// The name of the operation in the document, if it has one.
    package var operationName: String?
    /// The root field; each root field of a mutation operation is a separate commit.
    package var field: String
    /// The field's arguments, coerced: an object, as JSON text.
    package let argumentBytes: [UInt8]
    package var mutationID: MutationID?
    /// Who asked, as named by the authentication.
    package var viewer: String?
    /// What the client expects; until the mutation ends, it is shown to those who ask for it.
    package var optimistic: WriteSet?
    /// How often it was sent and the connection ended before the answer arrived. The fold counts this:
    /// appended events have none.
    package internal(set) var interruptionCount: UInt64 = 0
    /// Identifies what the whole operation asked for, if the mutation has an id: tells a repeat from another one.
    package var fingerprint: MutationFingerprint?

    package init(
        operationName: String? = nil, field: String, arguments: JSONValue,
        mutationID: MutationID? = nil, viewer: String? = nil, optimistic: WriteSet? = nil,
        fingerprint: MutationFingerprint? = nil
    ) {
        self.operationName = operationName
        self.field = field
        argumentBytes = arguments.bytes
        self.mutationID = mutationID
        self.viewer = viewer
        self.optimistic = optimistic
        self.fingerprint = fingerprint
    }
}

extension MutationIntent {
    /// The field's arguments, parsed on each access: a fold does not need them.
    package var arguments: JSONValue { (try? JSONValue(parsing: argumentBytes)) ?? .null }

    /// The viewer that the mutation's id belongs to. Without a fingerprint, the event comes from a version,
    /// or a client's store, that distinguished ids by their text alone.
    package var idViewer: String? { fingerprint == nil ? nil : viewer }

    /// Whether this is the mutation that a viewer means by an id.
    package func isNamed(_ id: MutationID, by viewer: String?) -> Bool {
        // By bytes: equivalent texts may be two viewers.
        mutationID == id && idViewer.map { ExactText($0) } == viewer.map { ExactText($0) }
    }

    /// An intent as read from the log.
    init(
        operationName: String?, field: String, argumentBytes: [UInt8], mutationID: MutationID?,
        viewer: String?, optimistic: WriteSet?, interruptionCount: UInt64,
        fingerprint: MutationFingerprint?
    ) {
        self.interruptionCount = interruptionCount
        self.operationName = operationName
        self.field = field
        self.argumentBytes = argumentBytes
        self.mutationID = mutationID
        self.viewer = viewer
        self.optimistic = optimistic
        self.fingerprint = fingerprint
    }
}

/// What a mutation did.
package struct MutationResponse: Sendable, Hashable {
    /// The sequence of the mutation event that this ends.
    package var mutation: UInt64
    package var writes: WriteSet
    /// The record that the mutation created or changed; the payload is filled from it.
    package var result: DataID?
    /// The answer that the client got; kept only for a mutation with an id, which may be repeated.
    package var answer: [UInt8]?
    /// A program's own code did it, which the schema does not say: it cannot be carried out again from the log.
    package var isByProgram = false
    /// What the remaining optimistic entries write on the new state.
    package var rebased: [RebasedEntry] = []

    package init(
        mutation: UInt64, writes: WriteSet, result: DataID?, answer: [UInt8]? = nil,
        isByProgram: Bool = false, rebased: [RebasedEntry] = []
    ) {
        self.isByProgram = isByProgram
        self.mutation = mutation
        self.writes = writes
        self.result = result
        self.answer = answer
        self.rebased = rebased
    }
}

/// An optimistic entry whose updater, run again on a newer state, wrote something different: `e5'/e3'`.
package struct RebasedEntry: Sendable, Hashable {
    /// The sequence of its mutation event.
    package var mutation: UInt64
    package var writes: WriteSet

    package init(mutation: UInt64, writes: WriteSet) {
        self.mutation = mutation
        self.writes = writes
    }
}

package struct Revocation: Sendable, Hashable {
    /// The sequence of the mutation event that this ends.
    package var mutation: UInt64
    /// The reason, for people.
    package var reason: String
    /// What the remaining optimistic entries write without it.
    package var rebased: [RebasedEntry] = []

    package init(mutation: UInt64, reason: String, rebased: [RebasedEntry] = []) {
        self.mutation = mutation
        self.reason = reason
        self.rebased = rebased
    }
}

package struct LocalUpdate: Sendable, Hashable {
    package var name: String
    package var writes: WriteSet
    /// What the remaining optimistic entries write on the new state.
    package var rebased: [RebasedEntry] = []
    /// The sequence of the event of a mutation that was sent and whose connection ended before the answer
    /// arrived.
    package var interrupted: UInt64?

    package init(name: String, writes: WriteSet, rebased: [RebasedEntry] = []) {
        self.name = name
        self.writes = writes
        self.rebased = rebased
    }

    /// The connection ended before the answer to a mutation sent over it arrived.
    package static func interruption(of mutation: UInt64) -> LocalUpdate {
        var update = LocalUpdate(name: "interrupted", writes: .empty)
        update.interrupted = mutation
        return update
    }
}

/// A mutation that has started and not ended.
package struct PendingMutation: Sendable, Hashable {
    package let sequence: UInt64
    package internal(set) var intent: MutationIntent

    package init(sequence: UInt64, intent: MutationIntent) {
        self.sequence = sequence
        self.intent = intent
    }
}

/// The kinds of events by their numbers in the log, and the names that people see.
package enum EventKind: UInt8, Sendable, CaseIterable {
    case genesis = 1
    case schema = 2
    case mutation = 3
    case response = 4
    case revocation = 5
    case update = 6

    package var name: String { "\(self)" }
}
