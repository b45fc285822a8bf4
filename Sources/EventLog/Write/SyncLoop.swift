import Disk
import Threads

/// The sync thread's work: take what waits, write it as one frame, sync once, complete the appends.
struct SyncLoop {
    let queue: Monitor<AppendQueue>
    let writer: SegmentWriter
    let options: EventLogOptions
    /// Used with durability `batch`.
    private var schedule: SyncSchedule
    /// Already taken from the queue.
    private var taken: Work?

    init(queue: Monitor<AppendQueue>, writer: SegmentWriter, options: EventLogOptions) {
        self.queue = queue
        self.writer = writer
        self.options = options
        schedule = SyncSchedule(intervalMilliseconds: options.syncIntervalMilliseconds)
        if options.durability == .batch { options.clock.whenPassing { queue.notify() } }
    }

    private enum Work {
        case group(AppendQueue.Group)
        case adopt(AppendQueue.Adoption)
        /// A sync is due for frames acknowledged early.
        case synchronize
        case stop
    }

    /// Works until the log is closed.
    mutating func run() {
        while true {
            if perform(takeTaken() ?? waitForWork()) == .ended { return }
        }
    }

    /// Does the next piece of work, if there is one. Waits only for the disk.
    mutating func step() -> LogStep {
        guard let work = takeTaken() ?? workNow() else { return .idle }
        return perform(work)
    }

    private mutating func perform(_ work: Work) -> LogStep {
        switch work {
        case .group(let group): write(group)
        case .adopt(let adoption): adopt(adoption)
        case .synchronize: synchronizeEarlierFrames()
        case .stop:
            closeLog()
            return .ended
        }
        return .worked
    }

    private mutating func takeTaken() -> Work? {
        defer { taken = nil }
        return taken
    }

    private var due: UInt64? { options.durability == .batch ? schedule.due : nil }

    private func waitForWork() -> Work {
        // Taking a group makes room for callers that wait for it.
        defer { queue.notify() }
        guard let due else { return queue.wait { Self.work(&$0) } }
        let clock = options.clock
        return queue.wait(for: { clock.sleep(until: due) }) { queue -> Work? in
            Self.work(&queue, unlessDue: due, clock)
        }
    }

    private func workNow() -> Work? {
        defer { queue.notify() }
        let (due, clock) = (due, options.clock)
        return queue.withLock { queue in
            due.map { Self.work(&queue, unlessDue: $0, clock) } ?? Self.work(&queue)
        }
    }

    /// A due sync goes first: nothing more is acknowledged before it.
    private static func work(
        _ queue: inout AppendQueue, unlessDue due: UInt64, _ clock: any LogClock
    ) -> Work? {
        due <= clock.now ? .synchronize : work(&queue)
    }

    private static func work(_ queue: inout AppendQueue) -> Work? {
        if let adoption = queue.takeAdoption() { return .adopt(adoption) }
        if let group = queue.takeGroup() { return .group(group) }
        switch queue.phase {
        case .open, .frozen: return nil
        case .closing, .closed: return .stop
        }
    }

    private mutating func write(_ group: AppendQueue.Group) {
        let isEarly = options.durability != .always
        let byteCount = group.frame.size
        let chain = group.frame.close(
            after: group.head, durableThrough: group.durableThrough)
        if let shared = options.shared {
            do throws(FrameRefusal) {
                try group.frame.withBytes { bytes throws(FrameRefusal) in
                    try shared.committer.commit(
                        SharedFrame(
                            sequences: group.range, previousChain: group.head.hash, chain: chain,
                            bytes: bytes))
                }
            } catch {
                return fail(
                    group, LogError(error, of: group.range), isFrozen: error.code == .unknown)
            }
        }
        var syncTime: Duration?
        do throws(SegmentWriter.Failure) {
            try writer.append(group.frame, after: group.head)
            if isEarly, writer.isDirty { schedule.wrote(at: options.clock.now) }
            let isDue = options.durability == .batch && schedule.isDue(at: options.clock.now)
            if !isEarly || isDue { syncTime = try synchronize() }
        } catch {
            return fail(group, error)
        }
        // The next group is taken before any completion of this one runs: what they append in response is
        // prepared while that group is in flight to the disk.
        let next = queue.update { queue -> AppendQueue.Group? in
            queue.finish(group, chain: chain, byteCount: byteCount)
            if let syncTime { queue.synchronized(in: syncTime) }
            return isEarly ? nil : queue.takeGroup()
        }
        for waiter in group.waiters {
            waiter.completion(waiter.range, .success(group.range.upperBound))
        }
        taken = next.map { .group($0) }
    }

