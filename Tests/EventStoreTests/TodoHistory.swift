import EventLog
import RelayJSON
@_spi(Rooms) import RelayRecords

@testable import EventStore

/// A short history for tests to look at, one event a second from 1970 on:
///
///     1  genesis      todo "t1", not complete, in the list of "u1"
///     2  mutation     addTodo, A:1       3  response    adds "t2" to the list
///     4  mutation     Complete, A:2      5  mutation    rename, optimistic
///     6  response     to 4: "t1" is complete
///     7  revocation   of 5
///     8  mutation     removeTodo         9  response    deletes "t2"
///    10  update       commitUpdate: "t1" is not complete
struct TodoHistory {
    let directory = TemporaryDirectory()

    /// Writes the log, with a checkpoint after event 6.
    init() throws {
        let store = try EventStore.open(directory.path, options: .quiet)
        defer { store.journal.close() }
        var snapshot = store.snapshot
        var changes = ChangeSet()
        for (index, body) in Self.bodies.enumerated() {
            let event = Event(
                sequence: UInt64(index) + 1, timeMicroseconds: Int64(index) * 1_000_000, body: body)
            try store.journal.appendAndWait(event)
            try snapshot.fold(event, changes: &changes)
            if event.sequence == 6 { try store.journal.checkpoint(snapshot) }
        }
    }

    /// The history as it is now on disk.
    func open() throws -> History { try History(directory.path) }

    private static func writes(_ body: (inout WriteSetWriter) -> Void) -> WriteSet {
        var writer = WriteSetWriter()
        body(&writer)
        return writer.writeSet
    }

    private static func write(_ id: DataID, _ type: String, _ fields: [(String, FieldValue)])
        -> WriteSet
    {
        writes { $0.write(id, type: type, fields: fields.map { (key: $0.0, value: $0.1) }) }
    }

    private static let bodies: [EventBody] = [
        .genesis(
            schema: "type Query { a: Int }",
            seed: writes { writer in
                writer.write(
                    "t1", type: "Todo",
                    fields: [
                        (key: "text", value: FieldValue.string("Buy")),
                        (key: "complete", value: .bool(false)),
                    ])
                writer.write(
                    "u1", type: "User", fields: [(key: "todos", value: FieldValue.links(["t1"]))])
            }),
        .mutation(
            MutationIntent(
                field: "addTodo", arguments: ["n": 1], mutationID: MutationID("A:1"), viewer: "ada")
        ),
        .response(
            MutationResponse(
                mutation: 2,
                writes: writes { writer in
                    writer.write(
                        "t2", type: "Todo", fields: [(key: "text", value: FieldValue.string("Eat"))]
                    )
                    writer.write(
                        "u1", type: "User", fields: [(key: "todos", value: FieldValue.append("t2"))]
                    )
                }, result: "t2", answer: [])),
        .mutation(
            MutationIntent(
                operationName: "Complete", field: "updateTodo", arguments: [:],
                mutationID: MutationID("A:2"))),
        .mutation(
            MutationIntent(
                field: "rename", arguments: [:],
                optimistic: write("t1", "Todo", [("text", .string("Sell"))]))),
        .response(
            MutationResponse(
                mutation: 4,
                writes: write("t1", "Todo", [("complete", .bool(true)), ("text", .string("Buy"))]),
                result: "t1")),
        .revocation(Revocation(mutation: 5, reason: "timed out")),
        .mutation(MutationIntent(field: "removeTodo", arguments: [:])),
        .response(
            MutationResponse(
                mutation: 8,
                writes: writes { writer in
                    writer.delete("t2")
                    writer.write(
                        "u1", type: "User", fields: [(key: "todos", value: FieldValue.remove("t2"))]
                    )
                }, result: nil)),
        .update(
            LocalUpdate(
                name: "commitUpdate", writes: write("t1", "Todo", [("complete", .bool(false))]))),
    ]
}

extension EventStoreOptions {
    /// Without work in the background, which would cost more than these small logs.
    static var quiet: EventStoreOptions {
        var options = EventStoreOptions()
        options.log.segmentsAhead = 0
        options.log.deflatesSealedSegments = false
        return options
    }
}
