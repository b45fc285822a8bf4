package import Disk
import Threads

/// The one writer of a log.
///
/// Everything that is appended while the disk is busy shares the next write and the next sync
/// (group commit); nothing waits on purpose. Checksum and hash of what waits are computed on the
/// appending threads, while a thread of the log's own waits for the disk.
///
///     let log = try EventLogWriter.open("relay-data")
///     let range = try log.enqueue(batch) { result in … }   // sequences at once, result when durable
///     let range = try await log.append(batch)              // returns when durable
///     log.close()
///
/// - A batch is one step: after a crash all of its events are there or none.
/// - Sequences are given out when a batch is enqueued. When a batch fails, every batch enqueued
///   after it and not yet durable fails too, and the next batch gets the failed one's sequences
///   again. A caller that builds on what it enqueued says which sequence it counts on
///   (`expecting`), so that a batch made before it heard of the failure is refused.
/// - Without room on the disk a batch fails with `storageFull` and the log goes on.
/// - The first other failure freezes the log: it acknowledges nothing any more, and has to be
///   opened anew, since it is not known which of the unacknowledged bytes the disk has.
package final class EventLogWriter: Sendable {
    package typealias Completion = @Sendable (Result<UInt64, LogError>) -> Void

    package let metadata: LogMetadata
    package let recovery: RecoveryReport
    private let queue: Monitor<AppendQueue>
    let directory: LogDirectory
    private let housekeeping: Housekeeping?
    /// Ends when the log is closed, giving the lock back.
    private let thread: any LogThread

    /// Opens the log in a directory, making it when there is none, after taking its lock.
    ///
    /// A write that a crash interrupted is copied aside and cut; ``recovery`` says so.
    /// - Throws: `locked`, `damaged` (with file and byte), `futureVersion`, `readOnly`,
    ///   `storageFull`, `inputOutput`.
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
        self.directory = directory
        let queue = Monitor(
            AppendQueue(
                head: log.head, maximumWaitingBytes: options.maximumWaitingBytes,
                // What runs the log in steps has no other threads.
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

    /// Closes the log too, without waiting: the last reference may go in a completion.
    deinit { queue.update { $0.close() } }

    /// The last acknowledged event.
    package var head: LogHead { queue.withLock { $0.head } }

    /// The sequence that the next event will get, unless one that waits fails.
    package var nextSequence: UInt64 { queue.withLock { $0.nextSequence } }

    package var statistics: AppendStatistics { queue.withLock { $0.statistics } }

    /// Bytes of events that wait for the disk.
    package var waitingBytes: Int { queue.withLock { $0.waitingBytes } }

    /// Gives the events their sequences and queues them for the disk. Does not block.
    ///
    /// - Parameters:
    ///   - expecting: the sequence that the first event has to get.
    ///   - completion: called once, from the log's thread and in the order of sequences, with the
    ///     sequence through which the log is now acknowledged. Must not block: the disk idles.
    /// - Throws: `frozen`, `closed`, `queueFull`, `sequenceMoved`, `unacceptableBatch`; the
    ///   completion is not called then.
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

    /// Appends and suspends until the events are acknowledged. Throws as ``enqueue`` does.
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

    /// Appends and blocks until the events are acknowledged; waits for room when the queue is full.
    ///
    /// For tools and threads of one's own, never for the cooperative pool.
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

    /// Has the segments removed that have events up to a sequence only: the log begins later then. Does not
    /// wait; what cannot be removed now stays until the next call. Needs ``EventLogOptions/segmentsAhead``
    /// or ``EventLogOptions/deflatesSealedSegments``.
    ///
    /// - Parameter sequence: of a valid checkpoint, from which a start goes on.
    package func drop(through sequence: UInt64) {
        housekeeping?.queue.update { $0.drop(through: sequence) }
    }

    /// Whether the disk takes 64 KiB more just now: a file of that size is written and removed. Blocks for
    /// the disk. Of a log that is closed nothing is tried.
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

    /// Blocks until all the segments that are wanted ahead are there, or cannot be made; from then
    /// on one is kept ready.
    func useUpSpares() {
        housekeeping?.queue.wait { queue -> Bool? in
            guard !queue.isFilling else { return nil }
            queue.sparesWanted = 1
            return true
        }
    }

    /// Blocks until segments ahead are filled and those behind deflated; false when that took
    /// longer.
    func waitForHousekeeping(milliseconds: Int) -> Bool {
        housekeeping?.queue.wait(milliseconds: milliseconds) { $0.isIdle ? true : nil } ?? false
    }

    /// Blocks until everything enqueued is on its way to the disk.
    func waitUntilTaken() {
        queue.wait { $0.isTaken ? true : nil }
    }

    /// Blocks until ``close(last:)`` was called.
    func waitUntilClosing() {
        queue.wait { queue -> Bool? in if case .open = queue.phase { nil } else { true } }
    }

    /// Writes and syncs what waits, marks the log as closed, and gives the lock back.
    ///
    /// Blocks until then, so not to be called in a completion. Later appends fail with `closed`.
    /// - Parameter last: what takes time and needs the lock, not the log. It is done, on the log's thread, when the log
    ///   is marked: who is killed in the middle of it has closed the log in order. Only the first who closes the log has this done.
    package func close(last: @escaping @Sendable () -> Void = {}) {
        queue.update { $0.close(last: last) }
        thread.join()
    }
}
