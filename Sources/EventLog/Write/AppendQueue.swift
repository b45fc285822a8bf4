/// The appends waiting for the disk: a state machine without threads, locks or a disk.
///
///     open ──freeze──► frozen          open ──close──► closing ──drained, freeze──► closed
///                        └──────────────close───────────────────────────────────────► closed
///
/// 1. Sequences are assigned without gaps, in the order of `enqueue`.
/// 2. At most one group is being written; everything enqueued in the meantime forms the next one.
/// 3. If a group fails, so does everything enqueued after it, because those batches were made from
///    a state that never existed. Their sequences are assigned again.
struct AppendQueue {
    /// Called with the batch's sequences, and how far the log is acknowledged or why it is not.
    typealias Completion = @Sendable (ClosedRange<UInt64>, Result<UInt64, LogError>) -> Void

    struct Waiter {
        let range: ClosedRange<UInt64>
        let completion: Completion
    }

    /// Batches that become one frame.
    struct Group {
        let frame: FrameBuilder
        let waiters: [Waiter]
        /// The head that the frame follows.
        let head: LogHead
        let durableThrough: UInt64
        let range: ClosedRange<UInt64>
    }

    /// Frames of other writers, to be written as they are.
    struct Adoption {
        let frames: [WholeFrame]
        let completion: @Sendable (Result<LogHead, LogError>) -> Void
    }

    enum Phase {
        case open
        case frozen(LogError)
        case closing
        case closed
    }

    private(set) var phase = Phase.open
    /// The head after the last group written.
    private(set) var head: LogHead
    /// The last sequence known to be synced.
    private(set) var durableThrough: UInt64
    private(set) var nextSequence: UInt64
    private let limit: Int
    /// The epoch of frames made here.
    private let epoch: UInt32
    private var adoption: Adoption?
    private var filling: FrameBuilder
    private var emptied: FrameBuilder?
    private var waiters: [Waiter] = []
    private var writingBytes = 0
    private var last: (@Sendable () -> Void)?
    private(set) var statistics = AppendStatistics()

    /// - Parameter epoch: of frames made here; nil for the head's.
    init(
        head: LogHead, epoch: UInt32? = nil, maximumWaitingBytes: Int,
        hashing: HashingThread? = nil
    ) {
        self.epoch = epoch ?? head.epoch
        filling = FrameBuilder(hashing: hashing)
        emptied = FrameBuilder(hashing: hashing)
        self.head = head
        durableThrough = head.sequence
        nextSequence = head.sequence + 1
        limit = maximumWaitingBytes
    }

    /// Bytes of events not yet written.
    var waitingBytes: Int { filling.payloadLength + writingBytes }

    /// True when the log was closed and accepts no more appends.
    var isClosing: Bool {
        switch phase {
        case .closing, .closed: true
        case .open, .frozen: false
        }
    }

    /// True when everything enqueued is in flight to the disk.
    var isTaken: Bool { filling.isEmpty }

    /// True when a batch of this size would be accepted now.
    func hasRoom(for byteCount: Int) -> Bool {
        waitingBytes == 0 || waitingBytes + byteCount <= limit
    }

    mutating func enqueue(
        _ batch: EventBatch, expecting: UInt64?, completion: @escaping Completion
    ) throws(LogError) -> ClosedRange<UInt64> {
        switch phase {
        case .open: break
        case .frozen(let first): throw .frozen(first)
        case .closing, .closed: throw .closed
        }
        let byteCount = batch.bytes.count
        guard !batch.isEmpty else { throw .emptyBatch }
        guard byteCount <= FrameLayout.maximumPayload else { throw .tooLarge(byteCount) }
        if let expecting, expecting != nextSequence {
            throw .sequenceMoved(expected: expecting, next: nextSequence)
        }
        guard nextSequence <= FrameLayout.largestSequence,
            UInt64(batch.count) - 1 <= FrameLayout.largestSequence - nextSequence
        else { throw .lastSequence }
        guard hasRoom(for: byteCount),
            filling.payloadLength + byteCount <= FrameLayout.maximumPayload
        else { throw .queueFull(waiting: waitingBytes, limit: limit) }
        let range = nextSequence...nextSequence + UInt64(batch.count) - 1
        filling.append(batch)
        waiters.append(Waiter(range: range, completion: completion))
        nextSequence = range.upperBound + 1
        return range
    }

