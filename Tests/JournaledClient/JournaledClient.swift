import EventStore
import Foundation
import Relay
import RelayNetwork
import TodoFixtures

#if canImport(OpenCombine)
    import OpenCombine
#else
    import Combine
#endif

/// A todo client with its store on disk, for tests that kill it: `JournaledClient URL DIRECTORY`.
///
/// It says what its store shows before anything has come over the network, sends the mutations again that
/// were under way, and then does what each line of its input says.
@main
struct JournaledClient {
    static func main() async throws {
        guard CommandLine.arguments.count == 3 else {
            say("usage: JournaledClient URL DIRECTORY")
            exit(64)
        }
        let client = try JournaledClient(
            url: CommandLine.arguments[1], directory: CommandLine.arguments[2])
        client.show()
        try client.resume()
        for await line in input() { try await client.run(line) }
    }

    /// The lines of the input, read on a thread that may wait for them.
    private static func input() -> AsyncStream<String> {
        AsyncStream { lines in
            Thread.detachNewThread {
                while let line = readLine() { lines.yield(line) }
                lines.finish()
            }
        }
    }

    private let environment: Environment
    private let retained: AnyCancellable

    init(url: String, directory: String) throws {
        var options = WebSocketNetwork.Options()
        options.retry = RetryPolicy(
            initialDelay: .milliseconds(5), maximumDelay: .milliseconds(100))
        environment = Environment(
            network: try WebSocketNetwork(url: url, options: options),
            store: try Store(journal: try FileJournal(directory: directory)))
        retained = environment.retain(operation: UserQuery().createDescriptor())
    }

    /// The texts of the list, as the store shows it.
    private var texts: [String] {
        list?.todos?.edges?.compactMap { edge in
            (edge?.node).flatMap { environment.lookup(Item_todo(key: $0)).data?.text }
        } ?? []
    }

    private var list: List_user.Data? {
        let query: Relay.Snapshot<UserQuery.Data> = environment.lookup(
            selector: UserQuery().createDescriptor().fragment)
        return (query.data?.user).flatMap { environment.lookup(List_user(key: $0)).data }
    }

    func show() { say("shows", texts.joined(separator: " ")) }

    func resume() throws {
        let unknown = try environment.resumeMutations([ResumableMutation(AddTodoMutation.self)]) {
            switch $0.result {
            case .success: say("resumed", $0.transactionID)
            case .failure(let error): say("failed", $0.transactionID, error)
            }
        }
        for name in unknown { say("unknown", name) }
    }

    func run(_ line: String) async throws {
        let words = line.split(separator: " ").map(String.init)
        switch words.first {
        case "fetch":
            _ = try await environment.fetch(UserQuery())
            say("fetched")
        case "add": add(words[1])
        case "sync":
            try await environment.store.synchronize()
            say("kept")
        case "say": show()
        default: say("what is \"\(line)\"?")
        }
    }

    private func add(_ text: String) {
        let connection = list?.todos?.__id
        let mutation = environment.publisher(
            of: AddTodoMutation(
                variables: .init(text: text, connections: connection.map { [$0] } ?? [])),
            optimisticResponse: .init(
                addTodo: .init(
                    todoEdge: .init(
                        node: .init(id: "new:\(text)", text: text, complete: false)))))
        mutation.subscribe(
            Subscribers.Sink(
                receiveCompletion: {
                    if case .failure(let error) = $0 { say("failed", text, error) }
                },
                receiveValue: { say($0.errors.isEmpty ? "added" : "refused", text) }))
    }
}

/// A line of output, at once.
private func say(_ words: Any...) {
    let line = words.map { "\($0)" }.joined(separator: " ") + "\n"
    FileHandle.standardOutput.write(Data(line.utf8))
}
