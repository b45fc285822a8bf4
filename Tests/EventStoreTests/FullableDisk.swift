import Disk
import Dispatch
import EventLog
import Synchronization
import Threads

/// The disk itself, which can be told to have no room, and to hold back what is read; it knows who reads.
final class FullableDisk: FileSystem {
    private let disk = POSIXFileSystem()
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

    fileprivate func beginRead() {
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

    private func beginTry() {
        let attempt = DispatchSemaphore(value: 0)
        let isHeld = tries.withLock { tries in
            tries.count += 1
            if tries.areHeld { tries.waiting.append(attempt) }
            return tries.areHeld
        }
        if isHeld { attempt.wait() }
    }

    func setFull(_ isFull: Bool) { self.isFull.withLock { $0 = isFull } }

    fileprivate func checkRoom(_ path: String) throws(FileSystemError) {
        let noSpace: Int32 = 28
        if isFull.withLock({ $0 }) {
            throw FileSystemError(call: "pwrite", path: path, errno: noSpace)
        }
    }

    func open(_ path: String, _ mode: FileOpenMode) throws(FileSystemError) -> any File {
        if path.hasSuffix("/spare/room") { beginTry() }
        return FullableFile(try disk.open(path, mode), disk: self)
    }

    func rename(_ source: String, to destination: String) throws(FileSystemError) {
        try disk.rename(source, to: destination)
    }

    func link(_ path: String, as name: String) throws(FileSystemError) {
        try disk.link(path, as: name)
    }

    func remove(_ path: String) throws(FileSystemError) { try disk.remove(path) }

    func list(_ directory: String) throws(FileSystemError) -> [String] { try disk.list(directory) }

    func createDirectory(_ path: String) throws(FileSystemError) {
        try disk.createDirectory(path)
    }

    func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
        try disk.openDirectory(path)
    }
}

private final class FullableFile: File {
    private let file: any File
    private let disk: FullableDisk

    init(_ file: any File, disk: FullableDisk) {
        self.file = file
        self.disk = disk
    }

    var path: String { file.path }

    func renamed(to path: String) -> any File { FullableFile(file.renamed(to: path), disk: disk) }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileSystemError) -> Int {
        disk.beginRead()
        return try file.read(into: buffer, at: offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) -> Int {
        try disk.checkRoom(path)
        return try file.write(bytes, at: offset)
    }

    func synchronizeData() throws(FileSystemError) { try file.synchronizeData() }
    func truncate(to size: UInt64) throws(FileSystemError) { try file.truncate(to: size) }
    func size() throws(FileSystemError) -> UInt64 { try file.size() }
    func tryLock(_ lock: FileLock) throws(FileSystemError) -> Bool { try file.tryLock(lock) }
    func close() { file.close() }
}
