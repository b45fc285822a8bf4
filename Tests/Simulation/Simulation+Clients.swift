import BoundedTesting
import GraphQLExecution
import RelayJSON
import StoreEngine

@testable import RelayServer

// What clients do, one thing at a time.
extension Simulation {
    /// Lets everybody go on for a while: messages arrive, tasks run, threads work.
    func turn(_ count: Int) {
        for _ in 0..<count {
            let peer = peers[Int.random(in: peers.indices, using: &random)]
            switch Int.random(in: 0..<4, using: &random) {
            case 0: _ = peer.deliver()
            case 1: _ = peer.receive()
            default: _ = scheduler.turn()
            }
        }
    }

    func settle() {
        while scheduler.turn() || peers.contains(where: { $0.deliver() || $0.receive() }) {}
    }

    func pass(_ milliseconds: Int) {
        note("\(milliseconds) ms")
        scheduler.pass(milliseconds: milliseconds)
    }

    func mutate() {
        let link = links[Int.random(in: links.indices, using: &random)]
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            client(link)?.mutate(&random) ?? runtime?.mutate(&random)
        }
        note("\(link.name) mutates")
    }

    /// - Returns: nil for the runtime.
    func client(_ link: SimulatedLink) -> SimulatedClient? {
        clients.first { $0.link === link }
    }

    /// Somebody sends again what was sent a moment ago, whatever became of it.
    func repeatMutation() {
        guard let request = facts.started.suffix(8).randomElement(using: &random) else { return }
        repeatMutation(request)
    }

    func repeatMutation(_ request: GraphQLRequest) {
        guard let server else { return }
        note("repeat \(request.extensions["relay"]?.text ?? "")")
        guard let prepared = try? server.service.prepare(request) else { return }
        noteOutOfOrder(request)
        facts.repeatCount += 1
        server.execute(prepared, request) { [self] _ in facts.repeatAnswerCount += 1 }
    }

    func actHostile() {
        note("nonsense")
        hostile?.act()
        if Bool.random(using: &random) { while hostile?.deliver() == true {} }
        turn(Int.random(in: 1...30, using: &random))
    }

    func giveMutationUp() {
        let link = links[Int.random(in: links.indices, using: &random)]
        note("\(link.name) gives up")
        client(link)?.giveMutationUp(&random) ?? runtime?.giveMutationUp(&random)
    }

    /// Somebody else has a client of the same name, which uses the same id for something of its own. It is given the
    /// answer to that, or none.
    func mutateAsStranger() {
        guard let server, let request = facts.started.suffix(8).randomElement(using: &random),
            let id = request.extensions["relay"]?["mutationId"]?.string
        else { return }
        note("a stranger has \(id)")
        let text = "a stranger's \(id)"
        execute(addTodo(text, request, viewer: "a stranger"), on: server) { [self] outcome in
            switch outcome {
            case .refused(let errors):
                if isRefusal(errors, [.overloaded, .storageFull]) { return }
                violate("a stranger was refused because of \(id): \(errors)")
            case .stopping, .overtaken: break
            case .executed(let response):
                let data = (try? JSONValue(parsing: response.bytes))?["data"]
                if data?["addTodo"]?["todo"]?["text"]?.string == text { return }
                violate("a stranger was given the answer of \(id): \(data?.text ?? "nothing")")
            }
        }
    }

    /// Whether errors are one of these, or that of a log that stops: whoever waits for it hears of that before others
    /// do.
    func isRefusal(_ errors: [ExecutionError], _ codes: [ErrorCode]) -> Bool {
        let found = errors.compactMap(\.code).filter { $0 != .outcomeUnknown }
        return found.isEmpty ? hasFailedDisk : found.contains(where: codes.contains)
    }

    /// A client gives an id to another mutation, though it has had an answer under it.
    func useIDAgain() {
        guard let server else { return }
        let answered = facts.started.suffix(32).filter {
            $0.identity.viewerID == nil
                && $0.mutationName.map { facts.acknowledged[$0] != nil } ?? false
        }
        guard let request = answered.randomElement(using: &random),
            let id = request.mutationName
        else { return }
        note("\(id) means something else")
        execute(addTodo("instead of \(id)", request, viewer: nil), on: server) { [self] outcome in
            switch outcome {
            case .refused(let errors):
                if isRefusal(errors, [.mutationIDReused, .overloaded, .storageFull]) { return }
                violate("\(id) was given to another mutation, which was answered \(errors)")
            case .stopping, .overtaken: break
            case .executed:
                violate("\(id) was given to another mutation, which was carried out")
            }
        }
    }

    /// - Parameter request: whose mutation id it uses.
    func addTodo(
        _ text: String, _ request: GraphQLRequest, viewer: String?
    ) -> GraphQLRequest {
        GraphQLRequest(
            query:
                "mutation M($input: AddTodoInput!) { addTodo(input: $input) { todo { id text } } }",
            variables: ["input": ["text": .string(text)]], extensions: request.extensions,
            identity: Identity(viewer))
    }

    func execute(
        _ request: GraphQLRequest, on server: SimulatedServer,
        answer: @escaping @Sendable (Outcome) -> Void
    ) {
        guard let prepared = try? server.service.prepare(request) else { return }
        server.execute(prepared, request) { [weak server] outcome in
            if server?.isDead == false { answer(outcome) }
        }
    }

    func cutSomebody() {
        let peer = peers[Int.random(in: peers.indices, using: &random)]
        note("cut \(peer.name)")
        peer.cut()
    }

    func slowSomebody() {
        let peer = peers[Int.random(in: peers.indices, using: &random)]
        guard let wire = peer.socket?.wire else { return }
        wire.isSlow.toggle()
        note("\(peer.name) is \(wire.isSlow ? "slow" : "quick")")
    }

    func resubscribe() {
        let client = clients[Int.random(in: clients.indices, using: &random)]
        note("\(client.name) subscribes anew")
        client.cancelStream(&random)
        client.subscribe(isLive: Bool.random(using: &random))
    }
}
