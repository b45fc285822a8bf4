import BoundedTesting
import DiskSimulation
import GraphQLTransportWS
import RelayArtifacts
import RelayJSON

@testable import RelayNetwork
@testable import RelayServer

/// A client on its ``LinkMachine``: mutations by their ids, streams that go on where they were cut.
///
/// `@unchecked Sendable`: it runs on one thread.
final class SimulatedClient: @unchecked Sendable {
    enum Work {
        /// With the text that its todo has then, where it gives it one.
        case mutation(id: String, text: String?)
        case events(Stream)
        case live(Stream)
    }

    /// What one stream was told.
    final class Stream: @unchecked Sendable {
        let document: String
        /// Between gaps that it was told of.
        var segments: [[Told]] = [[]]
        var isOver = false

        init(_ document: String) { self.document = document }
    }

    struct Told {
        let cursor: StreamCursor
        let data: JSONValue
    }

    static let todoAdded = "subscription { todoAdded { todo { id text } } }"
    /// Of all todos, and of the first: that one stays the same when others come.
    static let live = [
        "subscription { user { totalCount todos { edges { node { id text complete } } } } }",
        "subscription { user { todos(first: 1) { edges { node { id text } } } } }",
    ]

    let name: String
    private let world: Simulation
    private var machine: LinkMachine
    private var attempt: LinkAction.Attempt = 0
    private(set) var socket: SimulatedSocket?
    private var lastOperation: UInt64 = 0
    private var lastMutation = 0
    private(set) var work: [OperationID: Work] = [:]
    private(set) var streams: [(stream: Stream, isLive: Bool)] = []
    /// Todos that it has heard of.
    private(set) var todos: [String] = []

    init(_ name: String, in world: Simulation, mutationsInFlight: Int) {
        self.name = name
        self.world = world
        var options = LinkOptions()
        options.retry = RetryPolicy(initialDelay: .milliseconds(50), maximumDelay: .seconds(1))
        options.maximumMutationsInFlight = mutationsInFlight
        options.maximumInterruptions = nil
        options.idleTimeout = nil
        options.queryAttempts = .max
        machine = LinkMachine(options)
    }

    var unansweredMutations: [String] {
        work.values.compactMap { if case .mutation(let id, _) = $0 { id } else { nil } }.sorted()
    }

    var openStreamCount: Int {
        work.values.count { if case .mutation = $0 { false } else { true } }
    }

    // MARK: What it does

    /// - Parameters:
    ///   - isKnown: in a document that others use, too.
    ///   - waits: for its handler, if it knows of a todo.
    func mutate(_ random: inout SeededGenerator, isKnown: Bool = false, waits: Bool = false) {
        let field: String
        var todo = todos.randomElement(using: &random)
        switch waits ? 2 : Int.random(in: 0..<10, using: &random) {
        case 0: field = "removeTodo"
        case 1: field = "changeTodoStatus"
        case 2...3: field = "renameTodo"
        default: (field, todo) = ("addTodo", nil)
        }
        // A document that the server has never seen takes longer than one that it knows.
        send(
            todo == nil ? "addTodo" : field, todo,
            isCold: !isKnown && Bool.random(using: &random))
    }

    /// Adds a todo, or does something to the one that it has heard of last.
    /// - Returns: the mutation's id.
    @discardableResult
    func mutate(_ field: String) -> String {
        send(field, field == "addTodo" ? nil : todos.last, isCold: false)
    }

    /// - Parameter isCold: in a document that nobody else uses.
    /// - Returns: the mutation's id.
    @discardableResult
    private func send(_ field: String, _ todo: String?, isCold: Bool) -> String {
        lastMutation += 1
        let id = "\(name):\(lastMutation)"
        var input: JSONObject = ["clientMutationId": .string(id)]
        if let todo { input["id"] = .string(todo) }
        switch field {
        case "addTodo": input["text"] = .string(id)
        case "renameTodo": input["text"] = .string("renamed by \(id)")
        case "changeTodoStatus": input["complete"] = true
        default: break
        }
        let types = [
            "addTodo": "AddTodoInput", "removeTodo": "RemoveTodoInput",
            "changeTodoStatus": "ChangeTodoStatusInput", "renameTodo": "RenameTodoInput",
        ]
        let selection = field == "removeTodo" ? "deletedTodoId" : "todo { id text }"
        let document =
            "mutation M($input: \(types[field] ?? "")!) { \(isCold ? "a\(lastMutation): " : "")\(field)(input: $input) { \(selection) } }"
        begin(
            .mutation(id: id, text: input["text"]?.string), .mutation, document,
            ["input": .object(input)], mutationID: id)
        return id
    }

    func subscribe(isLive: Bool) {
        let stream = Stream(
            isLive ? Self.live[streams.count % Self.live.count] : Self.todoAdded)
        streams.append((stream, isLive))
        begin(isLive ? .live(stream) : .events(stream), .subscription, stream.document, [:])
    }

    /// Nobody waits for the answer of a mutation any more, which may be carried out all the same.
    func giveMutationUp(_ random: inout SeededGenerator) {
        let mutations = work.keys.sorted().filter {
            if case .mutation = work[$0] { true } else { false }
        }
        guard let id = mutations.randomElement(using: &random) else { return }
        work[id] = nil
        perform(machine.cancel(id))
    }

