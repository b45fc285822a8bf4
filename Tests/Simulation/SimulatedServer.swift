import DiskSimulation
import EventLog
import EventStore
import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayStore
import SchemaService
import Synchronization
import Threads

@testable import StoreEngine

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
    private var created: (service: GraphQLService, schema: SchemaService)?
    private let loop = LoopWork()
    /// Mutations that were handed over and are not answered.
    private let mutationCount = Atomic(0)
    /// It was killed; what it still does is nobody's business.
    private(set) var isDead = false

    private var served: (service: GraphQLService, schema: SchemaService) {
        guard let created else { preconditionFailure("the service is made with the server") }
        return created
    }

    var service: GraphQLService { served.service }

    /// What goes with it.
    var parts: [AnyObject] { [self, scheduler, disk, journal, service] }

    /// What is delivered on the server's loop.
    private final class LoopWork: Sendable {
        private let waiting = Lock<[@Sendable () -> Void]>([])

        func post(_ work: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(work) } }

        private let busy = Atomic(false)

        /// It has much else to do, and comes to nothing of this.
        var isBusy: Bool {
            get { busy.load(ordering: .relaxed) }
            set { busy.store(newValue, ordering: .relaxed) }
        }

        func step() -> LogStep {
            if isBusy { return .idle }
            let work = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            work?()
            return work == nil ? .idle : .worked
        }
    }

    static func options(
        _ world: Simulation, _ scheduler: Scheduler, _ disk: SimulatedDisk
    ) -> EventStoreOptions {
        var options = EventStoreOptions()
        options.fileSystem = disk
        options.tail = .init(events: 8, bytes: 1 << 20)
        options.checkpointInterval.events = 60
        options.checkpointInterval.bytes = 1
        options.log.durability = world.durability
        options.log.clock = scheduler
        options.log.runner = scheduler
        options.log.firstSegmentSizeBytes = world.segmentBytes.first
        options.log.segmentSizeBytes = world.segmentBytes.largest
        options.log.segmentsAhead = 1
        options.log.deflatesSealedSegments = true
        options.log.storeID = StoreID(high: 1, low: 2)
        options.log.maximumWaitingBytes = world.logLimitBytes
        options.log.onFreeze = { _ in world.noteFrozen() }
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
        let schema = world.service
        let store = try EventStore.open(
            "log", indexes: schema.indexes,
            options: Self.options(world, scheduler, disk))
        journal = store.journal
        let loop = loop
        _ = scheduler.start { loop.step() }
        do {
            let snapshot = try bringUpToDate(store.snapshot, schema)
            try world.checkOpened(snapshot, on: disk, durability, epoch: store.journal.epoch)
            let schemaService = SchemaService(schema, symbols: snapshot.symbols)
            let service = GraphQLService(
                schemaService, journal: journal,
                storeID: journal.storeID, snapshot: snapshot, tail: store.tail,
                inputs: EngineInputs(
                    now: {
                        scheduler.pause()
                        return world.wallClock(scheduler)
                    }, makeID: { world.makeID($0) }, tasks: tasks),
                limits: world.limits,
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
            created = (service, schemaService)
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
        private let result = Lock<Result<UInt64, JournalError>?>(nil)

        var value: Result<UInt64, JournalError>? { result.withLock { $0 } }

        func set(_ outcome: Result<UInt64, JournalError>) { result.withLock { $0 = outcome } }
    }

    // MARK: Connections

    /// The loop has so much to do that nothing is delivered.
    var isLoopBusy: Bool {
        get { loop.isBusy }
        set { loop.isBusy = newValue }
    }

    /// Does something on the loop that has all connections.
    func onLoop(_ work: @escaping @Sendable () -> Void) { loop.post(work) }

    func accept(_ wire: Wire, viewer: String? = nil) -> SimulatedSocket {
        let socket = SimulatedSocket(wire, viewer: viewer, self)
        sockets.append(socket)
        return socket
    }

    func remove(_ socket: SimulatedSocket) {
        sockets.removeAll { $0 === socket }
        socket.closed()
    }

    /// Runs a query or a mutation.
    func execute(
        _ prepared: PreparedOperation, _ request: GraphQLRequest,
        answer: @escaping @Sendable (Outcome) -> Void
    ) {
        world.noteStarted(request)
        let isMutation = prepared.kind == .mutation
        if isMutation { mutationCount.add(1, ordering: .relaxed) }
        service.execute(prepared, request) { [self] outcome in
            if isMutation { mutationCount.subtract(1, ordering: .relaxed) }
            check(outcome, of: request)
            answer(outcome)
        }
        let count = mutationCount.load(ordering: .relaxed)
        if isMutation, count > world.limits.waitingMutations {
            world.violate(
                "\(count) mutations are not answered, and \(world.limits.waitingMutations) may be")
        }
    }

    /// Does everything that the loop has to do.
    func runLoop() {
        while case .worked = loop.step() {}
    }

    // MARK: Readers

    /// The state as it is now, as whoever reads it holds it.
    func keep(query: String) throws -> KeptState {
        try KeptState(of: service, served.schema, query: query)
    }

    /// Reads the log beside its writer, from an event on, as whoever follows it does.
    func follow(from first: UInt64) {
        tasks.start { [self] in
            var next = first
            do {
                for try await event in journal.events(from: first) {
                    if isDead { return }
                    if event.sequence != next {
                        world.violate("a reader was given event \(event.sequence), not \(next)")
                    }
                    world.noteTold(event.sequence, epoch: journal.epoch)
                    next += 1
                }
            } catch {
                if !isDead, !world.hasReadFaults {
                    world.violate("a reader that follows the log was told: \(error)")
                }
            }
        }
    }

    // MARK: What may be said

    func violate(_ what: String) {
        if !isDead { world.violate(what) }
    }

    /// Nothing is told that is ahead of the durable state.
    private func check(_ outcome: Outcome, of request: GraphQLRequest) {
        guard case .executed(let response) = outcome else {
            return world.noteOutOfOrder(request)
        }
        if response.hasErrors { world.noteOutOfOrder(request) }
        if isDead { return }
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
            let viewer = (delivery.sink as? SimulatedSink)?.viewer
            if viewer != HostileClient.viewer { world.noteFailed(errors) }
        case .began, .caughtUp, .completed: break
        }
    }

    private func check(cursor: String?, _ what: String) {
        guard let cursor = cursor.flatMap(StreamCursor.init) else { return }
        guard cursor.epoch == journal.epoch, let durable = created?.service.snapshot.sequence
        else { return }
        if cursor.sequence > durable {
            world.violate("\(what) at event \(cursor.sequence), while \(durable) is durable")
        }
        world.noteTold(cursor.sequence, epoch: cursor.epoch)
    }

    static func cursor(_ bytes: [UInt8]) -> String? {
        (try? JSONValue(parsing: bytes))?["extensions"]?["relay"]?["cursor"]?.string
    }

    /// What waits is within its bounds.
    func checkBounds() {
        let limits = world.limits
        let handlers = world.upstream.waitingCount
        if handlers > limits.waitingHandlers {
            world.violate("\(handlers) handlers wait, and \(limits.waitingHandlers) may")
        }
        // One turn more is taken just below the limit, and commits in flight are published whatever waits.
        let bytes = journal.waitingBytes
        let turnBytes = min(limits.turnMutations, 1_000) * Self.mutationBytes.upperBound
        if bytes > limits.inFlightBytes + turnBytes {
            world.violate("\(bytes) bytes wait for the disk, and \(limits.inFlightBytes) may")
        }
        let commits = service.unpublishedCommits
        let inFlight = limits.inFlightBytes / Self.mutationBytes.lowerBound + limits.turnMutations
        if commits > limits.unpublishedCommits + inFlight {
            world.violate(
                "\(commits) commits are not told, and \(limits.unpublishedCommits) may be")
        }
    }

    /// What a mutation takes in the log.
    private static let mutationBytes = 128...1_024

    // MARK: The end

    /// Takes no more mutations, as ``Server/stop()`` begins.
    func beginToStop() {
        tasks.start { [service] in await service.finishMutations(within: .zero) }
    }

    /// Mutations that were taken and are not answered.
    var unansweredCount: Int { mutationCount.load(ordering: .relaxed) }

    /// What ``Server/stop()`` ends with, when nobody is connected any more.
    /// - Throws: why no checkpoint could be written.
    func close() throws {
        defer { isDead = true }
        try journal.close(checkpointing: service.snapshotForNextStart)
    }

    /// The process is gone; what it has begun comes to nothing.
    func kill() {
        isDead = true
        disk.setPause(nil)
        disk.setFault(nil)
        disk.powerOff()
        for socket in sockets { socket.wire.isCut = true }
        isLoopBusy = false
        // Handlers may begin to wait still.
        repeat {
            world.upstream.answerAll()
            scheduler.settle()
        } while world.upstream.waitingCount > 0
        journal.close()
        scheduler.settle()
        for socket in sockets { socket.letGo() }
        sockets = []
    }
}
