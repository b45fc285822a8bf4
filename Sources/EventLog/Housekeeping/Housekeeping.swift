import Disk
import Threads

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The work of a writer's background thread, as a state machine without a disk.
struct HousekeepingQueue {
    enum Task: Equatable {
        case fillSpare(sizeBytes: UInt64)
        case deflate(UInt64)
        /// Remove the segments that only contain events up to a sequence.
        case drop(through: UInt64)
    }

    /// How many spares to keep ready.
    var sparesWanted: Int
    private let deflates: Bool
    private(set) var spares: [SegmentSupply.Spare] = []
    private var spareSize: UInt64
    /// False after filling has failed, or while an append needs the room, until the next segment starts.
    private(set) var mayFill = true
    private(set) var isFillingNow = false
    /// Filling ended without a spare, and the space it had used is free again.
    private var hasGivenRoomBack = false
    private var sealed: [UInt64] = []
    private var isDeflating = false
    private var unwantedThrough: UInt64?
    private var isDropping = false
    private(set) var isStopped = false

    init(_ log: RecoveredLog, options: EventLogOptions) {
        sparesWanted = options.segmentsAhead
        spares = log.spares
        spareSize = min(log.limit * 2, options.segmentSizeBytes)
        deflates = options.deflatesSealedSegments
        sealed = deflates ? log.segments.dropLast() : []
    }

    /// True while spares are missing and more are being made.
    var isFilling: Bool { mayFill && spares.count < sparesWanted && !isStopped }

    var hasWork: Bool { sparesWanted > 0 || deflates }

    /// Spares come first: an append may soon need one, while nothing waits for a deflated segment.
    mutating func next() -> Task? {
        if isFilling {
            isFillingNow = true
            return .fillSpare(sizeBytes: spareSize)
        }
        if let drop = nextDrop() { return drop }
        guard !sealed.isEmpty else { return nil }
        isDeflating = true
        return .deflate(sealed.removeFirst())
    }

    /// Also done before stopping: it is quick, and the next opportunity may be far away.
    mutating func nextDrop() -> Task? {
        guard let through = unwantedThrough else { return nil }
        unwantedThrough = nil
        isDropping = true
        return .drop(through: through)
    }

    mutating func deflated() {
        isDeflating = false
    }

    /// Events up to a sequence are no longer needed.
    mutating func drop(through sequence: UInt64) {
        unwantedThrough = max(sequence, unwantedThrough ?? 0)
    }

    mutating func dropped(_ segments: [UInt64]) {
        isDropping = false
        sealed.removeAll { segments.contains($0) }
    }

    /// True when nothing is left to do.
    var isIdle: Bool {
        !isFilling && !isDeflating && !isDropping && sealed.isEmpty && unwantedThrough == nil
    }

    mutating func filled(_ spare: SegmentSupply.Spare?) {
        isFillingNow = false
        if let spare {
            spares.append(spare)
        } else {
            mayFill = false
            hasGivenRoomBack = true
        }
    }

    /// An append needs the room.
    mutating func stopFilling() { mayFill = false }

    /// The spares to remove, and whether room was released since the last call; nil while filling is under
    /// way.
    mutating func giveUpSpares() -> (spares: [SegmentSupply.Spare], hasGivenRoomBack: Bool)? {
        if isFillingNow { return nil }
        defer { (spares, hasGivenRoomBack) = ([], false) }
        return (spares, hasGivenRoomBack)
    }

    /// The writer moves to the next segment, using a spare if one is ready.
    mutating func takeSpare() -> SegmentSupply.Spare? {
        spares.isEmpty ? nil : spares.removeFirst()
    }

    /// The writer could not use this spare.
    mutating func giveBack(_ spare: SegmentSupply.Spare) { spares.insert(spare, at: 0) }

    mutating func began(sealing previous: UInt64, nextSpareSize: UInt64) {
        // Filling may have failed for lack of room; a new segment is a good time to try again.
        mayFill = true
        spareSize = nextSpareSize
        if deflates { sealed.append(previous) }
    }

    mutating func stop() {
        isStopped = true
    }
}

/// The thread that fills segments with zeros ahead of the writer and deflates those behind it. The plain file
/// of a deflated segment is refilled for a later one. Segments no longer needed are removed here too, so that
/// none is removed while it is being deflated.
///
/// Anything that fails here is retried later or left undone; appending does not depend on it.
final class Housekeeping: Sendable {
    let queue: Monitor<HousekeepingQueue>
    private let thread: any LogThread

