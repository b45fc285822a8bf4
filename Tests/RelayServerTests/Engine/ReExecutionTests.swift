import EventStore
import Foundation
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing

@testable import RelayServer

/// Mutations that are carried out again from what the log has of them.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct ReExecutionTests {
    private let directory = FileManager.default.temporaryDirectory
        .appending(path: "relay-again-\(UUID())").path()

    /// A program's code in place of `@create`, which does what the schema does not say.
    private func handlers() -> Handlers {
        var handlers = HandlerSchema.handlers()
        handlers.mutation("addItem") { records, variables in
            let list = variables.input?["listId"]?.stringValue.flatMap { records[DataID($0)] }
            let item = records.create(typeName: "Item")
            item["text"] = "by the program"
            item["done"] = true
            list?.connection("items")?.insert(item, edgeType: "ItemEdge", at: .end)
            return item.dataID
        }
        return handlers
    }

    /// The history of two mutations `addItem`.
    private func history(_ handlers: Handlers) async throws -> History {
        let engine = try await EngineUnderTest(
            sdl: HandlerSchema.base, handlers: handlers, seed: HandlerSchema.seed)
        for _ in 0..<2 {
            let answer = try await engine.run(
                #"mutation { addItem(input: {text: "as asked", listId: "l2"}) { item { id } } }"#)
            #expect(answer["errors"] == nil)
        }
        let store = try EventStore.open(directory)
        defer { store.journal.close() }
        var last: UInt64 = 0
        for events in engine.journal.appends {
            last = try await store.journal.append(events, expecting: last)
        }
        return try History(directory)
    }

    @Test func whatAProgramDidInPlaceOfADirectiveIsReplayed() async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let outcome = try await ReExecution(
            history(handlers()), HistoryChange(skipped: [2])
        ).run()
        #expect(outcome.replayed == 1 && outcome.carriedOut == 0)
        // The second item is as it was.
        #expect(!outcome.differences.contains { "\($0)".contains("as asked") })
    }

    @Test func whatADirectiveDidIsCarriedOutAgain() async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let outcome = try await ReExecution(
            history(HandlerSchema.handlers()), HistoryChange(skipped: [2])
        ).run()
        #expect(outcome.replayed == 0 && outcome.carriedOut == 1)
    }
}
