import Disk
import DiskSimulation
import Dispatch
import EventLog
import Synchronization
import Threads

/// The disk itself, which can be told to have no room, and to hold back what is read; it knows who reads.
final class FullableDisk: WrappedDisk {
    let disk = POSIXFileSystem()
    private let isFull = Lock(false)

    private let reads = Lock((areHeld: false, waiting: [DispatchSemaphore]()))

    /// Reads that are held back.
    var heldReadCount: Int { reads.withLock { $0.waiting.count } }

    private let pooledReads = Atomic(0)

    /// Reads by tasks, whose threads have other things to do.
    var pooledReadCount: Int { pooledReads.load(ordering: .acquiring) }

    /// From now on reads wait for ``releaseReads()``.
    func holdReads() { reads.withLock { $0.areHeld = true } }

    func releaseReads() {
        let waiting = reads.withLock { reads in
            reads.areHeld = false
            defer { reads.waiting = [] }
            return reads.waiting
        }
        for read in waiting { read.signal() }
    }

    func willRead(_ count: Int, at offset: UInt64, of file: any File) {
        if withUnsafeCurrentTask(body: { $0 != nil }) {
            pooledReads.add(1, ordering: .acquiringAndReleasing)
        }
        let read = DispatchSemaphore(value: 0)
        let isHeld = reads.withLock { reads in
            if reads.areHeld { reads.waiting.append(read) }
            return reads.areHeld
        }
        if isHeld { read.wait() }
    }

    private let tries = Lock((count: 0, areHeld: false, waiting: [DispatchSemaphore]()))

    /// How often was tried whether there is room.
    var tryCount: Int { tries.withLock { $0.count } }

    /// From now on tries wait for ``releaseTries()``.
    func holdTries() { tries.withLock { $0.areHeld = true } }

    func releaseTries() {
        let waiting = tries.withLock { tries in
            tries.areHeld = false
            defer { tries.waiting = [] }
            return tries.waiting
        }
        for attempt in waiting { attempt.signal() }
    }

    func willOpen(_ path: String) {
        guard path.hasSuffix("/spare/room") else { return }
        let attempt = DispatchSemaphore(value: 0)
        let isHeld = tries.withLock { tries in
            tries.count += 1
            if tries.areHeld { tries.waiting.append(attempt) }
            return tries.areHeld
        }
        if isHeld { attempt.wait() }
    }

    func setFull(_ isFull: Bool) { self.isFull.withLock { $0 = isFull } }

    func willWrite(to path: String) throws(FileSystemError) {
        let noSpace: Int32 = 28
        if isFull.withLock({ $0 }) {
            throw FileSystemError(call: "pwrite", path: path, errno: noSpace)
        }
    }
}
