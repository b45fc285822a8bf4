import EventLog
import EventStore
import Foundation
import GraphQLExecution
import Logging
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing
import Threads

@testable import RelayServer

@Suite(.bounded) struct OpenStoreTests {
    private let directory = FileManager.default.temporaryDirectory
        .appending(path: "relay-open-\(UUID())").path()

    /// A store whose log's lines can be looked at.
    private func open(
        _ change: (inout EventStoreOptions) -> Void = { _ in }
    ) async throws -> (store: OpenStore, folded: OpenStore.Folded, lines: Lines) {
        var options = EventStoreOptions()
        change(&options)
        let configuration = Server.Configuration(
            schema: try Example.text("todo.graphql"), storage: .directory(directory, options))
        let lines = Lines()
        let logger = Logger(label: "test") { _ in RecordingHandler { lines.add($0) } }
        let (store, folded) = try await OpenStore.open(configuration, logger: logger)
        return (store, folded, lines)
    }

    /// It lives as long as the server: what it kept of the start would never be freed.
    @Test func itKeepsNoState() async throws {
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

    @Test func pageCursorsAreSealedWithTheSameKeyAfterARestart() async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let first = try await open()
        await first.store.close()
        let second = try await open()
        await second.store.close()
        #expect(
            first.store.schemaService.access.cursorSeal
                == second.store.schemaService.access.cursorSeal)
        #expect((first.lines.all + second.lines.all).allSatisfy { !$0.contains("cursor") })

        try Data([1, 2]).write(to: URL(filePath: directory + "/cursor-key"))
        let third = try await open()
        await third.store.close()
        #expect(
            third.store.schemaService.access.cursorSeal
                != first.store.schemaService.access.cursorSeal)
        #expect(
            third.lines.all.contains {
                $0.hasPrefix("\(directory)/cursor-key has 2 bytes instead of 16")
            }, "\(third.lines.all)")
    }

    /// Nobody waits for a checkpoint, so only the log tells that none is written any more.
    @Test func aCheckpointThatCannotBeWrittenIsLogged() async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let (store, folded, lines) = try await open()
        try FileManager.default.removeItem(atPath: directory + "/checkpoints")
        try Data().write(to: URL(filePath: directory + "/checkpoints"))
        await store.close(checkpointing: folded.snapshot)
        #expect(lines.all.contains { $0.hasPrefix("No checkpoint was written.") }, "\(lines.all)")
    }

    /// Nobody reads a sealed segment while the server runs but the one who deflates it.
    @Test func damageThatIsFoundOnTheWayIsLogged() async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let small: (inout EventStoreOptions) -> Void = {
            ($0.log.firstSegmentSizeBytes, $0.log.segmentSizeBytes) = (4_096, 4_096)
            ($0.log.deflatesSealedSegments, $0.log.segmentsAhead) = (false, 0)
        }
        let schema = try Example.text("todo.graphql") + String(repeating: " ", count: 4_096)
        let first = try await open(small)
        for sequence in 1...3 as ClosedRange<UInt64> {
            _ = try await first.store.journal.append(
                [NewEvent(timeMicroseconds: 0, body: .schema(schema))], expecting: sequence)
        }
        await first.store.close()
        let second = try await open(small)
        await second.store.close(checkpointing: second.folded.snapshot)
        let segment = URL(filePath: directory + "/segments/00000000000000000002.log")
        var bytes = try Data(contentsOf: segment)
        bytes[1_000] ^= 1
        try bytes.write(to: segment)

        let third = try await open()
        let found = { third.lines.all.filter { $0.hasPrefix("The log is damaged") } }
        try await eventually("the line") { found().isEmpty ? nil : true }
        await third.store.close()
        #expect(
            found() == [
                "The log is damaged in \(segment.path()) at byte 96 (event 2): the frame's events do not match "
                    + "their checksum. Nothing was changed; `relay log verify \(directory)` says more."
            ])
    }
}

/// What was logged.
private final class Lines: Sendable {
    private let state = Lock<[String]>([])

    var all: [String] { state.withLock { $0 } }

    func add(_ line: String) { state.withLock { $0.append(line) } }
}
