import Disk
import EventLog
@_spi(Rooms) import RelayRecords
import Testing

@testable import EventStore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Logs that released versions wrote: every later version must read them to the very same state.
///
/// `Tests/Fixtures/log-<format version>` is a data directory and `EXPECTED`, whose lines say the
/// last sequence and the state hash. To write the one of this version, before its release and never
/// after: `RELAY_WRITE_FIXTURES=1 swift test --filter StoredLogTests`.
@Suite(.bounded) struct StoredLogTests {
    private static let fixtures =
        #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" } + "/Fixtures"

    private static let versions = ["1.0", "1.1"]

    private let disk = POSIXFileSystem()

    @Test(arguments: versions)
    func aStoredLogReplaysToItsStatedHash(_ version: String) throws {
        let stored = "\(Self.fixtures)/log-\(version)"
        if version == "\(FormatVersion.current)", getenv("RELAY_WRITE_FIXTURES") != nil {
            try write(to: stored)
        }
        let bytes = try #require(try disk.contents(of: stored + "/EXPECTED"))
        let expected = String(decoding: bytes, as: UTF8.self)
        // Reading takes nothing but the files; a server also writes beside them.
        #expect(try describe(History(stored).snapshot(at: History(stored).last)) == expected)
        let copy = try TemporaryDirectory(copyOf: stored)
        let store = try EventStore.open(copy.path)
        store.journal.close()
        #expect(store.report.checkpoint == 120)
        #expect(store.report.sentences == [])
        #expect(describe(store.snapshot) == expected)
        try disk.remove("\(copy.path)/checkpoints/00000000000000000120.checkpoint")
        let refolded = try EventStore.open(copy.path)
        refolded.journal.close()
        #expect(refolded.report.checkpoint == 0)
        #expect(describe(refolded.snapshot) == expected)
    }

    private func describe(_ snapshot: Snapshot) -> String {
        "sequence \(snapshot.sequence)\nstate \(snapshot.stateHash)\n"
    }

    /// A history with every kind of event and value, across several segments.
    private func write(to path: String) throws {
        let directory = TemporaryDirectory()
        var options = EventStoreOptions()
        options.log.storeID = StoreID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
        options.log.segmentSizeBytes = 1 << 14
        let store = try EventStore.open(directory.path, options: options)
        var snapshot = store.snapshot
        var changes = ChangeSet()
        for event in try RandomHistory(seed: 1, count: 200).events {
            try store.journal.appendAndWait(event)
            try snapshot.fold(event, changes: &changes)
            if event.sequence == 120 { try store.journal.checkpoint(snapshot) }
        }
        store.journal.close()
        try disk.remove(directory.path + "/LOCK")
        try disk.list(directory.path + "/spare")
            .forEach { try disk.remove("\(directory.path)/spare/\($0)") }
        try TemporaryDirectory.copy(directory.path, to: path)
        try disk.replaceFile("EXPECTED", in: path, with: Array(describe(snapshot).utf8))
    }
}
