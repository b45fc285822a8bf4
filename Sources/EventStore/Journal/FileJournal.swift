package import EventLog
@_spi(Rooms) public import RelayRecords
import Threads

/// A journal in the files of a directory (docs/log-format.md).
///
/// It holds the directory's lock until ``close()``, or until the process ends.
public final class FileJournal: EventJournal, RestorableJournal {
    package let directory: String
    package let metadata: LogMetadata
    package let earliestState: UInt64
    private let log: EventLogWriter
    private let reader: EventLogReader
    private let checkpointer: Checkpointer
    private let head: DurableSequence
    private let restored = Lock<Snapshot?>(nil)
    private let completions = Lock(CompletionQueue())
    /// Reports refusals, which happen on the caller's own thread.
    private let refusals: BackgroundQueue
    /// Reads the past, which may take a while. A reader waits for each answer before its next request.
    private let past: BackgroundQueue
    /// Checks whether the disk has room, independently of reads of the past.
    private let room: BackgroundQueue
    /// What is on the disk, as last looked at.
    private let files = Lock(FilesOnDisk())
    /// Callers waiting for the check in progress.
    private let roomAskers = Lock<[CheckedContinuation<Bool, Never>]>([])

    init(_ opened: OpenedLog) {
        directory = opened.directory
        refusals = BackgroundQueue("relay.journal.refusals", runner: opened.runner)
        past = BackgroundQueue("relay.journal.past", isUtility: true, runner: opened.runner)
        room = BackgroundQueue("relay.journal.room", isUtility: true, runner: opened.runner)
        log = opened.log
        reader = opened.reader
        checkpointer = opened.checkpointer
        metadata = log.metadata
        earliestState = opened.earliestState
        head = DurableSequence(log.head.sequence)
    }

    /// How a client's journal is kept.
    public struct Options: Sendable {
        /// Approximate bytes of history kept on the disk, apart from the state itself; nil keeps all of it.
        ///
        /// Checkpoints are written in time, and everything before the last two of them is dropped. The state,
        /// and mutations in flight, are not affected.
        public var historyBytes: UInt64? = 64 << 20

        /// The default options.
        public init() {}

        fileprivate var store: EventStoreOptions {
            var store = EventStoreOptions()
            guard let historyBytes else { return store }
            store.dropsEventsBeforeCheckpoints = true
            store.keptCheckpoints = 2
            // Two intervals, the segments in which they begin and end, and one being prepared.
            store.checkpointInterval.bytes = max(historyBytes / 5, 4_096)
            store.log.segmentSizeBytes = min(64 << 20, max(historyBytes / 8, 4_096))
            store.log.firstSegmentSizeBytes = min(1 << 20, store.log.segmentSizeBytes)
            return store
        }
    }

    /// Opens the journal in a directory, which is created if there is none, for a client's store
    /// (`Store(journal:)`). Blocks while it reads.
    ///
    /// - Throws: an error whose description is a complete message: the directory is in use, cannot be read or
    ///   written, or contains something that is not a journal. In that case nothing is changed.
    public convenience init(directory: String, options: Options = Options()) throws {
        try self.init(directory: directory, storeOptions: options.store)
    }

    convenience init(directory: String, storeOptions: EventStoreOptions) throws {
        let opened = try OpenedLog(directory, options: storeOptions)
        self.init(opened)
        restored.withLock { $0 = opened.snapshot }
    }

    public func restore() throws -> JournaledState {
        guard let snapshot = restored.withLock({ $0.take() }) else {
            throw EventStoreError.journalInUse(directory)
        }
        return JournaledState(snapshot: snapshot, journal: self) { [weak self] in
            self?.checkpointIfDue($0)
        }
    }

    package var epoch: UInt64 { UInt64(metadata.epoch) }

    /// Distinguishes this store from all others: 32 hexadecimal digits.
    package var storeID: String { "\(metadata.storeID)" }

    /// What has been appended since the journal was opened, for metrics.
    package var statistics: AppendStatistics { log.statistics }

    /// The last durable event, and the hash that identifies the history up to it.
    package var durableHead: LogHead { log.head }

    /// Bytes of events waiting for the disk.
    package var waitingBytes: Int { log.waitingBytes }

