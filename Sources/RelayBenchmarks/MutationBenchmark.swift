import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import StoreEngine

/// What one mutation costs, and what a count and a page cost, on a list of many records:
/// `relay bench mutation`.
///
/// All records are in one list, with two counts on it. A mutation is a whole one without its sync: arguments
/// coerced, handler run, write set made and applied, look-ups kept up to date, response written.
struct MutationBenchmark {
    private let runner: MutationRunner
    private let operations: OperationCache
    private var snapshot: Snapshot
    private let records: Int

    private static let schema = """
        interface Node { id: ID! }
        type Query { list(id: ID!): List @lookup items(first: Int, after: String): ItemConnection! @list(type: "Item") }
        type List implements Node {
          id: ID!
          items(done: Boolean, first: Int, after: String): ItemConnection
          pinned(first: Int): ItemConnection
          size: Int! @count(field: "items")
          open: Int! @count(field: "items", where: { done: false })
        }
        type Item implements Node { id: ID! text: String! done: Boolean! }
        type ItemConnection { edges: [ItemEdge] pageInfo: PageInfo! }
        type ItemEdge { node: Item cursor: String! }
        type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
        type Mutation {
          add(input: AddInput!): AddPayload @create(type: "Item", into: "List.items", parent: "listId")
          change(input: ChangeInput!): ChangePayload @update(type: "Item")
          remove(input: RemoveInput!): RemovePayload @delete(type: "Item", from: "List.items", parent: "listId")
          pin(input: PinInput!): PinPayload @link(field: "List.pinned", parent: "listId", child: "itemId")
          unpin(input: PinInput!): PinPayload @unlink(field: "List.pinned", parent: "listId", child: "itemId")
        }
        input AddInput { text: String! done: Boolean! = false listId: ID! }
        type AddPayload { item: Item! itemEdge: ItemEdge! list: List! }
        input ChangeInput { id: ID! done: Boolean }
        type ChangePayload { item: Item! }
        input RemoveInput { id: ID! listId: ID! }
        type RemovePayload { deletedItemId: ID! list: List! }
        input PinInput { listId: ID! itemId: ID! }
        type PinPayload { item: Item! list: List! }
        """

    /// - Parameter records: items in the list, half of them done, all of them pinned but every tenth.
    init(records: Int) throws {
        let schema = try ServiceSchema(Self.schema)
        var snapshot = Snapshot(indexes: schema.indexes)
        var writer = WriteSetWriter()
        for number in 0..<records {
            writer.write(
                DataID("i\(number)"), type: "Item",
                fields: [("text", .string("item \(number)")), ("done", .bool(number % 2 == 0))])
        }
        let ids = (0..<records).map { DataID("i\($0)") }
        writer.write(
            "l", type: "List",
            fields: [
                ("items", .links(ids)),
                ("pinned", .links(ids.enumerated().filter { $0.offset % 10 != 0 }.map(\.element))),
            ])
        var changes = ChangeSet()
        snapshot.apply(writer.writeSet, changes: &changes)
        self.snapshot = snapshot
        self.records = records
        let service = SchemaService(schema, symbols: snapshot.symbols)
        var limits = DocumentLimits()
        limits.complexity = .max
        operations = OperationCache(schema: service.executable, limits: limits)
        runner = MutationRunner(
            service: service, storeID: "bench", epoch: 1, inputs: EngineInputs(now: { 0 }))
    }

    /// The measures, in the order in which they can be taken.
    enum Measure: String, CaseIterable {
        case update, create, link, unlink, delete, count, page
    }

    /// Does it once; the number varies from call to call.
    /// - Throws: when it was refused.
    mutating func run(_ measure: Measure, _ number: Int) throws {
        // Spread over the list; in a list of a power of ten, another item for each number.
        let place = number &* 7_919 % records
        let half = number / 2 &* 7_919 % records / 10 * 10
        switch measure {
        case .update:
            try mutate(
                "mutation($id: ID!, $done: Boolean) { change(input: {id: $id, done: $done}) { item { id done } } }",
                ["id": .string("i\(place)"), "done": .bool(number % 2 == 1)])
        case .create:
            try mutate(
                "mutation { add(input: {text: \"new\", listId: \"l\"}) { itemEdge { cursor node { id } } list { size open } } }",
                [:])
        case .link:
            // One that is not in the list, and out again.
            let action = number % 2 == 0 ? "unpin" : "pin"
            try mutate(Self.pin(action), ["id": .string("i\(half)")])
        case .unlink:
            // One that is in the list, and in again.
            let action = number % 2 == 0 ? "pin" : "unpin"
            try mutate(Self.pin(action), ["id": .string("i\(half + 1)")])
        case .delete:
            try mutate(
                "mutation($id: ID!) { remove(input: {id: $id, listId: \"l\"}) { deletedItemId list { size open } } }",
                ["id": .string("i\(place)")])
        case .count: try query("{ list(id: \"l\") { size open } }")
        case .page:
            try query(
                "{ list(id: \"l\") { items(first: 20) { edges { node { id text done } } } } }")
        }
    }

    /// The first `count` items with all their fields; gives the bytes of the result.
    func page(of count: Int) throws -> Int {
        try query("{ items(first: \(count)) { edges { cursor node { id text done } } } }")
    }

    private static func pin(_ name: String) -> String {
        "mutation($id: ID!) { \(name)(input: {listId: \"l\", itemId: $id}) { item { id } } }"
    }

    private mutating func mutate(
        _ text: String, _ variables: JSONObject
    ) throws {
        let request = GraphQLRequest(query: text)
        let run = runner.run(
            MutationRequest(
                operation: try operations.operation(
                    for: request, storedRecords: snapshot.recordCount),
                variables: variables, mutationID: nil, identity: .unrestricted, answer: { _ in }),
            on: snapshot)
        guard let last = run.publications.last else {
            throw ExecutionError("A mutation of the benchmark was refused: \(run.end)")
        }
        snapshot = last.snapshot
    }

    @discardableResult
    private func query(_ text: String) throws -> Int {
        let operation = try operations.operation(
            for: GraphQLRequest(query: text), storedRecords: snapshot.recordCount)
        var execution = Execution(
            operation.plan(for: .none), variables: .none, on: snapshot,
            schema: runner.service.executable, identity: .unrestricted)
        return execution.response().count
    }
}
