import BoundedTesting
import DiskSimulation
import GraphQLTransportWS
import RelayArtifacts
import RelayJSON

@testable import RelayLink
@testable import RelayNetwork
@testable import StoreEngine

/// A client on a ``SimulatedLink``: mutations by their ids, streams that go on where they were cut.
///
/// `@unchecked Sendable`: it runs on one thread.
final class SimulatedClient: SimulatedLinkUser, @unchecked Sendable {
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

        /// What a live stream asks for, asked once.
        var query: String { String(document.dropFirst("subscription".count)) }
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

    let link: SimulatedLink
    private let world: Simulation
    private var lastMutation = 0
    private(set) var work: [OperationID: Work] = [:]
    private(set) var streams: [(stream: Stream, isLive: Bool)] = []
    /// Todos that it has heard of.
    private(set) var todos: [String] = []

    init(_ name: String, in world: Simulation, mutationsInFlight: Int) {
        self.world = world
        link = SimulatedLink(name, in: world, mutationsInFlight: mutationsInFlight)
        link.user = self
    }

    var name: String { link.name }

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
        link.cancel(id)
    }

    func cancelStream(_ random: inout SeededGenerator) {
        let streams = work.keys.sorted().filter {
            if case .mutation = work[$0] { false } else { true }
        }
        guard let id = streams.randomElement(using: &random) else { return }
        if case .events(let stream)? = work[id] { stream.isOver = true }
        if case .live(let stream)? = work[id] { stream.isOver = true }
        work[id] = nil
        link.cancel(id)
    }

    private func begin(
        _ work: Work, _ kind: OperationKind, _ document: String, _ variables: JSONObject,
        mutationID: String? = nil
    ) {
        let id = link.makeID()
        self.work[id] = work
        let request = OperationRequest(
            RequestParameters(name: "", operationKind: kind, text: document),
            variables: VariableData(variables), mutationID: mutationID)
        link.begin(id, request)
    }

    // MARK: What it is told

    func take(_ bytes: [UInt8], _ id: OperationID) {
        guard let result = try? JSONValue(parsing: bytes) else {
            return world.violate("\(name) was sent what is no JSON")
        }
        switch work[id] {
        case .mutation(let mutation, let text)?:
            guard world.noteResult(result, of: mutation) else { return }
            for member in result["data"]?.object?.members ?? [] {
                guard let todo = member.value["todo"] else { continue }
                if let text, todo["text"]?.string != text {
                    world.violate("\(mutation) was given another's answer, \(result.text)")
                }
                if let id = todo["id"]?.string { todos.append(id) }
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

    func finish(_ id: OperationID, _ error: TransportError?) {
        let ended = work.removeValue(forKey: id)
        if let error { world.violate("an operation of \(name) ended: \(error)") }
        switch ended {
        case .events(let stream)?, .live(let stream)?: stream.isOver = true
        case .mutation?, nil: break
        }
    }
}
