package import EventLog
package import EventStore
import GraphQLExecution
import RelayJSON
@_spi(Rooms) package import RelayRecords
import SchemaService
import StoreEngine
import Threads

/// Another course of a history, in which mutations are carried out again from their arguments.
///
/// What directives of the schema describe is done as the schema in force says, on the state that there is by
/// then: it may write something else than it wrote, or be refused. Of what a program's own code carries out the
/// effects are replayed.
package struct ReExecution {
    /// A mutation that would have been refused.
    package struct Refusal: Sendable, Hashable {
        /// Of the response that it had.
        package let sequence: UInt64
        package let operation: String
        package let message: String
    }

    package struct Outcome: Sendable {
        /// Before is what is, after is what would be.
        package internal(set) var differences: [FieldDifference] = []
        package fileprivate(set) var refusals: [Refusal] = []
        /// Mutations that were carried out again, those that were refused included.
        package fileprivate(set) var carriedOut = 0
        /// Mutations of which the effects were replayed.
        package fileprivate(set) var replayed = 0
    }

    /// What happens besides: what it writes in a state, at a time.
    package typealias Insertion = (Snapshot, _ time: Int64) throws -> [WriteSet]

    private let history: History
    private var change: HistoryChange
    private var insertions: [UInt64: [Insertion]] = [:]

    package init(_ history: History, _ change: HistoryChange) {
        self.history = history
        self.change = change
    }

    /// Inserts something right after an event.
    package mutating func insert(after sequence: UInt64, _ insertion: @escaping Insertion) {
        insertions[sequence, default: []].append(insertion)
        change.inserted[sequence] = change.inserted[sequence] ?? []
    }

    /// Takes the other course, in memory.
    package func run() throws -> Outcome {
        guard let start = try history.start(of: change) else { return Outcome() }
        let replay = try history.replay(at: start - 1)
        var course = Course(on: replay.snapshot, change.skipped, try exchanged())
        while let step = try replay.step() {
            try course.take(step.event)
            for insertion in insertions[step.event.sequence] ?? [] {
                course.apply(try insertion(course.snapshot, step.event.timeMicroseconds))
            }
        }
        var outcome = course.outcome
        outcome.differences = replay.snapshot.differences(to: course.snapshot)
        return outcome
    }

    /// The mutations that took another's place, by the response that is there.
    private func exchanged() throws -> [UInt64: Mutation] {
        var mutations: [UInt64: Mutation] = [:]
        for (one, other) in change.exchanged {
            let (mine, theirs) = (try history.effect(of: one), try history.effect(of: other))
            mutations[mine.sequence] = try mutation(theirs, of: other)
            mutations[theirs.sequence] = try mutation(mine, of: one)
        }
        return mutations
    }

    private func mutation(_ effect: History.Effect, of event: UInt64) throws -> Mutation {
        guard let response = effect.response, let intent = try history.intent(of: response.mutation)
        else {
            throw PastMutationRefusal(
                "Event \(event) is not a mutation, and cannot be carried out again.")
        }
        return Mutation(sequence: effect.sequence, intent: intent, response: response)
    }
}

extension History {
    /// Makes a log of the first event and some parts, renumbered, in which mutations are carried out again
    /// from their arguments. One that is refused ends with its revocation. Blocks.
    /// - Parameters:
    ///   - directory: missing or empty.
    ///   - options: how it is written.
    /// - Returns: how many events it has, and what was carried out; refusals are numbered as in the new log.
    package func copyCarryingOutAgain(
        _ selection: HistorySelection, to directory: String, options: EventLogOptions
    ) throws -> (eventCount: UInt64, outcome: ReExecution.Outcome) {
        var course = Course(on: Snapshot())
        let count = try copy(selection, to: directory, options: options) { event in
            try course.take(event)
        }
        return (count, course.outcome)
    }
}

/// A mutation as it was carried out.
private struct Mutation {
    /// Of the response that it had.
    let sequence: UInt64
    let intent: MutationIntent
    let response: MutationResponse
}