    /// Everything that waits, for the sync thread to write; nil if nothing does.
    mutating func takeGroup() -> Group? {
        guard !filling.isEmpty, let empty = emptied else { return nil }
        assert(durableThrough <= head.sequence, "nothing is durable that is not written")
        assert(writingBytes == 0, "one group is written at a time")
        let group = Group(
            frame: filling, waiters: waiters,
            head: LogHead(sequence: head.sequence, epoch: epoch, hash: head.hash),
            durableThrough: durableThrough,
            range: head.sequence + 1...nextSequence - 1)
        writingBytes = filling.payloadLength
        filling = empty
        emptied = nil
        waiters = []
        return group
    }

    /// The group was written, `byteCount` bytes in all. A separate call marks it as durable.
    mutating func finish(_ group: Group, chain: ChainHash, byteCount: Int) {
        assert(group.range.lowerBound == head.sequence + 1, "groups are written in order")
        statistics.events += UInt64(group.range.count)
        statistics.batches += UInt64(group.waiters.count)
        statistics.frames += 1
        statistics.bytes += UInt64(byteCount)
        head = LogHead(sequence: group.range.upperBound, epoch: group.head.epoch, hash: chain)
        takeBack(group.frame)
    }

    /// Everything written so far was synced, in this time.
    mutating func synchronized(in time: Duration) {
        assert(durableThrough <= head.sequence, "what was synced stays so")
        statistics.syncs += 1
        statistics.syncTime += time
        durableThrough = head.sequence
    }

    /// The group was not written. Returns the appends that waited behind it.
    mutating func fail(_ group: Group, freezing error: LogError?) -> [Waiter] {
        takeBack(group.frame)
        if let error { return freeze(error) }
        return discardWaiting()
    }

    // MARK: Frames of other writers

    /// One adoption at a time waits.
    mutating func adopt(_ adoption: Adoption) throws(LogError) {
        switch phase {
        case .open: break
        case .frozen(let first): throw .frozen(first)
        case .closing, .closed: throw .closed
        }
        guard self.adoption == nil else { throw .queueFull(waiting: waitingBytes, limit: limit) }
        self.adoption = adoption
    }

    /// The frames to write next: they go before appends, which did not know of them.
    mutating func takeAdoption() -> Adoption? { adoption.take() }

    /// Frames of other writers were written.
    /// - Returns: appends made from a state that has passed. They fail.
    mutating func adopted(through head: LogHead, frames: Int, byteCount: Int) -> [Waiter] {
        guard head.sequence > self.head.sequence else { return [] }
        assert(writingBytes == 0, "one group is written at a time")
        statistics.events += head.sequence - self.head.sequence
        statistics.frames += UInt64(frames)
        statistics.bytes += UInt64(byteCount)
        self.head = head
        return discardWaiting()
    }

    /// Accepts no more appends. Returns those still waiting.
    mutating func freeze(_ error: LogError) -> [Waiter] {
        switch phase {
        case .open: phase = .frozen(error)
        // Nothing is left to drain, and the caller of `close` is waiting for the end.
        case .closing: phase = .closed
        case .frozen, .closed: break
        }
        return discardWaiting()
    }

    /// - Parameter last: what to do after the log is marked as closed, before the lock is released.
    mutating func close(last: (@Sendable () -> Void)? = nil) {
        switch phase {
        case .open: phase = .closing
        case .frozen: phase = .closed
        case .closing, .closed: return
        }
        self.last = last
    }

    /// The final action given to `close`.
    mutating func takeLast() -> (@Sendable () -> Void)? { last.take() }

    mutating func closed() {
        phase = .closed
    }

    private mutating func discardWaiting() -> [Waiter] {
        defer { waiters = [] }
        filling.removeAll()
        nextSequence = head.sequence + 1
        return waiters
    }

    private mutating func takeBack(_ frame: FrameBuilder) {
        frame.removeAll()
        emptied = frame
        writingBytes = 0
    }
}

/// Counts what a writer has done since it was opened.
package struct AppendStatistics: Sendable, Equatable {
    package internal(set) var events: UInt64 = 0
    package internal(set) var batches: UInt64 = 0
    package internal(set) var frames: UInt64 = 0
    /// Syncs of appended frames; events per sync is the gain of group commit.
    package internal(set) var syncs: UInt64 = 0
    /// The total time taken by the syncs.
    package internal(set) var syncTime: Duration = .zero
    /// Bytes written to segments, frame headers included.
    package internal(set) var bytes: UInt64 = 0
}
