import Disk
import DiskSimulation
import EventLog
import Threads

/// A disk in memory that notes what no reader may ask of a disk: more bytes at once than there are, bytes behind
/// the last offset that a file can have, and more and more without an end.
final class MeteredDisk: FileSystem {
    private struct State {
        var reads = 0
        var excesses: [String] = []
    }

    let disk: SimulatedDisk
    private let state = Lock(State())

    /// More at once than any reader of a small log needs.
    private static let usualRead = 1 << 18
    /// A small log takes some hundreds.
    private static let maximumReads = 100_000

    init(_ disk: SimulatedDisk) { self.disk = disk }

    /// A sentence for each thing that was asked too much.
    var excesses: [String] { state.withLock { $0.excesses } }

    fileprivate func note(
        _ count: Int, at offset: UInt64, of size: UInt64, in path: String
    ) throws(FileSystemError) {
        let isEndless = state.withLock { state in
            state.reads += 1
            if count > max(Self.usualRead, Int(clamping: size)) {
                state.excesses.append("\(count) bytes at once of \(path), which has \(size)")
            }
            if offset > UInt64(Int64.max) - UInt64(count) {
                state.excesses.append("\(count) bytes at \(offset) of \(path)")
            }
            if state.reads == Self.maximumReads { state.excesses.append("reads without an end") }
            return state.reads >= Self.maximumReads
        }
        guard isEndless else { return }
        throw FileSystemError(call: "pread", path: path, errno: SimulatedDisk.inputOutput)
    }

    func open(_ path: String, _ mode: FileOpenMode) throws(FileSystemError) -> any File {
        MeteredFile(try disk.open(path, mode), of: self)
    }

    func rename(_ source: String, to destination: String) throws(FileSystemError) {
        try disk.rename(source, to: destination)
    }

    func link(_ path: String, as name: String) throws(FileSystemError) {
        try disk.link(path, as: name)
    }

    func remove(_ path: String) throws(FileSystemError) { try disk.remove(path) }
    func list(_ path: String) throws(FileSystemError) -> [String] { try disk.list(path) }
    func createDirectory(_ path: String) throws(FileSystemError) {
        try disk.createDirectory(path)
    }
    func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
        try disk.openDirectory(path)
    }
}

private final class MeteredFile: File {
    private let file: any File
    private let disk: MeteredDisk

    init(_ file: any File, of disk: MeteredDisk) {
        self.file = file
        self.disk = disk
    }

    var path: String { file.path }
    func renamed(to path: String) -> any File { MeteredFile(file.renamed(to: path), of: disk) }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileSystemError) -> Int {
        try disk.note(buffer.count, at: offset, of: try file.size(), in: path)
        return try file.read(into: buffer, at: offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) -> Int {
        try file.write(bytes, at: offset)
    }

    func synchronizeData() throws(FileSystemError) { try file.synchronizeData() }
    func truncate(to size: UInt64) throws(FileSystemError) { try file.truncate(to: size) }
    func size() throws(FileSystemError) -> UInt64 { try file.size() }
    func tryLock(_ lock: FileLock) throws(FileSystemError) -> Bool { try file.tryLock(lock) }
    func close() { file.close() }
}
