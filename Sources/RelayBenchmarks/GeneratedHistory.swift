import RelayJSON
@_spi(Rooms) import RelayRecords

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The history of a todo server with many changes, made up: the same numbers give the same events.
///
/// It begins with half of the todos; the others are added evenly over the whole history. All other
/// mutations rename a todo or change its status. The events are mutations and their responses, as a server
/// writes them, one mutation after another; where that leaves one over, the last is a local update.
struct GeneratedHistory {
    let eventCount: UInt64
    let todoCount: Int
    private var random: SplitMix64
    private var sequence: UInt64 = 0
    private var mutationCount: UInt64 = 0
    private var createdCount = 0
    private var timeMicroseconds: Int64 = 1_767_225_600_000_000  // 2026-01-01T00:00:00Z
    private var numbers = [UInt64](repeating: 0, count: Self.clients)

    private static let clients = 8
    private static let user = DataID(globalID("User", "me"))
    private static let words = """
        buy fetch sell paint water mend count sweep find wash a the one every that small old quick \
        blue heavy unicorn garden teapot ladder bicycle window lamp basket piano kite
        """.split(separator: " ").map(String.init)

    /// - Parameters:
    ///   - eventCount: how many events there will be, at least 1.
    ///   - todoCount: how many todos there are at the end, at least 1; fewer when there are not
    ///     mutations enough.
    init(eventCount: UInt64, todoCount: Int, seed: UInt64) {
        self.eventCount = eventCount
        self.todoCount = todoCount
        random = SplitMix64(state: seed)
    }

    /// The next events, which belong together; nil at the end.
    mutating func next() -> [NewEvent]? {
        let rest = eventCount - sequence
        if rest == 0 { return nil }
        timeMicroseconds += .random(in: 1_000...2_000_000, using: &random)
        let bodies =
            if sequence == 0 {
                [genesis()]
            } else if rest == 1 {
                [update()]
            } else {
                mutation()
            }
        sequence += UInt64(bodies.count)
        return bodies.map { NewEvent(timeMicroseconds: timeMicroseconds, body: $0) }
    }

    // MARK: Events

    private mutating func genesis() -> EventBody {
        var writer = WriteSetWriter()
        createdCount = (todoCount + 1) / 2
        let ids = (0..<createdCount).map(Self.todo)
        writer.write(
            Self.user, type: "User",
            fields: [(key: "userId", value: FieldValue.string("me")), ("todos", .links(ids))])
        for id in ids {
            writer.write(
                id, type: "Todo",
                fields: [
                    (key: "text", value: FieldValue.string(text())), ("complete", .bool(false)),
                ])
        }
        return .genesis(schema: Self.schema, seed: writer.writeSet)
    }

    private mutating func update() -> EventBody {
        var writer = WriteSetWriter()
        writer.write(Self.user, type: "User", fields: [(key: "userId", value: .string("me"))])
        return .update(LocalUpdate(name: "commitUpdate", writes: writer.writeSet))
    }

    private mutating func mutation() -> [EventBody] {
        mutationCount += 1
        if createdCount < dueCount() { return add() }
        let id = Self.todo(.random(in: 0..<createdCount, using: &random))
        if Int.random(in: 0..<3, using: &random) == 0 {
            let text = text()
            return change(id, "renameTodo", ["text": .string(text)], [("text", .string(text))])
        }
        let complete = Bool.random(using: &random)
        return change(
            id, "changeTodoStatus", ["complete": .bool(complete), "userId": "me"],
            [("complete", .bool(complete))])
    }

    /// How many todos there are to be by now.
    private func dueCount() -> Int {
        let seeded = (todoCount + 1) / 2
        let share = Double(mutationCount) / Double((eventCount - 1) / 2)
        return seeded + Int((Double(todoCount - seeded) * share).rounded())
    }

