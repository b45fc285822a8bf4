import BoundedTesting
import Foundation
import OpenCombine
import RelayJSON
@_spi(Rooms) import RelayStore
import Threads
import TodoFixtures

@testable import Relay
@testable import RelayLink
@testable import RelayNetwork

/// A client as programs have it: an `Environment` and its store. It follows all todos by a live query, and changes those
/// that it shows, which are shown as they are expected to be before the server says so.
///
/// `@unchecked Sendable`: it runs on one thread.
final class SimulatedRuntime: @unchecked Sendable {
    let link: SimulatedLink
    private let world: Simulation
    private let network: SimulatedNetwork
    private let environment: Environment
    private var lastMutation = 0
    private var running: [String: AnyCancellable] = [:]
    /// Mutations that nobody has given up, and their ends.
    private var ends: [String: Int] = [:]
    /// The live query, its follower, and what keeps its records.
    private var held: [AnyCancellable] = []
    /// What the follower was told last.
    private var told: LiveTodosQuery.Data?

    init(_ name: String, in world: Simulation) {
        self.world = world
        link = SimulatedLink(name, in: world, mutationsInFlight: 4)
        network = SimulatedNetwork(link, world)
        var options = StoreOptions()
        options.now = { world.wallClock(world.scheduler) }
        options.schedule = { world.scheduler.later(.zero, isOfClient: true, $0) }
        options.later = { milliseconds, work in
            world.scheduler.later(.milliseconds(milliseconds), isOfClient: true, work)
        }
        environment = Environment(
            network: network, store: Store(options: options),
            handlerProvider: DefaultHandlerProvider(), scheduler: SimulatedTimers(world))
    }

    // MARK: What it does

    /// All that it follows, asked for once.
    static let todos = "{ user { id totalCount todos { edges { node { id text complete } } } } }"

    private static let live = LiveTodosQuery(variables: EmptyVariables()).createDescriptor()

    func begin() {
        held = [
            environment.retain(operation: Self.live),
            environment.execute(operation: Self.live).sink(
                receiveCompletion: { [world] end in
                    world.violate("the live query of a runtime ended: \(end)")
                },
                receiveValue: { _ in }),
            environment.subscribe(snapshot: snapshot).sink { [weak self] in self?.told = $0.data },
        ]
    }

    private var snapshot: Relay.Snapshot<LiveTodosQuery.Data> {
        environment.lookup(selector: Self.live.fragment)
    }

    /// Adds a todo, or does something to one that is shown.
    func mutate(_ random: inout SeededGenerator) {
        lastMutation += 1
        let id = "\(link.name):\(lastMutation)"
        let shown = snapshot.data?.user?.todos?.edges?.compactMap { $0?.node } ?? []
        let text = "by \(id)"
        guard let todo = shown.randomElement(using: &random),
            Int.random(in: 0..<4, using: &random) > 0
        else { return commit(id, AddTodoMutation(input: .init(text: text), connections: [])) }
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            commit(
                id, DeleteTodoMutation(input: .init(id: todo.id)),
                expecting: ["removeTodo": ["deletedTodoId": todo.id]])
        case 1...3:
            commit(
                id, RenameTodoMutation(input: .init(id: todo.id, text: text)),
                expecting: ["renameTodo": ["todo": ["id": todo.id, "text": text]]])
        default:
            commit(
                id, ChangeTodoStatusMutation(input: .init(id: todo.id, complete: !todo.complete)),
                expecting: [
                    "changeTodoStatus": ["todo": ["id": todo.id, "complete": !todo.complete]]
                ])
        }
    }

    private func commit(
        _ id: String, _ mutation: some Relay.Operation, expecting response: [String: Any]? = nil
    ) {
        ends[id] = 0
        let execution = environment.execute(
            operation: mutation.createDescriptor(), cacheConfig: CacheConfig(transactionID: id),
            optimisticResponse: response
        ).sink(
            receiveCompletion: { [weak self] in self?.ended(id, $0) },
            receiveValue: { [weak self] in self?.answered(id, $0) })
        if ends[id] == 0 { running[id] = execution }
    }

    func giveMutationUp(_ random: inout SeededGenerator) {
        guard let id = running.keys.sorted().randomElement(using: &random) else { return }
        ends[id] = nil
        running.removeValue(forKey: id)?.cancel()
    }

    // MARK: What it is told

    /// Of a mutation that succeeds there is all that the server said, whatever has come beside it.
    private func answered(_ id: String, _ response: GraphQLResponse) {
        if !response.hasData { world.violate("\(id) succeeded without data") }
    }

    private func ended(_ id: String, _ end: Subscribers.Completion<any Error>) {
        running[id] = nil
        if case .failure(let error) = end, !(error is NetworkError) {
            world.violate("\(id) failed with \(error)")
        }
        guard let count = ends[id] else { return world.violate("\(id) was given up, and ended") }
        ends[id] = count + 1
        if count > 0 { world.violate("\(id) ended twice") }
    }

    // MARK: The end

    var unansweredMutations: [String] { running.keys.sorted() }

    /// Nothing is shown but what the server has, and whoever follows it was told.
    /// - Parameter todos: the live query's data, as the server has it.
    func checkEnd(_ todos: JSONValue) throws {
        let pending = try environment.store.pendingMutations.count
        if pending > 0 { throw Violation("a runtime shows \(pending) changes that are over") }
        let snapshot = snapshot
        let shown = snapshot.data?.lines ?? ["nothing"]
        let right = Self.lines(todos)
        if shown != right {
            let number = zip(shown, right).prefix { $0 == $1 }.count
            let line = { (lines: [String]) in number < lines.count ? lines[number] : "nothing" }
            throw Violation(
                "a runtime shows \(line(shown)) where the server has \(line(right))")
        }
        if told != snapshot.data { throw Violation("a follower was not told what is shown") }
        if snapshot.isMissingData { throw Violation("a runtime lacks a part of what it shows") }
        for (id, count) in ends.sorted(by: { $0.key < $1.key }) where count != 1 {
            throw Violation("\(id) has \(count) ends")
        }
    }

    private static func lines(_ data: JSONValue) -> [String] {
        let user = data["user"]
        let edges = user?["todos"]?["edges"]?.array ?? []
        return ["\(user?["totalCount"]?.text ?? "no count") todos"]
            + edges.map { edge in
                let node = edge["node"]
                return
                    "\(node?["id"]?.string ?? "no id") \(node?["text"]?.string ?? "no text") \(node?["complete"]?.bool ?? false)"
            }
    }

    /// What it keeps holds the simulation.
    func letGo() {
        for mutation in running.values { mutation.cancel() }
        for holder in held { holder.cancel() }
        (running, held) = ([:], [])
        network.letGo()
    }
}

