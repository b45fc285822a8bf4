import ArgumentParser
import Foundation
import Publishing
import Relay
import RelayArtifacts
import RelayNetwork
import Threads

/// What the client runtime costs from a response's bytes to Swift values, compared with `JSONDecoder`.
///
/// `script/bench-fetch` makes the response and takes V8's `JSON.parse` of it in the same run. Without that
/// script there is no use for this program: it is no product of the package.
@main
struct ClientBenchmark: ParsableCommand {
    static let configuration = CommandConfiguration(
        discussion: """
            socket_fetch_ms: `fetchQuery` into an empty store, from asking over a loopback WebSocket to Swift \
            structs. fetch_ms: the same from the response's bytes in memory. \
            refetch_ms: the same response again, into the store that has it. json_decoder_ms: \
            JSONDecoder, the same bytes into structs with the same fields. \
            decode_ns_per_field: the structs read from a snapshot of the store.
            """)

    @ArgumentParser.Argument(help: "A file with the response; script/bench-fetch makes one.")
    var response: String

    @Option(help: "Rounds; medians are shown.")
    var rounds = 9

    func run() throws {
        let bytes = try Data(contentsOf: URL(filePath: response))
        let plain = try JSONDecoder().decode(PlainTodos.self, from: bytes).data.user
        let fetched = try Self.fetch(Self.environment(bytes))
        guard Self.facts(fetched) == Self.facts(plain), !plain.todos.edges.isEmpty else {
            throw ValidationError("The two sides do not read the same values.")
        }
        let network = try Self.loopback(bytes, operations: rounds + 1)
        let overSocket = try Self.socketFetch(Self.environment(network))
        guard Self.facts(overSocket) == Self.facts(plain) else {
            throw ValidationError("What comes over the socket is not what was sent.")
        }
        var times: [String: [Double]] = [:]
        for _ in 0..<rounds { try measure(bytes, network, &times) }
        let scalars = Double(plain.todos.edges.count * 15)
        let medians = times.mapValues { $0.sorted()[rounds / 2] }
        guard let socket = medians["socket"], let fetch = medians["fetch"],
            let refetch = medians["refetch"],
            let decoder = medians["decoder"], let decode = medians["decode"]
        else { return }
        report("socket_fetch_ms", socket, "ms")
        report("socket_fetch_of_json_decoder", socket / decoder, "ratio")
        report("fetch_ms", fetch, "ms")
        report("refetch_ms", refetch, "ms")
        report("json_decoder_ms", decoder, "ms")
        report("fetch_of_json_decoder", fetch / decoder, "ratio")
        report("decode_ns_per_field", decode * 1_000_000 / scalars, "ns")
    }

    /// One round: each side once, in turn, in milliseconds.
    private func measure(
        _ bytes: Data, _ network: WebSocketNetwork, _ times: inout [String: [Double]]
    ) throws {
        func time(_ name: String, _ body: () throws -> Void) rethrows {
            let time = try ContinuousClock().measure(body)
            times[name, default: []].append(time / .milliseconds(1))
        }
        let decoder = JSONDecoder()
        var plain: PlainTodos?
        try time("decoder") { plain = try decoder.decode(PlainTodos.self, from: bytes) }
        // What is freed is freed outside of the time, on all sides.
        withExtendedLifetime(plain) {}
        plain = nil
        var data: FetchedTodos.User?
        let remote = Self.environment(network)
        try time("socket") { data = try Self.socketFetch(remote) }
        data = nil
        let environment = Self.environment(bytes)
        try time("fetch") { data = try Self.fetch(environment) }
        data = nil
        try time("refetch") { data = try Self.fetch(environment) }
        data = nil
        let snapshot: Snapshot<FetchedTodos.Data> = environment.lookup(
            selector: FetchedTodos().createDescriptor().fragment)
        try time("decode") { data = try snapshot.value()?.user }
        withExtendedLifetime(data) {}
    }

    private static func environment(_ bytes: Data) -> Environment {
        environment(BytesNetwork(bytes: bytes))
    }

    private static func environment(_ network: any Network) -> Environment {
        Environment(network: network, store: Store())
    }

    /// A network to a server in this process that has the response.
    private static func loopback(_ bytes: Data, operations: Int) throws -> WebSocketNetwork {
        let done = DispatchSemaphore(value: 0)
        let url = Lock<Result<String, any Error>?>(nil)
        let response = Array(bytes)
        Task {
            let started: Result<String, any Error>
            do {
                started = .success(
                    try await LoopbackServer.start(response, operations: operations))
            } catch {
                started = .failure(error)
            }
            url.withLock { $0 = started }
            done.signal()
        }
        done.wait()
        guard let started = url.withLock({ $0 }) else { throw ExitCode.failure }
        return try WebSocketNetwork(url: try started.get())
    }

    /// As `fetch`, of what comes on other threads.
    private static func socketFetch(_ environment: Environment) throws -> FetchedTodos.User? {
        let done = DispatchSemaphore(value: 0)
        let result = Lock<Result<FetchedTodos.User?, any Error>>(.success(nil))
        let subscription = environment.fetchQuery(FetchedTodos()).sink { completion in
            if case .failure(let error) = completion { result.withLock { $0 = .failure(error) } }
            done.signal()
        } receiveValue: { data in
            result.withLock { $0 = .success(data?.user) }
        }
        done.wait()
        subscription.cancel()
        return try result.withLock { try $0.get() }
    }

    private static func fetch(_ environment: Environment) throws -> FetchedTodos.User? {
        let result = Lock<Result<FetchedTodos.User?, any Error>>(.success(nil))
        let subscription = environment.fetchQuery(FetchedTodos()).sink { completion in
            if case .failure(let error) = completion { result.withLock { $0 = .failure(error) } }
        } receiveValue: { data in
            result.withLock { $0 = .success(data?.user) }
        }
        defer { subscription.cancel() }
        return try result.withLock { try $0.get() }
    }

    // What is compared of both sides, so that neither is measured at doing less.

    private static func facts(_ user: FetchedTodos.User?) -> [String] {
        (user?.todos.edges ?? []).map { edge in
            let todo = edge.node
            return "\(edge.cursor) \(todo.id) \(todo.text) \(todo.complete) \(todo.weight) "
                + "\(todo.dueAt ?? "-") \(todo.author.name) \(todo.position) \(todo.priority)"
        }
    }

    private static func facts(_ user: PlainTodos.User) -> [String] {
        user.todos.edges.map { edge in
            let todo = edge.node
            return "\(edge.cursor) \(todo.id) \(todo.text) \(todo.complete) \(todo.weight) "
                + "\(todo.dueAt ?? "-") \(todo.author.name) \(todo.position) \(todo.priority)"
        }
    }

    private func report(_ measure: String, _ value: Double, _ unit: String) {
        let rounded = (value * 1_000).rounded() / 1_000
        print(#"{"measure":"\#(measure)","value":\#(rounded),"unit":"\#(unit)"}"#)
    }
}

/// Answers every request at once with the same bytes.
private struct BytesNetwork: Network {
    let bytes: Data

    func execute(
        request: RequestParameters, variables: VariableData, cacheConfig: CacheConfig
    ) -> AnyPublisher<Data, any Error> {
        Just(bytes).setFailureType(to: (any Error).self).eraseToAnyPublisher()
    }
}
