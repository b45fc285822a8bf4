import Logging
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing
import Threads

@testable import RelayServer
@testable import StoreEngine

@Suite struct StorageHealthTests {
    private static let full = JournalError(code: .storageFull, message: "No space left.")

    @Test func aTryThatFindsRoomEndsTheTrouble() async {
        let room = Lock(false)
        let health = StorageHealth(logger: ServiceSchema.noLogger) { room.withLock { $0 } }
        await health.tryRoom()
        #expect(health.reason == nil)
        health.note(Self.full)
        await health.tryRoom()
        #expect(health.reason != nil)
        room.withLock { $0 = true }
        await health.tryRoom()
        #expect(health.reason == nil && health.refusalCount == 1)
    }

    /// Another machine's disk: one turn in a while tries it, and what it appends says that there is room.
    @Test func aDiskThatOnlyAppendsCanTryIsTriedByATurn() async {
        let lines = Lock<[String]>([])
        let later = Lock<[@Sendable () -> Void]>([])
        func passTime() {
            for action in later.withLock({ $0 }) { action() }
            later.withLock { $0 = [] }
        }
        let health = StorageHealth(
            logger: Logger(label: "test") { _ in
                RecordingHandler { line in lines.withLock { $0.append(line) } }
            },
            tasks: EngineTasks(later: { _, action in later.withLock { $0.append(action) } }),
            hasRoom: nil)
        #expect(health.admitsTurn() && !health.refusesMutation())
        health.note(Self.full)
        for _ in 0..<3 { #expect(health.admitsTurn() && health.refusesMutation()) }
        for _ in 0..<3 {
            passTime()
            await health.tryRoom()
            #expect(health.admitsTurn() && !health.refusesMutation(), "this one tries")
            health.note(Self.full)
            #expect(health.admitsTurn() && health.refusesMutation())
        }
        #expect(lines.withLock { $0.count } == 1, "it is said once")
        // A turn that appends nothing says nothing.
        passTime()
        #expect(health.admitsTurn() && !health.refusesMutation())
        passTime()
        #expect(health.admitsTurn() && !health.refusesMutation())
        health.noteAppended()
        #expect(health.reason == nil && lines.withLock { $0.count } == 2)
        for _ in 0..<3 { #expect(health.admitsTurn() && !health.refusesMutation()) }
    }

    /// What it found was there before the disk took no more.
    @Test func aTryDuringWhichAnAppendIsRefusedFindsNothing() async {
        let lines = Lock<[String]>([])
        let meanwhile = OneTime()
        let health = StorageHealth(
            logger: Logger(label: "test") { _ in
                RecordingHandler { line in lines.withLock { $0.append(line) } }
            },
            hasRoom: {
                meanwhile.run()
                return true
            })
        health.note(Self.full)
        meanwhile.set { health.note(Self.full) }
        await health.tryRoom()
        #expect(health.reason != nil && lines.withLock { $0.count } == 1)
        await health.tryRoom()
        #expect(health.reason == nil && lines.withLock { $0.count } == 2)
    }

    /// One for each, whoever asks meanwhile.
    @Test func aTurnIsTakenWhenItHasBeenTriedForIt() async throws {
        let tries = Lock(0)
        let gate = Gate()
        let health = StorageHealth(logger: ServiceSchema.noLogger) {
            tries.withLock { $0 += 1 }
            await gate.pass()
            return false
        }
        let told = Lock(0)
        health.whenTried { told.withLock { $0 += 1 } }
        #expect(health.admitsTurn() && health.admitsTurn())
        health.note(Self.full)
        #expect(!health.admitsTurn() && !health.admitsTurn())
        try await eventually("the try") { gate.waitingCount == 1 ? true : nil }
        gate.open()
        try await eventually("its end") { told.withLock { $0 } == 1 ? true : nil }
        #expect(health.admitsTurn() && tries.withLock { $0 } == 1)
        #expect(!health.admitsTurn(), "the next turn needs another")
        try await eventually("its end") { told.withLock { $0 } == 2 ? true : nil }
    }
}
