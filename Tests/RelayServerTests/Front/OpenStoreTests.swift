import EventStore
import Foundation
@_spi(Rooms) import RelayRecords
import Testing

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
}