extension LiveTodosQuery.Data {
    fileprivate var lines: [String] {
        ["\(user.map { "\($0.totalCount)" } ?? "no count") todos"]
            + (user?.todos?.edges ?? []).map { edge in
                guard let todo = edge?.node else { return "no todo" }
                return "\(todo.id) \(todo.text) \(todo.complete)"
            }
    }
}

/// The operations of a runtime, on its link.
private final class SimulatedNetwork: Network, SimulatedLinkUser, @unchecked Sendable {
    private struct Running {
        let run: Execution<Data>.Run
        /// The id of a mutation.
        let mutation: String?
    }

    private let link: SimulatedLink
    private let world: Simulation
    private var running: [OperationID: Running] = [:]

    init(_ link: SimulatedLink, _ world: Simulation) {
        self.link = link
        self.world = world
        link.user = self
    }

    func execute(
        request: RequestParameters, variables: VariableData, cacheConfig: CacheConfig
    ) -> AnyPublisher<Data, any Error> {
        ExecutionPublisher { [self] run in
            let id = link.makeID()
            let mutation = request.operationKind == .mutation ? cacheConfig.mutationID : nil
            running[id] = Running(run: run, mutation: mutation)
            link.begin(id, OperationRequest(request, variables: variables, mutationID: mutation))
            return AnyCancellable { [self] in
                if running.removeValue(forKey: id) != nil { link.cancel(id) }
            }
        }.eraseToAnyPublisher()
    }

    func take(_ response: [UInt8], _ id: OperationID) {
        guard let operation = running[id] else { return }
        if let mutation = operation.mutation {
            guard let result = try? JSONValue(parsing: response) else {
                return world.violate("\(link.name) was sent what is no JSON")
            }
            world.noteResult(result, of: mutation)
        }
        operation.run.send(Data(response))
    }

    func finish(_ id: OperationID, _ error: TransportError?) {
        guard let operation = running.removeValue(forKey: id) else { return }
        if let error { world.violate("an operation of \(link.name) ended: \(error)") }
        operation.run.complete(error.map { .failure($0) } ?? .finished)
    }

    func letGo() { running = [:] }
}

/// What an environment does later.
private struct SimulatedTimers: Scheduling {
    private final class Timer: Sendable {
        let body: Lock<(@Sendable () -> Void)?>

        init(_ body: @escaping @Sendable () -> Void) { self.body = Lock(body) }

        /// - Returns: nil when it was called off.
        func take() -> (@Sendable () -> Void)? {
            body.withLock { body in
                defer { body = nil }
                return body
            }
        }
    }

    private let world: Simulation

    init(_ world: Simulation) { self.world = world }

    func schedule(
        after seconds: TimeInterval, _ body: @escaping @Sendable () -> Void
    ) -> AnyCancellable {
        let timer = Timer(body)
        world.scheduler.later(.seconds(seconds), isOfClient: true) { timer.take()?() }
        return AnyCancellable { _ = timer.take() }
    }
}