    private mutating func add() -> [EventBody] {
        let id = Self.todo(createdCount)
        let text = text()
        createdCount += 1
        return commit(
            "addTodo", id, ["text": .string(text), "complete": false, "userId": "me"]
        ) { writer in
            writer.write(
                id, type: "Todo",
                fields: [(key: "text", value: FieldValue.string(text)), ("complete", .bool(false))])
            writer.write(Self.user, type: "User", fields: [(key: "todos", value: .append(id))])
        }
    }

    private mutating func change(
        _ id: DataID, _ field: String, _ input: JSONObject,
        _ fields: [(key: String, value: FieldValue)]
    ) -> [EventBody] {
        var input = input
        input["id"] = .string(id.rawValue)
        return commit(field, id, input) { $0.write(id, type: "Todo", fields: fields) }
    }

    private mutating func commit(
        _ field: String, _ id: DataID, _ input: JSONObject, _ write: (inout WriteSetWriter) -> Void
    ) -> [EventBody] {
        let client = Int.random(in: 0..<Self.clients, using: &random)
        numbers[client] += 1
        let intent = MutationIntent(
            operationName: field.prefix(1).uppercased() + field.dropFirst(), field: field,
            arguments: ["input": .object(input)],
            mutationID: MutationID(client: "terminal-\(client)", number: numbers[client]))
        var writer = WriteSetWriter()
        write(&writer)
        let answer: JSONValue = ["data": [field: ["todo": ["id": .string(id.rawValue)]]]]
        return [
            .mutation(intent),
            .response(
                MutationResponse(
                    mutation: sequence + 1, writes: writer.writeSet, result: id,
                    answer: answer.bytes)),
        ]
    }

    // MARK: Values

    private mutating func text() -> String {
        (0..<Int.random(in: 2...8, using: &random))
            .map { _ in Self.words[.random(in: Self.words.indices, using: &random)] }
            .joined(separator: " ")
    }

    private static func todo(_ number: Int) -> DataID { DataID(globalID("Todo", "\(number)")) }

    private static func globalID(_ type: String, _ name: String) -> String {
        Data("\(type):\(name)".utf8).base64EncodedString()
    }
}

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014): small, and the
/// same on every machine.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension GeneratedHistory {
    /// The todo example without what this history does not use.
    static let schema = """
        interface Node { id: ID! }

        type Query {
          node(id: ID!): Node
          nodes(ids: [ID!]!): [Node]!
          user(id: ID = "me"): User @lookup
        }

        type User implements Node {
          id: ID!
          userId: String! @unique
          todos(complete: Boolean, after: String, first: Int, before: String, last: Int): TodoConnection
          totalCount: Int! @count(field: "todos")
          completedCount: Int! @count(field: "todos", where: { complete: true })
        }

        type Todo implements Node {
          id: ID!
          text: String!
          complete: Boolean!
        }

        type TodoConnection { edges: [TodoEdge] pageInfo: PageInfo! }
        type TodoEdge { node: Todo cursor: String! }
        type PageInfo {
          hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String
        }

        type Mutation {
          addTodo(input: AddTodoInput!): AddTodoPayload
            @create(type: "Todo", into: "User.todos", parent: "userId")
          changeTodoStatus(input: ChangeTodoStatusInput!): ChangeTodoStatusPayload
            @update(type: "Todo", parent: "userId")
          renameTodo(input: RenameTodoInput!): RenameTodoPayload @update(type: "Todo")
        }

        input AddTodoInput {
          text: String! complete: Boolean! = false userId: ID! = "me" clientMutationId: String
        }
        type AddTodoPayload { todo: Todo! todoEdge: TodoEdge! user: User! clientMutationId: String }

        input ChangeTodoStatusInput {
          complete: Boolean! id: ID! userId: ID! = "me" clientMutationId: String
        }
        type ChangeTodoStatusPayload { todo: Todo! user: User! clientMutationId: String }

        input RenameTodoInput { id: ID! text: String! clientMutationId: String }
        type RenameTodoPayload { todo: Todo! clientMutationId: String }
        """
}
