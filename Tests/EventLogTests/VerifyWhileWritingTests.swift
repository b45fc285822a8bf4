import Digests
import Disk
import DiskSimulation
import Testing
import Threads

@testable import EventLog

/// A log is examined while a writer appends to it.
@Suite(.bounded) struct VerifyWhileWritingTests {
    /// Whatever is appended between two reads of the examination, a healthy log is intact.
    @Test func whatIsWrittenBetweenTwoReadsIsNoDamage() throws {
        var reads = 0
        var appends = 0
        repeat {
            let disk = SimulatedDisk()
            try makeLog(events: 3, segmentSize: 1 << 16, on: disk)
            let log = try EventLogWriter.open(
                "log", options: testOptions(segmentSize: 1 << 16), fileSystem: disk)
            let before = Lock(reads)
            let hooked = ReadHookedDisk(disk) { path in
                guard path.hasPrefix("log/segments/"),
                    before.withLock({ count in
                        count -= 1
                        return count == -1
                    })
                else { return }
                for number in 4...9 as ClosedRange<UInt64> {
                    _ = try? log.appendAndWait(testBatch(number...number, size: 60))
                }
            }
            let reader = try EventLogReader("log", fileSystem: hooked)
            let report = try reader.verify()
            #expect(report.damages == [], "an append before read \(reads)")
            log.close()
            appends = before.withLock { $0 } < 0 ? 1 : 0
            reads += 1
        } while appends > 0
        #expect(reads > 4)
    }
}

/// A disk on which something happens right before a file is read.
private struct ReadHookedDisk: FileSystem {
    private let disk: SimulatedDisk
    private let hook: @Sendable (String) -> Void

    init(_ disk: SimulatedDisk, _ hook: @escaping @Sendable (String) -> Void) {
        self.disk = disk
        self.hook = hook
    }

    func open(_ path: String, _ mode: FileOpenMode) throws(FileSystemError) -> any File {
        let file = try disk.open(path, mode)
        return mode == .read ? HookedFile(file, hook) : file
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

private final class HookedFile: File {
    private let file: any File
    private let hook: @Sendable (String) -> Void

    init(_ file: any File, _ hook: @escaping @Sendable (String) -> Void) {
        self.file = file
        self.hook = hook
    }

    var path: String { file.path }

    func renamed(to path: String) -> any File { HookedFile(file.renamed(to: path), hook) }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileSystemError) -> Int {
        hook(path)
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
