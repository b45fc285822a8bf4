/// The sync thread's work: take what waits, write it as one frame, sync once, tell everyone.
struct SyncLoop {
    let queue: Monitor<AppendQueue>
    let writer: SegmentWriter
    let options: EventLogOptions
    /// Called when the log is closed with everything on the disk.
    let onClose: () -> Void

    private enum Work {
        case group(AppendQueue.Group)
        /// Something written early is due for its sync.
        case synchronize
        case stop
    }

    func run() {
        var work = nextWork()
        while true {
            switch work {
            case .group(let group): work = write(group) ?? nextWork()
            case .synchronize:
                synchronizeEarlierFrames()
                work = nextWork()
            case .stop:
                closeLog()
                return
            }
        }
    }

    private func nextWork() -> Work {
        // Taking a group makes room for whoever waits for it.
        defer { queue.notify() }
        if options.durability == .batch && writer.isDirty {
            let interval = options.syncIntervalMilliseconds
            return queue.wait(milliseconds: interval) { Self.work(&$0) } ?? .synchronize
        }
        return queue.wait { Self.work(&$0) }
    }

    private static func work(_ queue: inout AppendQueue) -> Work? {
        if let group = queue.takeGroup() { return .group(group) }
        switch queue.phase {
        case .open, .frozen: return nil
        case .closing, .closed: return .stop
        }
    }

    /// - Returns: what to do next, when it is known already.
    private func write(_ group: AppendQueue.Group) -> Work? {
        let isEarly = options.durability != .always
        let byteCount = group.frame.size
        let chain = group.frame.close(
            after: group.head, durableThrough: group.durableThrough)
        var syncTime = Duration.zero
        do throws(SegmentWriter.Failure) {
            try writer.append(group.frame, after: group.head)
            if !isEarly { syncTime = try synchronize() }
        } catch {
            fail(group, error)
            return nil
        }
        // The next group is taken before anyone hears of this one: what they append in answer
        // is prepared while that group is on its way to the disk.
        let next = queue.update { queue in
            queue.finish(group, chain: chain, byteCount: byteCount)
            if !isEarly { queue.synchronized(in: syncTime) }
            return queue.takeGroup()
        }
        for waiter in group.waiters {
            waiter.completion(waiter.range, .success(group.range.upperBound))
        }
        return next.map { .group($0) }
    }

    private func fail(_ group: AppendQueue.Group, _ failure: SegmentWriter.Failure) {
        let error: LogError
        let isFrozen: Bool
        switch failure {
        case .noRoom(let cause):
            error = .append(group.range, to: writer.path, cause)
            isFrozen = false
        case .broken(let cause):
            error = .append(group.range, to: writer.path, cause)
            isFrozen = true
        }
        let behind = queue.update { $0.fail(group, freezing: isFrozen ? error : nil) }
        for waiter in group.waiters { waiter.completion(waiter.range, .failure(error)) }
        for waiter in behind { waiter.completion(waiter.range, .failure(.handedBack(error))) }
        if isFrozen { options.onFreeze?(error) }
    }

    /// - Returns: how long it has taken.
    private func synchronize() throws(SegmentWriter.Failure) -> Duration {
        let start = ContinuousClock.now
        try writer.synchronize()
        return ContinuousClock.now - start
    }

    private func synchronizeEarlierFrames() {
        do throws(SegmentWriter.Failure) {
            let time = try synchronize()
            queue.update { $0.synchronized(in: time) }
        } catch {
            freeze(error)
        }
    }

    private func freeze(_ failure: SegmentWriter.Failure) {
        let cause: FileSystemError
        switch failure {
        case .noRoom(let error), .broken(let error): cause = error
        }
        let error = LogError.synchronizing(writer.path, cause)
        let behind = queue.update { $0.freeze(error) }
        for waiter in behind { waiter.completion(waiter.range, .failure(.handedBack(error))) }
        options.onFreeze?(error)
    }

    /// Leaves a mark behind the last frame that says everything before it is whole.
    private func closeLog() {
        defer {
            queue.update { $0.closed() }
            writer.close()
        }
        let open: LogHead? = queue.withLock {
            if case .closing = $0.phase { $0.head } else { nil }
        }
        guard let head = open else { return }
        let frame = FrameBuilder()
        frame.close(after: head, durableThrough: head.sequence)
        // Failing is no loss: the log then opens as after a crash.
        guard (try? writer.synchronize()) != nil,
            (try? writer.append(frame, after: head)) != nil
        else { return }
        guard (try? writer.synchronize()) != nil else { return }
        onClose()
    }
}
