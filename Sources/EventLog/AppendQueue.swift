/// What waits for the disk: a state machine without threads, locks or disk.
///
///     open ──freeze──► frozen          open ──close──► closing ──drained, freeze──► closed
///                        └──────────────close───────────────────────────────────────► closed
///
/// 1. Sequences are given out gaplessly, in the order of `enqueue`.
/// 2. At most one group is being written; everything enqueued meanwhile is the next one.
/// 3. A group that fails takes everything enqueued after it along: those batches were made from
///    a state that never came to be. Their sequences are given out again.
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
        /// What the frame follows.
        let head: LogHead
        let durableThrough: UInt64
        let range: ClosedRange<UInt64>
    }

    enum Phase {
        case open
        case frozen(LogError)
        case closing
        case closed
    }

    private(set) var phase = Phase.open
    /// The head after the last group that was written.
    private(set) var head: LogHead
    /// The last sequence known to be synced.
    private(set) var durableThrough: UInt64
    private(set) var nextSequence: UInt64
    private let limit: Int
    private var filling: FrameBuilder
    private var emptied: FrameBuilder?
    private var waiters: [Waiter] = []
    private var writingBytes = 0
    private var last: (@Sendable () -> Void)?
    private(set) var statistics = AppendStatistics()

    init(head: LogHead, maximumWaitingBytes: Int, hashing: HashingThread? = nil) {
        filling = FrameBuilder(hashing: hashing)
        emptied = FrameBuilder(hashing: hashing)
        self.head = head
        durableThrough = head.sequence
        nextSequence = head.sequence + 1
        limit = maximumWaitingBytes
    }

    /// Bytes of events not yet written.
    var waitingBytes: Int { filling.payloadLength + writingBytes }

    /// True when nothing is taken any more, as the log was closed.
    var isClosing: Bool {
        switch phase {
        case .closing, .closed: true
        case .open, .frozen: false
        }
    }

    /// True when everything enqueued is on its way to the disk.
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

    /// Everything that waits, for the sync thread to write; nil when nothing does.
    mutating func takeGroup() -> Group? {
        guard !filling.isEmpty, let empty = emptied else { return nil }
        assert(durableThrough <= head.sequence, "nothing is durable that is not written")
        assert(writingBytes == 0, "one group is written at a time")
        let group = Group(
            frame: filling, waiters: waiters, head: head, durableThrough: durableThrough,
            range: head.sequence + 1...nextSequence - 1)
        writingBytes = filling.payloadLength
        filling = empty
        emptied = nil
        waiters = []
        return group
    }

    /// The group is written, `byteCount` bytes of it; what that makes durable is another call.
    mutating func finish(_ group: Group, chain: ChainHash, byteCount: Int) {
        assert(group.range.lowerBound == head.sequence + 1, "groups are written in order")
        statistics.events += UInt64(group.range.count)
        statistics.batches += UInt64(group.waiters.count)
        statistics.frames += 1
        statistics.bytes += UInt64(byteCount)
        head = LogHead(sequence: group.range.upperBound, epoch: group.head.epoch, hash: chain)
        takeBack(group.frame)
    }

    /// Everything written so far is synced, which has taken so long.
    mutating func synchronized(in time: Duration) {
        assert(durableThrough <= head.sequence, "what was synced stays so")
        statistics.syncs += 1
        statistics.syncTime += time
        durableThrough = head.sequence
    }

    /// The group was not written. Returns those that waited behind it.
    mutating func fail(_ group: Group, freezing error: LogError?) -> [Waiter] {
        takeBack(group.frame)
        if let error { return freeze(error) }
        return discardWaiting()
    }

    /// Nothing is taken any more. Returns those that wait.
    mutating func freeze(_ error: LogError) -> [Waiter] {
        switch phase {
        case .open: phase = .frozen(error)
        // Nothing is left to be drained, and who closes the log waits for its end.
        case .closing: phase = .closed
        case .frozen, .closed: break
        }
        return discardWaiting()
    }

    /// - Parameter last: what is to be done when the log is marked as closed, before the lock is given back.
    mutating func close(last: (@Sendable () -> Void)? = nil) {
        switch phase {
        case .open: phase = .closing
        case .frozen: phase = .closed
        case .closing, .closed: return
        }
        self.last = last
    }

    /// What the one who closed the log wants done last.
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

/// What a writer has done since it was opened.
package struct AppendStatistics: Sendable, Equatable {
    package internal(set) var events: UInt64 = 0
    package internal(set) var batches: UInt64 = 0
    package internal(set) var frames: UInt64 = 0
    /// Syncs of appended frames; events per sync is what group commit gains.
    package internal(set) var syncs: UInt64 = 0
    /// What the syncs have taken together.
    package internal(set) var syncTime: Duration = .zero
    /// Bytes written to segments, frame headers included.
    package internal(set) var bytes: UInt64 = 0
}