    func cancelStream(_ random: inout SeededGenerator) {
        let streams = work.keys.sorted().filter {
            if case .mutation = work[$0] { false } else { true }
        }
        guard let id = streams.randomElement(using: &random) else { return }
        if case .events(let stream)? = work[id] { stream.isOver = true }
        if case .live(let stream)? = work[id] { stream.isOver = true }
        work[id] = nil
        perform(machine.cancel(id))
    }

    private func begin(
        _ work: Work, _ kind: OperationKind, _ document: String, _ variables: JSONObject,
        mutationID: String? = nil
    ) {
        lastOperation += 1
        let id = OperationID(number: lastOperation)
        self.work[id] = work
        let request = OperationRequest(
            RequestParameters(name: "", operationKind: kind, text: document),
            variables: VariableData(variables), mutationID: mutationID)
        perform(machine.begin(id, request))
    }

    // MARK: What its machine wants

    private func perform(_ actions: [LinkAction]) {
        for action in actions {
            switch action {
            case .authorize: world.violate("a client without tokens asks for one")
            case .connect(let attempt, _):
                world.scheduler.later(.milliseconds(1), isOfClient: true) { [self] in
                    connect(attempt)
                }
            case .send(let bytes): socket?.wire.toServer.append(bytes)
            case .close, .abort: drop()
            case .schedule(let timer, let delay): schedule(timer, delay)
            case .retry(let attempt, let failures):
                schedule(
                    .retry(attempt),
                    machine.options.retry.delay(afterFailures: failures, random: 0.5))
            case .resumeLater(let id, let endings):
                schedule(
                    .resumption(id),
                    machine.options.retry.delay(afterFailures: endings, random: 0.5))
            case .deliver(let id, let bytes): take(bytes, id)
            case .interrupted, .report: break
            case .finish(let id, let error): finish(id, error)
            }
        }
    }

    private func schedule(_ timer: LinkAction.Timer, _ delay: Duration) {
        world.scheduler.later(delay, isOfClient: true) { [self] in
            perform(machine.timerFired(timer))
        }
    }

    private func connect(_ attempt: LinkAction.Attempt) {
        guard let server = world.server else {
            let error = TransportError(code: .cannotConnect, message: "nobody listens")
            return perform(machine.socketClosed(attempt, ConnectionLoss(error, .retry)))
        }
        guard let actions = machine.socketOpened(attempt, token: nil) else { return }
        self.attempt = attempt
        socket = server.accept(Wire())
        perform(actions)
    }

    private func drop() {
        if let socket { world.server?.remove(socket) }
        socket = nil
    }

    /// The connection is gone, for whatever reason.
    func cut() {
        guard socket != nil else { return }
        drop()
        let error = TransportError(code: .closed(SocketCloseCode(rawValue: 1006)), message: "cut")
        perform(machine.socketClosed(attempt, ConnectionLoss(error, .retry)))
    }

    /// Takes one message from the wire; false when there is none.
    func receive() -> Bool {
        guard let socket else { return false }
        if socket.wire.isSlow || socket.wire.toClient.isEmpty {
            guard socket.wire.isCut else { return false }
            cut()
            return true
        }
        let bytes = socket.wire.toClient.removeFirst()
        perform(machine.received(attempt, bytes))
        socket.drained()
        return true
    }

    /// The server takes one message; false when there is none.
    func deliver() -> Bool {
        guard let socket, !socket.wire.isCut, !socket.wire.toServer.isEmpty else { return false }
        socket.receive(socket.wire.toServer.removeFirst())
        return true
    }

    // MARK: What it is told

    private func take(_ bytes: [UInt8], _ id: OperationID) {
        guard let result = try? JSONValue(parsing: bytes) else {
            return world.violate("\(name) was sent what is no JSON")
        }
        switch work[id] {
        case .mutation(let mutation, let text)?:
            if let data = result["data"]?.object, result["errors"] == nil {
                world.noteAcknowledged(mutation)
                for member in data.members {
                    guard let todo = member.value["todo"] else { continue }
                    if let text, todo["text"]?.string != text {
                        world.violate("\(mutation) was given another's answer, \(result.text)")
                    }
                    if let id = todo["id"]?.string { todos.append(id) }
                }
            } else {
                world.noteRefused(mutation, result)
            }
        case .events(let stream)?, .live(let stream)?:
            if bytes == GapNotice.bytes { return stream.segments.append([]) }
            // The log could not be read; the operation ends.
            if result["errors"] != nil, world.hasReadFaults { return }
            guard
                let cursor = result["extensions"]?["relay"]?["cursor"]?.string
                    .flatMap(StreamCursor.init), let data = result["data"], result["errors"] == nil
            else { return world.violate("a stream of \(name) was told \(result.text)") }
            stream.segments[stream.segments.count - 1].append(Told(cursor: cursor, data: data))
        case nil: break
        }
    }

    private func finish(_ id: OperationID, _ error: TransportError?) {
        let ended = work.removeValue(forKey: id)
        if let error { world.violate("an operation of \(name) ended: \(error)") }
        switch ended {
        case .events(let stream)?, .live(let stream)?: stream.isOver = true
        case .mutation?, nil: break
        }
    }
}
