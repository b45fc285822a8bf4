import Disk
import Foundation
import LogTools
import Testing

@testable import EventLog

/// Logs written by released versions stay in Fixtures and must always read as they did.
@Suite(.bounded) struct StoredLogTests {
    private static let fixtures = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().appendingPathComponent("Fixtures")

    /// Five events in two frames of a segment that is deflated now, one in the next.
    private static func write(to path: String) throws {
        let log = try EventLogWriter.open(path, options: testOptions(segmentSize: 700))
        try log.appendAndWait(testBatch(1...2, size: 60))
        try log.appendAndWait(testBatch(3...5, size: 60))
        try log.appendAndWait(testBatch(6...6, size: 60))
        let header = Checkpoint.Header(
            sequence: 4, epoch: 1, foldVersion: 7, stateHash: [0xAB, 0xCD])
        try log.checkpoints.write(
            Checkpoint(header: header, payload: Array("the state".utf8)), keeping: 1)
        log.close()
        let directory = LogDirectory(path: path, fileSystem: POSIXFileSystem())
        #expect(
            try SegmentDeflater(directory: directory, storeID: testStoreID).deflate(1))
    }

    @Test(arguments: [FormatVersion(major: 1, minor: 0), FormatVersion(major: 1, minor: 1)])
    func theLogOfAReleasedVersionReadsAsItWasWritten(_ version: FormatVersion) throws {
        let path = Self.fixtures.appendingPathComponent("log-\(version)").path
        if version == .current, getenv("RELAY_WRITE_FIXTURES") != nil {
            try? FileManager.default.removeItem(atPath: path)
            try Self.write(to: path)
            for name in ["LOCK", "spare"] {
                try FileManager.default.removeItem(atPath: path + "/" + name)
            }
        }
        let reader = try EventLogReader(path)
        #expect(reader.metadata.version == version)
        #expect(reader.metadata.storeID == testStoreID)
        #expect(try reader.allEvents() == recorded(1...6, size: 60))
        let found = try reader.verify()
        #expect(found.damages == [])
        #expect(found.segments == 2)
        #expect(found.frames == 4)
        #expect(found.head.sequence == 6)
        #expect(found.head.epoch == 1)
        #expect(found.unknowns.isEmpty == (version.minor > 0))
        #expect(
            found.head.hash.description
                == "466c30f358444360c7ec5dad31d942e104589283824ae77e9d800816198f43a1")
        let checkpoint = try reader.checkpoints.newest(foldVersions: 7...7, through: 6).checkpoint
        #expect(checkpoint?.header.sequence == 4)
        #expect(checkpoint?.header.stateHash == [0xAB, 0xCD])
        #expect(checkpoint?.payload == Array("the state".utf8))
    }

    @Test func thisVersionStillWritesTheSameBytes() throws {
        let directory = try TemporaryDirectory()
        try Self.write(to: directory.path)
        let stored = Self.fixtures.appendingPathComponent("log-\(FormatVersion.current)")
        for name in ["META", "segments/00000000000000000006.log"] {
            let written = try Data(
                contentsOf: URL(fileURLWithPath: directory.path).appendingPathComponent(name))
            #expect(try Data(contentsOf: stored.appendingPathComponent(name)) == written)
        }
    }
}