    private mutating func fail(_ group: AppendQueue.Group, _ failure: SegmentWriter.Failure) {
        switch failure {
        // The shared journal has acknowledged it.
        case _ where options.shared != nil:
            let error = LogError.copying(group.range, to: writer.path, failure.cause)
            fail(group, error, isFrozen: true)
        case .noRoom(let cause):
            let error = LogError.append(group.range, to: writer.path, cause, isUndone: true)
            fail(group, error, isFrozen: false)
        case .broken(let cause):
            let error = LogError.append(group.range, to: writer.path, cause, isUndone: false)
            fail(group, error, isFrozen: true)
        }
    }

    private mutating func fail(_ group: AppendQueue.Group, _ error: LogError, isFrozen: Bool) {
        let behind = queue.update { $0.fail(group, freezing: isFrozen ? error : nil) }
        for waiter in group.waiters { waiter.completion(waiter.range, .failure(error)) }
        for waiter in behind { waiter.completion(waiter.range, .failure(.handedBack(error))) }
        if isFrozen {
            // No more syncs: one could succeed and would prove nothing.
            schedule.synchronized()
            options.onFreeze?(error)
        }
    }

    // MARK: Frames of other writers

    private mutating func adopt(_ adoption: AppendQueue.Adoption) {
        var frames = FrameAdoption(after: queue.withLock { $0.head })
        var failure: LogError?
        var isBroken = false
        for frame in adoption.frames {
            do throws(FrameFault) {
                guard try frames.load(frame) else { continue }
            } catch {
                failure = .foreignFrame(error, after: frames.head.sequence)
                break
            }
            do throws(SegmentWriter.Failure) {
                try writer.append(frames.builder, after: frames.head)
            } catch {
                failure = .adopting(after: frames.head.sequence, in: writer.path, error.cause)
                if case .broken = error { isBroken = true }
                break
            }
            frames.wrote(frame)
        }
        if writer.isDirty { schedule.wrote(at: options.clock.now) }
        let overtaken = queue.update {
            $0.adopted(through: frames.head, frames: frames.frameCount, byteCount: frames.byteCount)
        }
        for waiter in overtaken {
            let error = LogError.sequenceMoved(
                expected: waiter.range.lowerBound, next: frames.head.sequence + 1)
            waiter.completion(waiter.range, .failure(error))
        }
        if let failure, isBroken { freeze(failure) }
        adoption.completion(failure.map { .failure($0) } ?? .success(frames.head))
    }

    /// - Returns: how long the sync took.
    private mutating func synchronize() throws(SegmentWriter.Failure) -> Duration {
        let start = ContinuousClock.now
        try writer.synchronize()
        schedule.synchronized()
        return ContinuousClock.now - start
    }

    private mutating func synchronizeEarlierFrames() {
        do throws(SegmentWriter.Failure) {
            let time = try synchronize()
            queue.update { $0.synchronized(in: time) }
        } catch {
            freeze(error)
        }
    }

    private mutating func freeze(_ failure: SegmentWriter.Failure) {
        freeze(LogError.synchronizing(writer.path, failure.cause))
    }

    private mutating func freeze(_ error: LogError) {
        schedule.synchronized()
        let behind = queue.update { $0.freeze(error) }
        for waiter in behind { waiter.completion(waiter.range, .failure(.handedBack(error))) }
        options.onFreeze?(error)
    }

    /// Writes a mark after the last frame to say that everything before it is complete.
    private mutating func closeLog() {
        defer {
            queue.update { $0.closed() }
            writer.close()
        }
        let open: (head: LogHead, isDurable: Bool)? = queue.withLock { queue in
            guard case .closing = queue.phase else { return nil }
            return (queue.head, queue.durableThrough >= queue.head.sequence)
        }
        guard let (head, isDurable) = open else { return }
        do throws(SegmentWriter.Failure) {
            try writer.synchronize()
        } catch {
            // Events acknowledged early may be lost.
            if !isDurable { freeze(error) }
            return
        }
        let frame = FrameBuilder()
        frame.close(after: head, durableThrough: head.sequence)
        // A failure is harmless: the log then opens as after a crash.
        do throws(SegmentWriter.Failure) {
            try writer.appendIfThereIsRoom(frame, after: head)
            try writer.synchronize()
        } catch { return }
        writer.noteClosed(head)
    }
}

/// `@unchecked Sendable`: a runner never calls it concurrently.
final class SteppedSyncLoop: @unchecked Sendable {
    private var loop: SyncLoop

    init(_ loop: SyncLoop) { self.loop = loop }

    func step() -> LogStep { loop.step() }
}
