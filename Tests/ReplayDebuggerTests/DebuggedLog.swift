import EventLog
import EventStore
import Foundation
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

/// A short history, one event a second from 1970 on:
///
///     1  genesis      todo "t1", not complete, in the list of "u1"
///     2  mutation     addTodo             3  response    adds "t2" to the list
///     4  mutation     rename, optimistic  5  update      "t1" is complete
///     6  revocation   of 4
///     7  update       removeTodo deletes "t2"
///     8  update       commitUpdate: "t1" is not complete
final class DebuggedLog {
    private let path: String

    /// - Parameters:
    ///   - compacted: the last event that the log has lost.
    ///   - damaged: the event that cannot be read.
    init(compacted: Int = 0, damaged: UInt64? = nil) throws {
        path = FileManager.default.temporaryDirectory.path + "/relay-debugged-\(UUID())"
        var options = EventStoreOptions()
        options.log.segmentsAhead = 0
        options.log.deflatesSealedSegments = false
        for (index, body) in Self.bodies.enumerated() {
            // Closing waits for it, so each event has a frame of its own.
            let store = try EventStore.open(path, options: options)
            let event = NewEvent(timeMicroseconds: Int64(index) * 1_000_000, body: body)
            store.journal.append([event], expecting: UInt64(index)) { result in
                #expect(throws: Never.self) { try result.get() }
            }
            store.journal.close()
            if index + 1 == compacted { _ = try EventStore.compact(path, options: options) }
        }
        guard let damaged else { return }
        let frame = try #require(try EventLogReader(path).frame(containing: damaged))
        let file = URL(filePath: frame.segment)
        var bytes = try Data(contentsOf: file)
        bytes[Int(frame.offset) + frame.byteCount / 2] ^= 1
        try bytes.write(to: file)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func open() throws -> History { try History(path) }

    private static func writes(_ body: (inout WriteSetWriter) -> Void) -> WriteSet {
        var writer = WriteSetWriter()
        body(&writer)
        return writer.writeSet
    }

    private static func todo(_ id: DataID, _ fields: [(key: String, value: FieldValue)]) -> WriteSet
    {
        writes { $0.write(id, type: "Todo", fields: fields) }
    }

    private static var bodies: [EventBody] {
        [
            .genesis(
                schema: "type Query { a: Int }",
                seed: writes { writer in
                    writer.write(
                        "t1", type: "Todo",
                        fields: [("text", .string("Buy")), ("complete", .bool(false))])
                    writer.write("u1", type: "User", fields: [("todos", .links(["t1"]))])
                }),
            .mutation(MutationIntent(field: "addTodo", arguments: ["n": 1])),
            .response(
                MutationResponse(
                    mutation: 2,
                    writes: writes { writer in
                        writer.write("t2", type: "Todo", fields: [("text", .string("Eat"))])
                        writer.write("u1", type: "User", fields: [("todos", .append("t2"))])
                    }, result: "t2", answer: [])),
            .mutation(
                MutationIntent(
                    field: "rename", arguments: [:],
                    optimistic: todo("t1", [("text", .string("Sell"))]))),
            .update(LocalUpdate(name: "complete", writes: todo("t1", [("complete", .bool(true))]))),
            .revocation(Revocation(mutation: 4, reason: "timed out")),
            .update(
                LocalUpdate(
                    name: "removeTodo",
                    writes: writes { writer in
                        writer.delete("t2")
                        writer.write("u1", type: "User", fields: [("todos", .remove("t2"))])
                    })),
            .update(
                LocalUpdate(
                    name: "commitUpdate", writes: todo("t1", [("complete", .bool(false))]))),
        ]
    }
}