    /// How much there is on the disk; nil until it was looked at. Does not wait: a look that is due is begun.
    package var filesOnDisk: FilesOnDisk.Counts? {
        let (counts, isDue) = files.withLock { files in
            let now = ContinuousClock.now
            let isDue = files.lookedAt.map { $0 + FilesOnDisk.interval < now } ?? true
            if isDue { files.lookedAt = now }
            return (files.counts, isDue)
        }
        if isDue {
            past.async { [weak self] in
                guard let self, let counts = try? reader.filesOnDisk() else { return }
                files.withLock { $0.counts = counts }
            }
        }
        return counts
    }

    package func append(
        _ events: [NewEvent], expecting sequence: UInt64,
        completion: @escaping @Sendable (Result<UInt64, JournalError>) -> Void
    ) {
        var batch = EventBatch()
        for event in events { batch.append(event) }
        let last = sequence + UInt64(events.count)
        // Under the lock, so that tickets and sequences are assigned in the same order.
        let isRefused = completions.withLock { completions in
            let ticket = completions.add(completion)
            do throws(LogError) {
                try log.enqueue(batch, expecting: sequence + 1) { [self] result in
                    // The log reports how far it is durable by now, perhaps beyond these events.
                    settle(ticket, result.map { _ in last })
                }
                return false
            } catch {
                completions.settle(ticket, .failure(JournalError(error, next: log.nextSequence)))
                return true
            }
        }
        if isRefused { refusals.async { [self] in deliver() } }
    }

    private func settle(_ ticket: CompletionQueue.Ticket, _ result: Result<UInt64, LogError>) {
        if case .success(let sequence) = result { head.advance(to: sequence) }
        let result = result.mapError { JournalError($0, next: log.nextSequence) }
        completions.withLock { $0.settle(ticket, result) }
        deliver()
    }

    /// Takes frames that others appended to the shared journal of which this is a copy. Blocks, so it must not be
    /// called in a completion.
    /// - Returns: the head after them.
    package func adopt(_ frames: [WholeFrame]) throws(EventStoreError) -> LogHead {
        let adopted = try onLog { () throws(LogError) in
            try log.adoptAndWait(frames)
        }
        head.advance(to: adopted.sequence)
        return adopted
    }

    private func deliver() {
        guard completions.withLock({ $0.beginDelivery() }) else { return }
        while let ready = completions.withLock({ $0.takeReady() }) {
            ready.completion(ready.result)
        }
    }

    package func events(from sequence: UInt64) -> AsyncThrowingStream<Event, any Error> {
        let follower = EventFollower(self, head, from: sequence)
        return AsyncThrowingStream { try await follower.next() }
    }

    // MARK: The past

    package func state(
        near sequence: UInt64, indexes: [IndexDefinition]
    ) async throws -> Snapshot {
        try await onPast { reader, last throws(EventStoreError) in
            try Replay(HistorySource(reader), near: sequence, through: last, indexes: indexes)
                .snapshot
        }
    }

    package func lastEvent(
        at timeMicroseconds: Int64, through last: UInt64
    ) async throws -> UInt64? {
        let directory = directory
        return try await onPast { reader, durable throws(EventStoreError) in
            do throws(EventStoreError) {
                let history = try History(directory, reader, through: durable)
                return min(
                    try history.sequence(of: .time(microseconds: timeMicroseconds), now: 0), last)
            } catch {
                if case .outOfRange = error.code { return nil }
                throw error
            }
        }
    }

    /// What has become durable by now, for tools that work on histories.
    package func history() throws(EventStoreError) -> History {
        try History(directory, reader, through: head.sequence)
    }

    /// Reads on the journal's own thread, so that no other work is blocked.
    fileprivate func onPast<Value: Sendable>(
        _ read: @escaping @Sendable (EventLogReader, UInt64) throws(EventStoreError) -> Value
    ) async throws -> Value {
        let last = head.sequence
        return try await withCheckedThrowingContinuation { continuation in
            past.async { [reader] in
                continuation.resume(
                    with: Result { () throws(EventStoreError) in try read(reader, last) }
                        .mapError { $0 })
            }
        }
    }

    /// Writes a small file next to the log and removes it; callers in the meantime share one attempt.
    package func hasRoom() async -> Bool {
        await withCheckedContinuation { asker in
            let isFirst = roomAskers.withLock { askers in
                askers.append(asker)
                return askers.count == 1
            }
            if isFirst { room.async { [self] in tryRoom() } }
        }
    }

    package var isTriedByAppends: Bool { log.isShared }

    /// The number of callers waiting for ``hasRoom()``.
    var roomAskerCount: Int { roomAskers.withLock { $0.count } }

