package import Disk
import Threads

/// The only writer of a log.
///
/// Everything appended while the disk is busy shares the next write and the next sync (group commit); nothing
/// waits on purpose. Checksums and hashes are computed on the appending threads, while a thread owned by the
/// log waits for the disk.
///
///     let log = try EventLogWriter.open("relay-data")
///     let range = try log.enqueue(batch) { result in … }   // sequences at once, result when durable
///     let range = try await log.append(batch)              // returns when durable
///     log.close()
///
/// - A batch is atomic: after a crash, either all of its events are there or none.
/// - Sequences are assigned when a batch is enqueued. If a batch fails, every batch enqueued after it and not
///   yet durable fails too, and the next batch gets the failed one's sequences again. A caller that builds on
///   what it enqueued passes the sequence it expects (`expecting`), so that a batch made before it learned of
///   the failure is refused.
/// - If the disk is full, a batch fails with `storageFull` and the log continues.
/// - The first other failure freezes the log: it acknowledges nothing more and must be reopened, because it
///   is unknown which of the unacknowledged bytes are on the disk.
package final class EventLogWriter: Sendable {
    package typealias Completion = @Sendable (Result<UInt64, LogError>) -> Void

    package let metadata: LogMetadata
    package let recovery: RecoveryReport
    /// It is a copy of a journal that others write to, too.
    package let isShared: Bool
    private let queue: Monitor<AppendQueue>
    let directory: LogDirectory
    private let housekeeping: Housekeeping?
    /// Ends when the log is closed, releasing the lock.
    private let thread: any LogThread

    /// Takes the lock of a directory and opens the log in it, or creates one.
    ///
    /// A write interrupted by a crash is copied aside and cut off, as reported in ``recovery``.
    /// - Throws: `locked`, `damaged` (with file and byte), `futureVersion`, `readOnly`, `storageFull`,
    ///   `inputOutput`; `conflict` if the epoch must be raised and is the last.
    package static func open(
        _ directory: String, options: EventLogOptions = EventLogOptions(),
        fileSystem: any FileSystem = POSIXFileSystem()
    ) throws(LogError) -> EventLogWriter {
        let directory = LogDirectory(path: directory, fileSystem: fileSystem)
        let lock = try directory.takeLock()
        let recovered = try Recovery(directory: directory, options: options).run()
        return EventLogWriter(recovered, lock: lock, directory: directory, options: options)
    }

    private init(
        _ log: RecoveredLog, lock: any File, directory: LogDirectory, options: EventLogOptions
    ) {
        metadata = log.metadata
        recovery = log.report
        isShared = options.shared != nil
        self.directory = directory
        let queue = Monitor(
            AppendQueue(
                head: log.head, epoch: log.metadata.epoch,
                maximumWaitingBytes: options.maximumWaitingBytes,
                // A log that is run in steps has no other threads.
                hashing: options.runner == nil ? HashingThread() : nil))
        self.queue = queue
        let metadataFile = MetadataFile(directory, log.metadata)
        housekeeping = Housekeeping(
            HousekeepingQueue(log, options: options), directory: directory,
            metadata: metadataFile, storeID: log.metadata.storeID, options: options)
        let begin: @Sendable () -> SyncLoop = { [housekeeping] in
            SyncLoop(
                queue: queue,
                writer: SegmentWriter(
                    log, in: directory, metadata: metadataFile,
                    largestSize: options.segmentSizeBytes, housekeeping: housekeeping),
                options: options)
        }
        let end: @Sendable () -> Void = { [housekeeping] in
            queue.withLock { $0.takeLast() }?()
            housekeeping?.stop()
            lock.close()
        }
        if let runner = options.runner {
            let loop = SteppedSyncLoop(begin())
            thread = runner.start {
                let step = loop.step()
                if step == .ended { end() }
                return step
            }
        } else {
            thread = BlockingThread {
                var loop = begin()
                loop.run()
                end()
            }
        }
    }

    /// Also closes the log, without waiting: the last reference may be released in a completion.
    deinit { queue.update { $0.close() } }

    /// The last acknowledged event.
    package var head: LogHead { queue.withLock { $0.head } }

    /// The sequence that the next event will get, unless a waiting batch fails.
    package var nextSequence: UInt64 { queue.withLock { $0.nextSequence } }

    package var statistics: AppendStatistics { queue.withLock { $0.statistics } }

    /// Bytes of events waiting for the disk.
    package var waitingBytes: Int { queue.withLock { $0.waitingBytes } }

    /// Assigns sequences to the events and queues them for the disk. Does not block.
    ///
    /// - Parameters:
    ///   - expecting: the sequence that the first event must get.
    ///   - completion: called once, on the log's thread and in order of sequence, with the sequence through
    ///     which the log is now acknowledged. It must not block, because the disk is idle until it returns.
    /// - Throws: `frozen`, `closed`, `queueFull`, `sequenceMoved`, `unacceptableBatch`; the completion is
    ///   then not called.
    @discardableResult
    package func enqueue(
        _ batch: EventBatch, expecting: UInt64? = nil, completion: @escaping Completion
    ) throws(LogError) -> ClosedRange<UInt64> {
        try enqueue(batch, expecting: expecting) { _, result in completion(result) }
    }

    private func enqueue(
        _ batch: EventBatch, expecting: UInt64?, completion: @escaping AppendQueue.Completion
    ) throws(LogError) -> ClosedRange<UInt64> {
        try queue.update { queue throws(LogError) in
            try queue.enqueue(batch, expecting: expecting, completion: completion)
        }
    }

    /// Writes frames that other processes appended to the shared journal (``EventLogOptions/shared``). Does not
    /// block. Frames that are here already are passed over.
    ///
    /// Appends that wait fail with `sequenceMoved`: they were made before these frames were known.
    /// - Parameter completion: called once, on the log's thread, with the head after them. It fails with
    ///   `conflict` if they do not continue the log, which then has those that do.
    /// - Throws: `frozen`, `closed`; `queueFull` if others wait already. The completion is then not called.
    package func adopt(
        _ frames: [WholeFrame],
        completion: @escaping @Sendable (Result<LogHead, LogError>) -> Void
    ) throws(LogError) {
        try queue.update { queue throws(LogError) in
            try queue.adopt(AppendQueue.Adoption(frames: frames, completion: completion))
        }
    }

    /// Like ``adopt(_:completion:)``, but blocks until the frames are written.
    @discardableResult
    package func adoptAndWait(_ frames: [WholeFrame]) throws(LogError) -> LogHead {
        let outcome = Monitor<Result<LogHead, LogError>?>(nil)
        try adopt(frames) { result in outcome.update { $0 = result } }
        return try outcome.wait { $0 }.get()
    }

    /// Appends and suspends until the events are acknowledged. Throws like ``enqueue``.
    package func append(
        _ batch: EventBatch, expecting: UInt64? = nil
    ) async throws(LogError) -> ClosedRange<UInt64> {
        let result: Result<ClosedRange<UInt64>, LogError> = await withCheckedContinuation {
            waiting in
            do throws(LogError) {
                _ = try enqueue(batch, expecting: expecting) { range, result in
                    waiting.resume(returning: result.map { _ in range })
                }
            } catch {
                waiting.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    /// Appends and blocks until the events are acknowledged; waits for room if the queue is full.
    ///
    /// For tools and dedicated threads, never for the cooperative pool.
    @discardableResult
    package func appendAndWait(_ batch: EventBatch) throws(LogError) -> ClosedRange<UInt64> {
        let outcome = Monitor<Result<UInt64, LogError>?>(nil)
        while true {
            do throws(LogError) {
                let range = try enqueue(batch) { result in outcome.update { $0 = result } }
                _ = try outcome.wait { $0 }.get()
                return range
            } catch  where error.code == .queueFull {
                queue.wait { $0.hasRoom(for: batch.bytes.count) ? true : nil }
            }
        }
    }

    /// Schedules the removal of segments that only contain events up to a sequence, so that the log begins
    /// later. Does not wait; what cannot be removed now stays until the next call. Requires
    /// ``EventLogOptions/segmentsAhead`` or ``EventLogOptions/deflatesSealedSegments``.
    ///
    /// - Parameter sequence: of a valid checkpoint, from which a start can continue.
    package func drop(through sequence: UInt64) {
        housekeeping?.queue.update { $0.drop(through: sequence) }
    }

    /// Whether the disk currently has room for another 64 KiB: writes a file of that size and removes it.
    /// Blocks on the disk. False without trying if the log is closed.
    package func tryRoom() -> Bool {
        guard queue.withLock({ !$0.isClosing }) else { return false }
        let path = directory.sparePath + "/room"
        defer { try? directory.fileSystem.remove(path) }
        do throws(FileSystemError) {
            let file = try directory.fileSystem.open(path, .replace)
            defer { file.close() }
            try file.writeZeros(0..<1 << 16)
            return true
        } catch {
            return false
        }
    }

    /// Blocks until all the requested segments ahead are ready, or cannot be made. From then on, one is kept
    /// ready.
    func useUpSpares() {
        housekeeping?.queue.wait { queue -> Bool? in
            guard !queue.isFilling else { return nil }
            queue.sparesWanted = 1
            return true
        }
    }

    /// Blocks until the segments ahead are filled and those behind are deflated; false on timeout.
    func waitForHousekeeping(milliseconds: Int) -> Bool {
        housekeeping?.queue.wait(milliseconds: milliseconds) { $0.isIdle ? true : nil } ?? false
    }

    /// Blocks until everything enqueued is in flight to the disk.
    func waitUntilTaken() {
        queue.wait { $0.isTaken ? true : nil }
    }

    /// Blocks until ``close(last:)`` is called.
    func waitUntilClosing() {
        queue.wait { queue -> Bool? in if case .open = queue.phase { nil } else { true } }
    }

    /// Writes and syncs what waits, marks the log as closed, and releases the lock.
    ///
    /// Blocks until then, so it must not be called in a completion. Later appends fail with `closed`.
    /// - Parameter last: slow work that needs the lock but not the log. It runs on the log's thread after the
    ///   log is marked, so a process killed in the middle of it has still closed the log properly. Only the
    ///   first call to close the log has its work run.
    package func close(last: @escaping @Sendable () -> Void = {}) {
        queue.update { $0.close(last: last) }
        thread.join()
    }
}