    /// - Returns: nil if there will never be anything to do.
    init?(
        _ queue: HousekeepingQueue, directory: LogDirectory, metadata: MetadataFile,
        storeID: StoreID, options: EventLogOptions
    ) {
        guard queue.hasWork else { return nil }
        let queue = Monitor(queue)
        self.queue = queue
        let work = { @Sendable [onDamage = options.onDamage] in
            HousekeepingWork(queue, directory, metadata, storeID, onDamage)
        }
        if let runner = options.runner {
            let work = work()
            thread = runner.start { work.step() }
        } else {
            thread = BlockingThread {
                Self.yieldToOthers()
                work().run()
            }
        }
    }

    /// Abandons the current work and waits for the thread.
    func stop() {
        queue.update { $0.stop() }
        thread.join()
    }

    /// Gives up spares, ready or being filled, for an append that finds no room. Blocks until they are gone.
    ///
    /// - Returns: whether there may be room now.
    func makeRoom(_ fileSystem: any FileSystem) -> Bool {
        queue.update { $0.stopFilling() }
        let (spares, hasGivenRoomBack) = queue.wait { $0.giveUpSpares() }
        for spare in spares { try? fileSystem.remove(spare.path) }
        return hasGivenRoomBack || !spares.isEmpty
    }

    /// Deflating uses a processor for seconds; requests go first.
    private static func yieldToOthers() {
        #if canImport(Glibc)
            // On Linux, a priority belongs to a thread, and 0 means the calling one.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
        #endif
    }
}

/// Does the work that a ``HousekeepingQueue`` decides on.
///
/// `@unchecked Sendable`: only one thread at a time uses it.
private final class HousekeepingWork: @unchecked Sendable {
    private let queue: Monitor<HousekeepingQueue>
    private let directory: LogDirectory
    private let metadata: MetadataFile
    private let storeID: StoreID
    private let onDamage: (@Sendable (LogDamage) -> Void)?
    private let isStopped: @Sendable () -> Bool
    private let deflater: SegmentDeflater
    private var supply: SegmentSupply

    init(
        _ queue: Monitor<HousekeepingQueue>, _ directory: LogDirectory, _ metadata: MetadataFile,
        _ storeID: StoreID, _ onDamage: (@Sendable (LogDamage) -> Void)?
    ) {
        self.queue = queue
        self.directory = directory
        self.metadata = metadata
        self.storeID = storeID
        self.onDamage = onDamage
        isStopped = { queue.withLock { $0.isStopped } }
        supply = SegmentSupply(directory: directory)
        deflater = SegmentDeflater(
            directory: directory, storeID: storeID,
            keepsPlainFile: queue.withLock { $0.sparesWanted > 0 }, isCancelled: isStopped)
    }

    /// Works until told to stop.
    func run() {
        while let task = queue.wait({ Self.next(&$0) }) { perform(task) }
        supply.discard()
    }

    /// Does the next piece of work, if there is one.
    func step() -> LogStep {
        switch queue.withLock({ Self.next(&$0) }) {
        case nil: return .idle
        case .some(nil):
            supply.discard()
            return .ended
        case .some(let task?):
            perform(task)
            return .worked
        }
    }

    /// - Returns: nil if there is nothing to do now; a nil task if there will be nothing more to do.
    private static func next(_ queue: inout HousekeepingQueue) -> HousekeepingQueue.Task?? {
        if queue.isStopped { return .some(queue.nextDrop()) }
        return queue.next().map { .some($0) }
    }

    private func perform(_ task: HousekeepingQueue.Task) {
        switch task {
        case .fillSpare(let size):
            let spare = try? supply.fill(
                size: size, isCancelled: { queue.withLock { $0.isStopped || !$0.mayFill } })
            queue.update { $0.filled(spare ?? nil) }
        case .deflate(let segment):
            deflate(segment)
            queue.update { $0.deflated() }
        case .drop(let sequence):
            let removed = try? directory.dropSegments(
                before: sequence, of: storeID, recordingIn: metadata)
            queue.update { $0.dropped(removed?.segments ?? []) }
        }
    }

    private func deflate(_ segment: UInt64) {
        do throws(LogError) {
            if try deflater.deflate(segment) { supply.keep(segment) }
        } catch {
            if let damage = error.damage { onDamage?(damage) }
        }
    }
}