    private func tryRoom() {
        let hasRoom = log.tryRoom()
        let askers = roomAskers.withLock { askers in
            defer { askers = [] }
            return askers
        }
        for asker in askers { asker.resume(returning: hasRoom) }
    }

    // MARK: Checkpoints

    /// Starts writing a checkpoint if enough was appended since the last one. Returns at once.
    /// - Parameter snapshot: a durable state of this journal's history.
    package func checkpointIfDue(_ snapshot: Snapshot) {
        checkpointer.beginIfDue(snapshot, logBytes: log.statistics.bytes)
    }

    /// Writes a checkpoint now, so that the next start is fast. Blocks.
    /// - Parameter snapshot: a durable state of this journal's history.
    package func checkpoint(_ snapshot: Snapshot) throws(EventStoreError) {
        try checkpointer.write(now: snapshot)
    }

    /// Waits for appends in progress, marks the log as closed, waits for a checkpoint in progress, and
    /// releases the lock. Blocks.
    ///
    /// Must not be called in a completion. Later appends fail with `closed`.
    public func close() { close {} }

    /// Like ``close()``, but also writes a checkpoint, so that the next start is fast. It does so after the
    /// log is marked as closed, because a large state takes a while, and not every supervisor waits for that.
    /// - Parameter snapshot: a durable state of this journal's history.
    /// - Throws: why there is no checkpoint. The log is closed in any case.
    package func close(checkpointing snapshot: Snapshot) throws(EventStoreError) {
        let outcome = Lock(Result<Void, EventStoreError>.success(()))
        close { [checkpointer] in
            let written = Result { () throws(EventStoreError) in
                try checkpointer.write(now: snapshot)
            }
            outcome.withLock { $0 = written }
        }
        try outcome.withLock { $0 }.get()
    }

    private func close(last: @escaping @Sendable () -> Void) {
        log.close { [checkpointer, room] in
            last()
            checkpointer.close()
            // A check writes to the directory, which belongs to someone else once the lock is released.
            room.sync {}
        }
        refusals.sync {}
        head.close()
    }
}

extension JournalError {
    /// - Parameter next: the sequence that the log assigns to the next event.
    init(_ error: LogError, next: UInt64) {
        let code: Code =
            switch error.code {
            case .sequenceMoved, .overtaken: .overtaken(by: next - 1)
            case .storageFull: .storageFull
            case .queueFull, .unavailable: .busy
            case .closed: .closed
            case .unacceptableBatch: .refused
            default: .frozen
            }
        self.init(code: code, message: error.message)
    }
}

/// Reads events from the files, never beyond what is durable, and then waits for more.
///
/// It reads ahead, so that not every event costs a round trip to the journal's thread.
private actor EventFollower {
    private static let batchEvents = 128
    private static let batchBytes: UInt64 = 256 << 10

    private let journal: FileJournal
    private let head: DurableSequence
    private let cursor = Lock<EventCursor?>(nil)
    /// The next event to return.
    private var sequence: UInt64
    private var ahead: ArraySlice<Event> = []

    init(_ journal: FileJournal, _ head: DurableSequence, from sequence: UInt64) {
        self.journal = journal
        self.head = head
        self.sequence = max(sequence, 1)
    }

    func next() async throws -> Event? {
        if ahead.isEmpty {
            guard await head.passes(sequence - 1) else { return nil }
            ahead = try await read()[...]
        }
        guard let event = ahead.popFirst() else { throw EventStoreError.missing(sequence) }
        sequence = event.sequence + 1
        return event
    }

    private func read() async throws -> [Event] {
        let first = sequence
        return try await journal.onPast { [self] reader, durable throws(EventStoreError) in
            try cursor.withLock { cursor throws(EventStoreError) in
                let current: EventCursor
                if let known = cursor {
                    current = known
                } else {
                    current = try onLog { () throws(LogError) in try reader.events(from: first) }
                    cursor = current
                }
                current.through = durable
                let limit = current.byteCount + Self.batchBytes
                var events: [Event] = []
                do throws(EventStoreError) {
                    while events.count < Self.batchEvents, current.byteCount < limit,
                        let event = try current.nextEvent()
                    {
                        events.append(event)
                    }
                } catch  where !events.isEmpty {
                    cursor = nil  // The next read fails at the same place, after these events.
                }
                return events
            }
        }
    }
}
