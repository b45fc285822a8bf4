import Logging
@_spi(Rooms) import RelayRecords
import SchemaService
import StoreEngine
import Testing
import Threads

@testable import RelayServer

@Suite struct StorageHealthTests {
    private static let full = JournalError(code: .storageFull, message: "No space left.")

    @Test func aTryThatFindsRoomEndsTheTrouble() {
        let health = StorageHealth(logger: ServiceSchema.noLogger)
        #expect(!health.note(nil))
        #expect(!health.note(Self.full) && health.reason != nil)
        #expect(health.note(nil) && !health.note(nil), "one try at a time")
        health.finishTrial(hasRoom: false)
        #expect(health.reason != nil)
        #expect(health.note(nil))
        health.finishTrial(hasRoom: true)
        #expect(health.reason == nil && health.refusalCount == 1)
    }

    /// What it found was there before the disk took no more.
    @Test func aTryDuringWhichAnAppendIsRefusedFindsNothing() {
        let lines = Lock<[String]>([])
        let health = StorageHealth(
            logger: Logger(label: "test") { _ in
                RecordingHandler { line in lines.withLock { $0.append(line) } }
            })
        _ = health.note(Self.full)
        #expect(health.note(nil))
        _ = health.note(Self.full)
        health.finishTrial(hasRoom: true)
        #expect(health.reason != nil && lines.withLock { $0.count } == 1)
        #expect(health.note(nil), "the next append has it tried again")
        health.finishTrial(hasRoom: true)
        #expect(health.reason == nil && lines.withLock { $0.count } == 2)
        _ = health.note(Self.full)
        health.noteRoom(asOf: 2)
        #expect(health.reason != nil)
        health.noteRoom(asOf: 3)
        #expect(health.reason == nil)
    }
}
