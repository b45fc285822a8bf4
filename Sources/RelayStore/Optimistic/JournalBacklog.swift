@_spi(Rooms) import RelayRecords
@_spi(Rooms) import Threads

/// Events on their way to a journal: those waiting, those handed over, and what to do about a journal that refuses.
///
/// States. *keeping*: batches are handed over as they come. *settling*: one was refused; nothing more is handed over
/// until all that were are answered. *waiting*: all are answered, a retry will come. *stopped*: the journal has failed
/// permanently, or more waits than is allowed; new events are dropped, and the log ends where it is, without a gap.
///
/// Invariants: 1. Batches are handed over in order, each after the one before it. 2. A batch is released when it is
/// durable, or when the backlog stops. 3. While the journal refuses, no more than `limitBytes` wait; batches in flight
/// are bounded by the journal, which reports busy at some point.
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
    /// Statuses not reported yet, oldest first.
    private var news: [JournalStatus] = []
    private var state = State.keeping
    /// In order; none of them is durable yet.
    private var batches = FIFO<Batch>()
    /// Batches handed over and not answered: while the journal accepts events, these come first in `batches`.
    private var unanswered = 0
    private var isHandingOver = false
    private(set) var waitingBytes = 0
    /// Batches ever added, and how many of them are durable.
    private(set) var addedCount: UInt64 = 0
    private(set) var durableCount: UInt64 = 0
    /// Capacity in batches, including slots of durable ones.
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

    /// The next batch to hand over, by one thread at a time.
    /// - Parameter isContinuing: whether the caller handed over the one before.
    mutating func nextToHandOver(isContinuing: Bool) -> Batch? {
        if isHandingOver, !isContinuing { return nil }
        isHandingOver = false
        guard case .keeping = state, unanswered < batches.count else { return nil }
        isHandingOver = true
        defer { unanswered += 1 }
        return batches[unanswered]
    }

    /// Takes in the answer to the oldest unanswered batch.
    /// - Returns: the delay before a retry in milliseconds, if there is to be one.
    mutating func settle(_ result: Result<UInt64, JournalError>) -> Int? {
        unanswered -= 1
        switch (state, result) {
        case (.keeping, .success):
            waitingBytes -= batches.popFirst()?.bytes ?? 0
            durableCount += 1
            delayMilliseconds = Self.firstDelayMilliseconds
            if unanswered == 0 { change(to: .keeping) }
        case (.keeping, .failure(let error)):
            state = .settling(error)
        default: break  // anything after a failure fails too
        }
        guard case .settling(let error) = state, unanswered == 0 else { return nil }
        guard error.isPassing else {
            stop(error)
            return nil
        }
        state = .waiting
        change(to: .retrying(error))
        defer {
            delayMilliseconds = min(delayMilliseconds * 2, Self.longestDelayMilliseconds)
        }
        return delayMilliseconds
    }

    /// It is time to retry.
    mutating func retry() {
        if case .waiting = state { state = .keeping }
    }

    var hasNews: Bool { !news.isEmpty }

    mutating func takeNews() -> JournalStatus? { news.isEmpty ? nil : news.removeFirst() }

    private mutating func stop(_ error: JournalError) {
        state = .stopped
        batches = FIFO()
        waitingBytes = 0
        change(to: .stopped(error))
    }

    private mutating func change(to new: JournalStatus) {
        if new.isSame(as: status) { return }
        status = new
        news.append(new)
    }
}

/// Whether changes to a store are kept.
public enum JournalStatus: Sendable {
    /// Every change goes to the journal, or there is none.
    case keeping
    /// The journal refuses for now: its disk is full, or too much is waiting for it. Changes wait in memory and are
    /// handed over again until it takes them.
    case retrying(any Error)
    /// Nothing more is kept until the store is opened again: the journal failed permanently, or more was waiting than
    /// is allowed. The log ends with what was durable before.
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
    /// The approximate memory size of the event.
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
