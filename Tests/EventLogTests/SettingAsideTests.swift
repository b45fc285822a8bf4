import BoundedTesting
import Disk
import Testing

@testable import EventLog

/// Logs that are moved into a directory inside their own.
@Suite(.bounded) struct SettingAsideTests {
    private let place: TemporaryDirectory
    private let fileSystem = POSIXFileSystem()
    private let directory: LogDirectory

    init() throws {
        place = try TemporaryDirectory()
        directory = LogDirectory(path: place.path, fileSystem: fileSystem)
    }

    private func open() throws -> EventLogWriter {
        try EventLogWriter.open(place.path, options: testOptions(), fileSystem: fileSystem)
    }

    private func makeLog(_ numbers: ClosedRange<UInt64>) throws {
        let log = try open()
        try log.appendAndWait(testBatch(numbers))
        log.close()
    }

    @Test func theLogIsWholeThereAndAnotherOneTakesItsPlace() throws {
        for number in 1...2 {
            try makeLog(1...UInt64(number))
            let aside = try directory.setAside()
            #expect(aside == place.path + "/damaged-\(number)")
            let moved = try EventLogReader(aside, fileSystem: fileSystem)
            #expect(try moved.allEvents() == recorded(1...UInt64(number)))
            #expect(try !directory.hasMetadata())
        }
        try makeLog(1...7)
        #expect(
            try EventLogReader(place.path, fileSystem: fileSystem).allEvents() == recorded(1...7))
    }

    @Test func aLogThatIsUsedStaysWhereItIs() throws {
        let log = try open()
        defer { log.close() }
        let error = #expect(throws: LogError.self) { try directory.setAside() }
        #expect(error?.code == .locked)
        #expect(try directory.hasMetadata())
    }

    /// The next start finds damage, which is what has the log moved aside.
    @Test func aMoveThatACrashInterruptedGoesOn() throws {
        try makeLog(1...3)
        try fileSystem.createDirectory(place.path + "/damaged-1")
        try fileSystem.rename(directory.segmentsPath, to: place.path + "/damaged-1/segments")
        let error = #expect(throws: LogError.self) { try open() }
        #expect(error?.code == .damaged)
        #expect(try directory.setAside() == place.path + "/damaged-2")
        try makeLog(1...1)
    }
}
