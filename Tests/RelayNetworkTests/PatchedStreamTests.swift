import BoundedTesting
import Foundation
import Relay
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayStore
import Testing

@testable import RelayNetwork

#if canImport(OpenCombine)
    import OpenCombine
#else
    import Combine
#endif

/// Live streams whose server sends patches of records, beside the same with whole results.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct PatchedStreamTests {
    private static let operations: [(name: String, variables: VariableData)] = [
        ("ListsLive", [:]), ("ListsLive", ["status": true]), ("AnyLive", [:]), ("UserLive", [:]),
        ("TodoLive", ["id": "VG9kbzow"]), ("Added", [:]),
    ]

    /// A client of the served todos.
    private final class Client: Sendable {
        let network: WebSocketNetwork
        let environment: Environment
        /// Responses that each operation has had.
        let told = Noted<Int>()
        let bytes = Noted<Int>()

        init(_ todos: ServedTodos, takesPatches: Bool) throws {
            var options = WebSocketNetwork.Options()
            options.takesRecordPatches = takesPatches
            options.retry = RetryPolicy(
                initialDelay: .milliseconds(2), maximumDelay: .milliseconds(20))
            var inputs = NetworkInputs()
            inputs.received = { [bytes] in bytes.note($0) }
            network = try WebSocketNetwork(url: todos.url, options: options, inputs: inputs)
            environment = Environment(network: network, store: Store())
        }

        func follow(_ number: Int, _ name: String, _ variables: VariableData) throws
            -> AnyCancellable
        {
            let operation = OperationDescriptor(
                request: RequestDescriptor(
                    node: try LiveOperations.request(name), variables: variables))
            return environment.execute(operation: operation).sink(
                receiveCompletion: { _ in }, receiveValue: { [told] _ in told.note(number) })
        }

        func followAll() throws -> [AnyCancellable] {
            try operations.enumerated().map { try follow($0, $1.name, $1.variables) }
        }

        /// The records that results are about, without what names single events.
        var records: [String: [String: JSONValue]] {
            let snapshot = environment.store.snapshot
            var records: [String: [String: JSONValue]] = [:]
            for index in snapshot.recordsInCreationOrder() {
                guard let record = snapshot.recordJSON(index),
                    !record.id.rawValue.hasPrefix("client:root:")
                else { continue }
                records[record.id.rawValue] = Dictionary(
                    record.fields.map { ($0.key, $0.value.recordJSON) },
                    uniquingKeysWith: { first, _ in first })
            }
            return records
        }
    }

    private static func mutate(_ editor: WebSocketNetwork, _ text: String) async throws -> JSONValue
    {
        try await editor.responses(
            to: RequestParameters(name: "", operationKind: .mutation, text: "mutation { \(text) }"),
            variables: [:]
        ).first()
    }

    @Test func storesAreTheSameWithPatchesAndWithout() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("patched and whole stores: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        try await ServedTodos.run { todos in
            let patched = try Client(todos, takesPatches: true)
            let whole = try Client(todos, takesPatches: false)
            let following = try patched.followAll() + whole.followAll()
            let editor = try WebSocketNetwork(url: todos.url)
            var ids = ["VG9kbzow", "VG9kbzox"]
            for round in 0..<12 {
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    let (text, id) = Self.change(&ids, &random)
                    let answer = try await Self.mutate(editor, text)
                    if id == nil, let new = answer["data"]?["addTodo"]?["todo"]?["id"]?.string {
                        ids.append(new)
                    }
                }
                if round % 4 == 1 { patched.network.reconnect() }
                if round == 6 {
                    await todos.stop()
                    try await todos.startAgain()
                    ids = ["VG9kbzow", "VG9kbzox"]
                }
                let fresh = try Client(todos, takesPatches: false)
                let asking = try fresh.followAll()
                await eventually { Set(fresh.told.all).count >= Self.operations.count - 1 }
                withExtendedLifetime(asking) {}
                let expected = fresh.records
                // What no result shows any more may differ: a slow stream leaves out states in between.
                await eventually {
                    Self.contains(patched.records, expected)
                        && Self.contains(whole.records, expected)
                }
            }
            withExtendedLifetime(following) {}
        }
    }

    /// Whether records have everything that others have.
    private static func contains(
        _ records: [String: [String: JSONValue]], _ others: [String: [String: JSONValue]]
    ) -> Bool {
        others.allSatisfy { id, fields in fields.allSatisfy { records[id]?[$0] == $1 } }
    }

    /// - Returns: a mutation, and the todo that it is about; nil for a new one.
    private static func change(
        _ ids: inout [String], _ random: inout SeededGenerator
    ) -> (String, String?) {
        let id = ids.randomElement(using: &random) ?? ""
        let number = Int.random(in: 0..<100, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: return ("addTodo(input: {text: \"\(number)\"}) { todo { id } }", nil)
        case 4 where ids.count > 1:
            ids.removeAll { $0 == id }
            return ("removeTodo(input: {id: \"\(id)\"}) { deletedTodoId }", id)
        case 4..<7:
            return ("renameTodo(input: {id: \"\(id)\", text: \"\(number)\"}) { todo { id } }", id)
        default:
            let input = "{id: \"\(id)\", complete: \(number < 50)}"
            return ("changeTodoStatus(input: \(input)) { todo { id } }", id)
        }
    }

    /// One changed title of a long list costs its own bytes.
    @Test func aChangeInALongListCostsWhatHasChanged() async throws {
        try await ServedTodos.run { todos in
            let editor = try WebSocketNetwork(url: todos.url)
            for number in 0..<998 {
                _ = try await Self.mutate(
                    editor, "addTodo(input: {text: \"todo number \(number)\"}) { todo { id } }")
            }
            var sizes: [Bool: Int] = [:]
            for takesPatches in [true, false] {
                let client = try Client(todos, takesPatches: takesPatches)
                let following = try client.follow(0, "LongLive", [:])
                await eventually { client.told.all.count == 1 }
                let text = "changed \(takesPatches)"
                _ = try await Self.mutate(
                    editor,
                    "renameTodo(input: {id: \"VG9kbzow\", text: \"\(text)\"}) { todo { id } }")
                await eventually { client.records["VG9kbzow"]?["text"] == .string(text) }
                sizes[takesPatches] = client.bytes.all.last
                withExtendedLifetime(following) {}
            }
            let (patch, whole) = (try #require(sizes[true]), try #require(sizes[false]))
            print("one changed title of 1,000: \(patch) bytes instead of \(whole)")
            #expect(patch < 300 && whole > 100_000)
        }
    }

    /// Each event of an event stream has a result of its own, and its patch would be larger than that: the stream goes
    /// on without patches, and no event is lost or told twice.
    @Test func anEventStreamGoesOnWithoutPatches() async throws {
        try await ServedTodos.run { todos in
            let client = try Client(todos, takesPatches: true)
            let operation = OperationDescriptor(
                request: RequestDescriptor(
                    node: try LiveOperations.request("Added"), variables: [:]))
            let texts = Noted<String>()
            let following = client.environment.execute(operation: operation).sink(
                receiveCompletion: { _ in },
                receiveValue: { response in
                    texts.note(response.data?.todoAdded?["todo"]?["text"]?.stringValue ?? "?")
                })
            let editor = try WebSocketNetwork(url: todos.url)
            // Until the subscription has begun, events may pass.
            var first = 0
            await eventually {
                first += 1
                _ = try? await Self.mutate(
                    editor, "addTodo(input: {text: \"first \(first)\"}) { todo { id } }")
                return !texts.all.isEmpty
            }
            await eventually { texts.all.last == "first \(first)" }
            let seen = texts.all.count
            let added = (0..<40).map { "todo \($0)" }
            for text in added {
                _ = try await Self.mutate(
                    editor, "addTodo(input: {text: \"\(text)\"}) { todo { id } }")
            }
            await eventually { texts.all.count >= seen + added.count }
            #expect(Array(texts.all[seen...]) == added)
            withExtendedLifetime(following) {}
        }
    }

    /// A reader is told of each change of what it reads, whether the change comes as a patch or in a whole result.
    ///
    /// Who reads a live query reads the query's root. Each result of a subscription has a root of its own, so that none
    /// overwrites another: who reads the root of the query type is told nothing of it, and who reads the records that
    /// the results are about is told of each change.
    @Test(arguments: [true, false])
    func readersAreToldOfEachChangeOfWhatTheyRead(takesPatches: Bool) async throws {
        try await ServedTodos.run { todos in
            let client = try Client(todos, takesPatches: takesPatches)
            let id = "VG9kbzow"
            let following = [
                try client.follow(0, "CountLive", [:]),
                try client.follow(1, "TodoLive", ["id": id]),
            ]
            await eventually { Set(client.told.all).count == 2 }

            let store = client.environment.store
            func read(_ selector: ReaderSelector, _ told: Noted<Int>) throws -> Retention {
                try store.subscribe(store.lookup(selector)) { _ in told.note(1) }
            }
            let (counts, texts, root) = (Noted<Int>(), Noted<Int>(), Noted<Int>())
            let live = try LiveOperations.request("TodoLive")
            let readers = [
                try read(
                    ReaderSelector(
                        try LiveOperations.request("CountLive").fragment, dataID: .rootID,
                        variables: [:]), counts),
                try read(
                    ReaderSelector(
                        try LiveOperations.fragment("Text"), dataID: DataID(id), variables: [:]),
                    texts),
                try read(
                    ReaderSelector(live.fragment, dataID: .rootID, variables: ["id": id]),
                    root),
            ]
            let editor = try WebSocketNetwork(url: todos.url)
            for number in 1...10 {
                _ = try await Self.mutate(
                    editor,
                    "renameTodo(input: {id: \"\(id)\", text: \"\(number)\"}) { todo { id } }")
                await eventually { texts.all.count >= number }
                _ = try await Self.mutate(
                    editor, "addTodo(input: {text: \"\(number)\"}) { todo { id } }")
                await eventually { counts.all.count >= number }
            }
            #expect(texts.all.count == 10 && counts.all.count == 10 && root.all.isEmpty)
            withExtendedLifetime((following, readers)) {}
        }
    }
}