/// A state on the way that the history did not take.
private struct Course {
    private(set) var snapshot: Snapshot
    private(set) var outcome = ReExecution.Outcome()
    private let skipped: Set<UInt64>
    private let exchanged: [UInt64: Mutation]
    private var skippedMutations: Set<UInt64> = []
    private var intents: [UInt64: MutationIntent] = [:]
    /// Made of the schema in force; nil until it is needed.
    private var service: SchemaService?

    init(
        on snapshot: Snapshot, _ skipped: Set<UInt64> = [],
        _ exchanged: [UInt64: Mutation] = [:]
    ) {
        self.snapshot = snapshot
        self.skipped = skipped
        self.exchanged = exchanged
        for pending in snapshot.pending { intents[pending.sequence] = pending.intent }
    }

    /// Folds what an event is in this course.
    /// - Returns: that.
    @discardableResult
    mutating func take(_ event: Event) throws -> EventBody {
        var event = event
        switch event.body {
        case _ where skipped.contains(event.sequence):
            if case .mutation = event.body { skippedMutations.insert(event.sequence) }
            event.body = .nothing
        case .mutation(let intent):
            intents[event.sequence] = intent
        case .response(let response):
            event.body = try body(of: event, response)
        case .revocation(let revocation) where skippedMutations.contains(revocation.mutation):
            event.body = .nothing
        case .schema:
            service = nil
        default:
            break
        }
        try fold(event)
        return event.body
    }

    mutating func apply(_ writes: [WriteSet]) {
        var changes = ChangeSet()
        for writes in writes { snapshot.apply(writes, changes: &changes) }
    }

    private mutating func fold(_ event: Event) throws {
        var changes = ChangeSet()
        try snapshot.fold(event, changes: &changes)
    }

    /// What an event is, now that its mutation is carried out again.
    private mutating func body(of event: Event, _ response: MutationResponse) throws -> EventBody {
        guard !skippedMutations.contains(response.mutation),
            let intent = intents.removeValue(forKey: response.mutation)
        else { return .nothing }
        let mutation =
            exchanged[event.sequence]
            ?? Mutation(sequence: event.sequence, intent: intent, response: response)
        // What only Swift code carries out is not in a schema that is read from a log. Where it took the place of a
        // directive, the response says so.
        guard !mutation.response.isByProgram,
            case .atOnce(let served)? = try currentService().mutations[mutation.intent.field]
        else {
            outcome.replayed += 1
            var replayed = response
            replayed.writes = mutation.response.writes
            return .response(replayed)
        }
        outcome.carriedOut += 1
        var draft = Draft(on: snapshot)
        do throws(ExecutionError) {
            let done = try served.run(
                arguments: mutation.intent.arguments.object ?? [:], draft: &draft,
                context: mutation.context(at: event.timeMicroseconds),
                access: MutationAccess(unrestricted: mutation.intent.field))
            var again = response
            again.writes = draft.writeSet
            again.result = done.result
            again.isByProgram = false
            // A client that asks again must not be answered what is not so here.
            if again.writes != mutation.response.writes { again.answer = nil }
            return .response(again)
        } catch {
            outcome.refusals.append(
                ReExecution.Refusal(
                    sequence: mutation.sequence, operation: mutation.intent.operation,
                    message: error.message))
            return .revocation(Revocation(mutation: response.mutation, reason: error.message))
        }
    }

    private mutating func currentService() throws -> SchemaService {
        if let service { return service }
        let schema = try ServiceSchema(reading: snapshot.schema)
        snapshot = snapshot.indexed(by: schema.indexes)
        let made = SchemaService(schema, symbols: snapshot.symbols)
        service = made
        return made
    }
}

extension Mutation {
    /// Records get the ids that they had.
    func context(at time: Int64) -> MutationContext {
        let count = Lock(0)
        return MutationContext(
            timeMicroseconds: time, identity: Identity(logged: intent.viewer),
            mutationID: intent.mutationID?.description
        ) { [response] type in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 1, let made = response.result { return made }
            return DataID("\(type):again-\(response.mutation)-\(number)")
        }
    }
}

extension EventBody {
    /// Takes its place in the sequence and does nothing.
    fileprivate static let nothing = EventBody.unknown(kind: 0, payload: [])
}
