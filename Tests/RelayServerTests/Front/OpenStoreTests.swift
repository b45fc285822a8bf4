import EventStore
import Foundation
import Logging
@_spi(Rooms) import RelayRecords
import Testing
import Threads

@testable import RelayServer

@Suite(.bounded) struct OpenStoreTests {
    /// It lives as long as the server: what it kept of the start would never be freed.
    @Test func itKeepsNoState() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "relay-open-\(UUID())").path()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let configuration = Server.Configuration(
            schema: try Example.text("todo.graphql"), storage: .directory(directory))
        let (store, folded) = try await OpenStore.open(
            configuration, logger: ServiceSchema.noLogger)
        #expect(folded.snapshot.sequence == 1)
        #expect(folded.tail != nil)
        for kept in Mirror(reflecting: store).children {
            #expect(!(kept.value is Snapshot) && !(kept.value is HistoryTail))
        }
        await store.close()
    }

    /// Nobody waits for a checkpoint, so only the log tells that none is written any more.
    @Test func aCheckpointThatCannotBeWrittenIsLogged() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "relay-open-\(UUID())").path()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let configuration = Server.Configuration(
            schema: try Example.text("todo.graphql"), storage: .directory(directory))
        let lines = Lock<[String]>([])
        let logger = Logger(label: "test") { _ in
            RecordingHandler { line in lines.withLock { $0.append(line) } }
        }
        let (store, folded) = try await OpenStore.open(configuration, logger: logger)
        try FileManager.default.removeItem(atPath: directory + "/checkpoints")
        try Data().write(to: URL(filePath: directory + "/checkpoints"))
        await store.close(checkpointing: folded.snapshot)
        let told = lines.withLock { $0 }
        #expect(told.contains { $0.hasPrefix("No checkpoint was written.") }, "\(told)")
    }
}
