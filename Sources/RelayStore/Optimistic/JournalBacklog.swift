@_spi(Rooms) import RelayRecords
@_spi(Rooms) import Threads

/// Events on their way to a journal: those that wait, those that were handed over, and what is to be done
/// about a journal that refuses.
///
/// States. *keeping*: batches are handed over as they come. *settling*: one was refused; nothing more is
/// handed over until all that were are answered. *waiting*: all are answered, a retry will come. *stopped*:
/// the journal has failed for good, or more waits than may; what comes is dropped, and the log ends where
/// it is, without a gap.
///
/// Invariants: 1. Batches are handed over in order, each behind the one before it. 2. A batch is let go of
/// when it is durable, or when the backlog stops. 3. While the journal refuses, no more than `limitBytes` wait; what
/// was handed over and is on its way is bounded by the journal, which is busy at some point.
struct JournalBacklog {
    struct Batch: Sendable {
        let events: [NewEvent]
        /// The sequence that they follow.
        let sequence: UInt64
        /// The confirmed state after them.
        let confirmed: Snapshot
        let bytes: Int

        init(_ events: [NewEvent], behind sequence: UInt64, confirmed: Snapshot) {
            self.events = events
            self.sequence = sequence
            self.confirmed = confirmed
            bytes = events.reduce(0) { $0 + $1.body.sizeBytes }
        }
    }

    private enum State {
        case keeping
        case settling(JournalError)
        case waiting
        case stopped
    }

    private(set) var status = JournalStatus.keeping
    /// Statuses that are not told yet, oldest first.
    private var news: [JournalStatus] = []
    private var state = State.keeping
    /// Those that are not durable, in order.
    private var batches = FIFO<Batch>()
    /// The next of them to be handed over.
    private var next = 0
    private var unanswered = 0
    private var isHandingOver = false
    private(set) var waitingBytes = 0
    /// Batches that were ever added, and of these the durable ones.
    private(set) var addedCount: UInt64 = 0
    private(set) var durableCount: UInt64 = 0
    /// Places for batches, those of durable ones among them.
    var placeCount: Int { batches.capacity }
    private var delayMilliseconds = Self.firstDelayMilliseconds
    private let limitBytes: Int

    private static let firstDelayMilliseconds = 100
    private static let longestDelayMilliseconds = 10_000

    init(limitBytes: Int) { self.limitBytes = limitBytes }

    mutating func add(_ batch: Batch) {
        addedCount += 1
        switch state {
        case .stopped: return
        case .keeping: break
        case .settling, .waiting:
            guard waitingBytes + batch.bytes <= limitBytes else {
                return stop(.backlogFull(waitingBytes: waitingBytes))
            }
        }
        batches.append(batch)
        waitingBytes += batch.bytes
    }

    /// The next batch to be handed over, by one thread at a time.
    /// - Parameter isContinuing: whether the caller has handed over the one before.
    mutating func nextToHandOver(isContinuing: Bool) -> Batch? {
        if isHandingOver, !isContinuing { return nil }
        isHandingOver = false
        guard case .keeping = state, next < batches.count else { return nil }
        defer { next += 1 }
        unanswered += 1
        isHandingOver = true
        return batches[next]
    }

    /// Takes in the answer to the oldest batch that was handed over and not answered.
    /// - Returns: after how many milliseconds to retry, if that is to be done.
    mutating func settle(_ result: Result<UInt64, JournalError>) -> Int? {
        unanswered -= 1
        switch (state, result) {
        case (.keeping, .success):
            letGoOfFirst()
            delayMilliseconds = Self.firstDelayMilliseconds
            if next == 0 { change(to: .keeping) }
        case (.keeping, .failure(let error)):
            state = .settling(error)
        default: break  // what comes behind a failure fails too
        }
        guard case .settling(let error) = state, unanswered == 0 else { return nil }
        guard error.isPassing else {
            stop(error)
            return nil
        }
        state = .waiting
        next = 0
        change(to: .retrying(error))
        defer {
            delayMilliseconds = min(delayMilliseconds * 2, Self.longestDelayMilliseconds)
        }
        return delayMilliseconds
    }

    /// The time to retry has come.
    mutating func retry() {
        if case .waiting = state { state = .keeping }
    }

    var hasNews: Bool { !news.isEmpty }

    mutating func takeNews() -> JournalStatus? { news.isEmpty ? nil : news.removeFirst() }

    private mutating func letGoOfFirst() {
        waitingBytes -= batches.popFirst()?.bytes ?? 0
        next -= 1
        durableCount += 1
    }

    private mutating func stop(_ error: JournalError) {
        state = .stopped
        batches = FIFO()
        next = 0
        waitingBytes = 0
        change(to: .stopped(error))
    }

    private mutating func change(to new: JournalStatus) {
        if new.isSame(as: status) { return }
        status = new
        news.append(new)
    }
}

/// Whether what happens in a store is kept.
public enum JournalStatus: Sendable {
    /// Every change goes to the journal, or there is none.
    case keeping
    /// The journal refuses for now: its disk is full, or too much waits for it. Changes wait in memory and are
    /// handed over again until it takes them.
    case retrying(any Error)
    /// Nothing more is kept until the store is opened again: the journal failed for good, or more waited than
    /// may. The log ends with what was durable before.
    case stopped(any Error)

    fileprivate func isSame(as other: JournalStatus) -> Bool {
        switch (self, other) {
        case (.keeping, .keeping), (.retrying, .retrying), (.stopped, .stopped): true
        default: false
        }
    }
}

extension JournalError {
    /// Whether the journal may take the same events later.
    fileprivate var isPassing: Bool {
        switch code {
        case .storageFull, .busy: true
        case .overtaken, .frozen, .refused, .closed, .backlogFull: false
        }
    }

    fileprivate static func backlogFull(waitingBytes: Int) -> JournalError {
        JournalError(
            code: .backlogFull,
            message: """
                The journal has refused events for so long that \(waitingBytes) bytes of them wait. \
                Nothing more is kept until the store is opened again; the log ends with what was \
                durable before.
                """)
    }
}

extension EventBody {
    /// About how much memory the event takes.
    fileprivate var sizeBytes: Int {
        let size =
            switch self {
            case .genesis(let schema, let seed): schema.utf8.count + seed.bytes.count
            case .schema(let schema): schema.utf8.count
            case .mutation(let intent):
                intent.argumentBytes.count + (intent.optimistic?.bytes.count ?? 0)
            case .response(let response):
                response.writes.bytes.count + (response.answer?.count ?? 0)
                    + response.rebased.reduce(0) { $0 + $1.writes.bytes.count }
            case .revocation(let revocation):
                revocation.rebased.reduce(0) { $0 + $1.writes.bytes.count }
            case .update(let update):
                update.writes.bytes.count
                    + update.rebased.reduce(0) { $0 + $1.writes.bytes.count }
            case .unknown(_, let payload): payload.count
            }
        return size + 128
    }
}
