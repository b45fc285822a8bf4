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
}

/// A disk on which something happens right before a file is read.
private struct ReadHookedDisk: WrappedDisk {
    let disk: SimulatedDisk
    let hook: @Sendable (String) -> Void

    func willRead(_ count: Int, at offset: UInt64, of file: any File) { hook(file.path) }
}
