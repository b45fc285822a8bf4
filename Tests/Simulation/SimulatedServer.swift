import DiskSimulation
import EventLog
import EventStore
import GraphQLExecution
import GraphQLLanguage
import RelayJSON
import RelayStore
import Synchronization

@testable import RelayServer

/// One life of a server process: from opening its log to being killed.
///
/// `@unchecked Sendable`: it runs on one thread.
final class SimulatedServer: @unchecked Sendable {
    let scheduler: Scheduler
    let disk: SimulatedDisk
    let tasks: EngineTasks
    let durability: Durability
    private let world: Simulation
    private let journal: FileJournal
    private(set) var sockets: [SimulatedSocket] = []
    private var created: GraphQLService?
    private let loop = LoopWork()
    /// It was killed; what it still does is nobody's business.
    private var isDead = false

    var service: GraphQLService {
        guard let created else { preconditionFailure("the service is made with the server") }
        return created
    }

    /// What is delivered on the server's loop.
    private final class LoopWork: Sendable {
        private let waiting = Mutex<[@Sendable () -> Void]>([])

        func post(_ work: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(work) } }

        func step() -> LogStep {
            let work = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            work?()
            return work == nil ? .idle : .worked
        }
    }

    private static func options(
        _ durability: Durability, _ scheduler: Scheduler, _ disk: SimulatedDisk,
        onFreeze: @escaping @Sendable () -> Void
    ) -> EventStoreOptions {
        var options = EventStoreOptions()
        options.fileSystem = disk
        options.tailEvents = 8
        options.checkpointInterval.events = 60
        options.checkpointInterval.bytes = 1
        options.log.durability = durability
        options.log.clock = scheduler
        options.log.runner = scheduler
        // As in production, but small, so that segments are filled, recycled and deflated all the time.
        options.log.firstSegmentSizeBytes = 2 << 10
        options.log.segmentSizeBytes = 8 << 10
        options.log.segmentsAhead = 1
        options.log.deflatesSealedSegments = true
        options.log.storeID = StoreID(high: 1, low: 2)
        options.log.onFreeze = { _ in onFreeze() }
        return options
    }

    /// Opens the log, brings it up to date, and serves.
    /// - Throws: why it cannot.
    init(
        _ world: Simulation, on disk: SimulatedDisk, _ durability: Durability,
        _ scheduler: Scheduler
    ) throws {
        self.world = world
        self.disk = disk
        self.durability = durability
        self.scheduler = scheduler
        tasks = EngineTasks(executor: scheduler) { scheduler.later($0, $1) }
        let schema = try ServiceSchema(world.schema)
        let store = try EventStore.open(
            "log", indexes: schema.indexes,
            options: Self.options(durability, scheduler, disk) { world.noteFrozen() })
        journal = store.journal
        let loop = loop
        _ = scheduler.start { loop.step() }
        do {
            let snapshot = try bringUpToDate(store.snapshot, schema)
            try world.checkOpened(snapshot, on: disk, durability, epoch: store.journal.epoch)
            var limits = GraphQLService.Limits()
            limits.recentCommits = 4
            created = GraphQLService(
                SchemaService(schema, symbols: snapshot.symbols), journal: journal,
                storeID: journal.storeID, snapshot: snapshot, tail: store.tail,
                inputs: EngineInputs(
                    now: {
                        scheduler.pause()
                        return world.wallClock(scheduler)
                    }, makeID: { world.makeID($0) }, tasks: tasks),
                limits: limits,
                onDurable: { [journal] in journal.checkpointIfDue($0) },
                deliver: { [weak self] deliveries in
                    for delivery in deliveries { self?.check(delivery) }
                    self?.onLoop {
                        for delivery in deliveries {
                            (delivery.sink as? SimulatedSink)?.take(delivery.event)
                        }
                    }
                },
                settle: { [loop] in
                    await withCheckedContinuation { done in loop.post { done.resume() } }
                })
        } catch {
            journal.close()
            throw error
        }
    }

    private func bringUpToDate(_ snapshot: Snapshot, _ schema: ServiceSchema) throws -> Snapshot {
        var bodies: [EventBody] = snapshot.pending.map {
            .revocation(Revocation(mutation: $0.sequence, reason: "The server stopped."))
        }
        if snapshot.sequence == 0 {
            let seed = try SeedFile.read(Array(world.seed.utf8), for: schema, timeMicroseconds: 0)
            bodies = [.genesis(schema: world.schema, seed: seed.writes)]
        }
        if bodies.isEmpty { return snapshot }
        let ended = Ending()
        journal.append(
            bodies.map { NewEvent(timeMicroseconds: 0, body: $0) }, expecting: snapshot.sequence
        ) { outcome in ended.set(outcome) }
        while ended.value == nil, scheduler.turn() {}
        guard let outcome = ended.value else {
            throw Violation("an append at the start never ended")
        }
        _ = try outcome.get()
        var current = snapshot
        var changes = ChangeSet()
        for body in bodies {
            try current.fold(
                Event(sequence: current.sequence + 1, timeMicroseconds: 0, body: body),
                changes: &changes)
        }
        return current
    }

    /// What became of an append.
    private final class Ending: Sendable {
        private let result = Mutex<Result<UInt64, JournalError>?>(nil)

        var value: Result<UInt64, JournalError>? { result.withLock { $0 } }

        func set(_ outcome: Result<UInt64, JournalError>) { result.withLock { $0 = outcome } }
    }

    // MARK: Connections

    /// Does something on the loop that has all connections.
    func onLoop(_ work: @escaping @Sendable () -> Void) { loop.post(work) }

    func accept(_ wire: Wire) -> SimulatedSocket {
        let socket = SimulatedSocket(wire, self)
        sockets.append(socket)
        return socket
    }

    func remove(_ socket: SimulatedSocket) {
        sockets.removeAll { $0 === socket }
        socket.closed()
    }

    func noteStarted(_ request: GraphQLRequest) { world.noteStarted(request) }

    // MARK: What may be said

    /// Nothing is told that is ahead of the durable state.
    func check(_ outcome: Outcome, of request: GraphQLRequest) {
        if case .refused = outcome { world.noteOutOfOrder(request) }
        guard !isDead, case .executed(let response) = outcome else { return }
        check(cursor: response.cursor ?? Self.cursor(response.bytes), "an answer")
        world.noteAnswer(response.bytes, of: request)
    }

    private func check(_ delivery: Delivery) {
        if isDead { return }
        switch delivery.event {
        case .next(let response), .missed(let response), .latest(let response),
            .patch(let response, _):
            check(cursor: response.cursor, "a result")
        case .failed(let errors):
            world.noteFailed(errors)
        case .began, .caughtUp, .completed: break
        }
    }

    private func check(cursor: String?, _ what: String) {
        guard let cursor = cursor.flatMap(StreamCursor.init) else { return }
        guard cursor.epoch == journal.epoch, let created else { return }
        if cursor.sequence > created.snapshot.sequence {
            world.violate(
                "\(what) at event \(cursor.sequence), while \(created.snapshot.sequence) is durable"
            )
        }
        world.noteTold(cursor.sequence, epoch: cursor.epoch)
    }

    static func cursor(_ bytes: [UInt8]) -> String? {
        (try? JSONValue(parsing: bytes))?["extensions"]?["relay"]?["cursor"]?.string
    }

    // MARK: The end

    /// The process is gone; what it has begun comes to nothing.
    func kill() {
        isDead = true
        disk.setPause(nil)
        disk.setFault(nil)
        disk.powerOff()
        for socket in sockets { socket.wire.isCut = true }
        scheduler.settle()
        journal.close()
        scheduler.settle()
        sockets = []
    }
}
