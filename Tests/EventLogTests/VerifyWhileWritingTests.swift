import Digests
import Disk
import DiskSimulation
import LogTools
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
            let hooked = ReadHookedDisk(disk: disk) { path in
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

    /// META says first that the log begins later; then the segments go, one by one.
    @Test func whatIsDroppedBetweenTwoReadsIsNoDamage() throws {
        var reads = 0
        while true {
            let disk = SimulatedDisk()
            try makeLog(events: 30, on: disk)
            let directory = LogDirectory(path: "log", fileSystem: disk)
            let metadata = try #require(try directory.metadata())
            let checkpoints = CheckpointFiles(directory, storeID: testStoreID)
            for sequence: UInt64 in [10, 20] {
                let header = Checkpoint.Header(
                    sequence: sequence, epoch: 1, foldVersion: 7, stateHash: [0xAB])
                try checkpoints.write(Checkpoint(header: header, payload: [1, 2, 3]), keeping: 2)
            }
            let before = Lock(reads)
            let hooked = ReadHookedDisk(disk: disk) { _ in
                let isNow = before.withLock { count in
                    count -= 1
                    return count == -1
                }
                guard isNow else { return }
                _ = try? directory.dropSegments(
                    before: 20, of: testStoreID, recordingIn: MetadataFile(directory, metadata))
            }
            let report = try EventLogReader("log", fileSystem: hooked).verify()
            let place: Comment = "segments dropped before read \(reads)"
            #expect(report.damages == [], place)
            #expect(report.head.sequence == 30, place)
            if before.withLock({ $0 }) >= 0 { break }
            #expect((report.sequences?.lowerBound ?? 0) > 10, place)
            reads += 1
        }
        #expect(reads > 10)
    }

    /// What cannot be read when it is looked at again is no frame either.
    @Test func aStretchThatCannotBeReadAgainIsNoFrame() throws {
        let disk = SimulatedDisk()
        try makeLog(events: 30, size: 400, segmentSize: 1 << 16, on: disk)
        let directory = LogDirectory(path: "log", fileSystem: disk)
        let source = UnreadableAgain(try directory.openSegment(1, of: testStoreID))
        let scanner = FrameScanner(source)
        guard case .frame = try scanner.next() else {
            Issue.record("the segment has a frame")
            return
        }
        source.isReadable.withLock { $0 = false }
        #expect(try scanner.isFrameNext() == false)
        let tail = try scanner.tail(fault: .magic, nextSequence: 2)
        if case .damaged = tail {} else { Issue.record("\(String(describing: tail))") }
    }
}

/// A segment that turns out to be damaged.
private final class UnreadableAgain: SegmentSource {
    private let source: any SegmentSource
    let isReadable = Lock(true)

    init(_ source: any SegmentSource) { self.source = source }

    var path: String { source.path }
    var header: SegmentHeader { source.header }
    var indexDamage: LogDamage? { source.indexDamage }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(LogError) -> Int {
        guard isReadable.withLock({ $0 }) else {
            throw .damaged(
                LogDamage(file: path, offset: offset, length: nil, sequence: nil, reason: "gone"))
        }
        return try source.read(into: buffer, at: offset)
    }

    func size() throws(LogError) -> UInt64 { try source.size() }
    func readAhead(at offset: UInt64) -> Int { source.readAhead(at: offset) }
    func start(of sequence: UInt64) -> (offset: UInt64, sequence: UInt64) {
        source.start(of: sequence)
    }
    func readable(after offset: UInt64) -> UInt64? { nil }
}

/// A disk on which something happens right before a file is read.
private struct ReadHookedDisk: WrappedDisk {
    let disk: SimulatedDisk
    let hook: @Sendable (String) -> Void

    func willRead(_ count: Int, at offset: UInt64, of file: any File) { hook(file.path) }
}
