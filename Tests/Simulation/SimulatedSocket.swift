import GraphQLExecution
import GraphQLLanguage
import GraphQLTransportWS
import RelayJSON

@testable import RelayServer
@testable import StoreEngine

/// What is on its way between a client and its server.
///
/// `@unchecked Sendable`, as everything of a simulation: it runs on one thread.
final class Wire: @unchecked Sendable {
    var toServer: [[UInt8]] = []
    var toClient: [[UInt8]] = []
    var isCut = false
    /// The server has closed it.
    var closing: CloseCode?
    /// The client takes nothing.
    var isSlow = false

    var queuedBytes: Int { toClient.reduce(0) { $0 + $1.count } }
}

/// The server's end of a connection: `RelayServer`'s state machines, without a loop and without bytes. What
/// `GraphQLSocket` does on its loop happens in the simulation's own steps.
///
/// `@unchecked Sendable`: it runs on one thread.
final class SimulatedSocket: @unchecked Sendable {
    private struct Arrival: Sendable {
        let operation: ServerConnection.Operation
        let request: GraphQLRequest
        let prepared: Result<PreparedOperation, ExecutionErrors>
    }

    static let queueLimit = 16 << 10

    let wire: Wire
    /// Who asks; nil where nobody is told apart.
    let viewer: String?
    private let server: SimulatedServer
    private var machine = ServerConnection()
    private var streams: [ServerConnection.Operation: SimulatedSink] = [:]
    private var arrivals = ArrivalOrder<Arrival>()
    private var whenDrained: [@Sendable () -> Void] = []
    private var backlog = MissedBacklog(limit: queueLimit)

    init(_ wire: Wire, viewer: String?, _ server: SimulatedServer) {
        self.wire = wire
        self.viewer = viewer
        self.server = server
    }

    private var service: GraphQLService { server.service }

    // MARK: The wire

    func receive(_ bytes: [UInt8]) { perform(machine.receive(bytes)) }

    /// The client has taken a message.
    func drained() {
        guard wire.queuedBytes == 0 else { return }
        for operation in streams.keys.sorted(by: { $0.id < $1.id }) {
            streams[operation]?.drained()
        }
        let actions = whenDrained
        whenDrained = []
        for action in actions { action() }
    }

    func closed() {
        wire.isCut = true
        whenDrained = []
        perform(machine.socketClosed())
    }

    /// The process is gone: streams and their sockets hold on to each other.
    func letGo() {
        streams = [:]
        whenDrained = []
    }

    private func perform(_ actions: [ServerConnection.Action]) {
        for action in actions {
            switch action {
            case .send(let bytes): send(bytes)
            case .close(let code):
                wire.closing = code
                wire.isCut = true
            case .authenticate: perform(machine.accept())
            case .pinged: break
            case .start(let operation, let payload): start(operation, payload)
            case .stop(let operation):
                if let sink = streams.removeValue(forKey: operation) { service.unsubscribe(sink) }
            }
        }
    }

    func send(_ bytes: [UInt8]) {
        if !wire.isCut { wire.toClient.append(bytes) }
    }

    // MARK: Operations, as in GraphQLSocket

    private func start(_ operation: ServerConnection.Operation, _ payload: JSONObject) {
        if service.isStopping { return }
        let request: GraphQLRequest
        do throws(ExecutionError) {
            let read = try GraphQLRequest(payload, from: Identity(viewer))
            request = read
        } catch {
            return fail(operation, [error])
        }
        let known = service.findPrepared(request)
        if let known, known.kind == .query { return run(operation, known, request) }
        switch (arrivals.arrive(isReady: known != nil), known) {
        case (nil, let known?):
            run(operation, known, request)
        case (let ticket?, let known?):
            settle(
                ticket, Arrival(operation: operation, request: request, prepared: .success(known)))
        case (let ticket?, nil):
            server.tasks.start { [self] in
                let prepared = Result { () throws(ExecutionErrors) in
                    try service.prepare(request)
                }
                let arrival = Arrival(operation: operation, request: request, prepared: prepared)
                server.onLoop { [self] in settle(ticket, arrival) }
            }
        case (nil, nil):
            preconditionFailure("what is not known takes a ticket")
        }
    }

    private func settle(_ ticket: ArrivalOrder<Arrival>.Ticket, _ arrival: Arrival) {
        for ready in arrivals.settle(ticket, arrival) {
            do throws(ExecutionErrors) {
                run(ready.operation, try ready.prepared.get(), ready.request)
            } catch {
                fail(ready.operation, error.errors)
            }
        }
    }

    private func run(
        _ operation: ServerConnection.Operation, _ prepared: PreparedOperation,
        _ request: GraphQLRequest
    ) {
        guard prepared.isStream else {
            server.execute(prepared, request) { [self] outcome in
                server.onLoop { [self] in finish(operation, outcome) }
            }
            return
        }
        guard machine.wants(operation) else { return }
        let sink = SimulatedSink(self, operation, resumeCursor: request.resumeCursor)
        streams[operation] = sink
        do throws(ExecutionErrors) {
            try service.subscribe(prepared, request, sink: sink)
        } catch {
            fail(operation, error.errors)
        }
    }

    private func finish(_ operation: ServerConnection.Operation, _ outcome: Outcome) {
        guard machine.wants(operation) else { return }
        switch outcome {
        case .executed(let response):
            send(
                ServerMessage.nextPrefix(id: operation.id) + response.bytes
                    + ServerMessage.nextSuffix)
            perform(machine.complete(operation))
        case .refused(let errors): fail(operation, errors)
        // The end of the connection is the answer.
        case .stopping: break
        case .overtaken: fail(operation, Outcome.overtakenErrors)
        }
    }

    private func fail(_ operation: ServerConnection.Operation, _ errors: [ExecutionError]) {
        streams[operation] = nil
        perform(machine.error(operation, errors.map(\.json)))
    }

    // MARK: For its sinks

    func wants(_ operation: ServerConnection.Operation) -> Bool {
        !wire.isCut && machine.wants(operation)
    }

    var isSlow: Bool { backlog.isSlow(queuedBytes: wire.queuedBytes) }

    var hasNoRoomForMissed: Bool { backlog.isFull(queuedBytes: wire.queuedBytes) }

    func expect(missedBytes: Int) { backlog.expect(missedBytes) }

    func take(missedBytes: Int) { backlog.take(missedBytes, queuedBytes: wire.queuedBytes) }

    func whenDrained(_ action: @escaping @Sendable () -> Void) {
        if wire.isCut { return }
        if wire.queuedBytes == 0 { return server.onLoop(action) }
        whenDrained.append(action)
    }

    func violate(_ what: String) { server.violate(what) }

    func end(_ sink: SimulatedSink, _ errors: [JSONValue]) {
        streams[sink.operation] = nil
        service.unsubscribe(sink)
        perform(machine.error(sink.operation, errors))
    }

    func complete(_ sink: SimulatedSink) {
        streams[sink.operation] = nil
        perform(machine.complete(sink.operation))
    }
}

/// Where the results of one stream go.
///
/// `@unchecked Sendable`: it runs on one thread.
final class SimulatedSink: SubscriptionSink, @unchecked Sendable {
    let operation: ServerConnection.Operation
    let viewer: String?
    /// Weak, as the service holds its sinks for as long as nobody tells it otherwise, and the socket the service.
    private weak var socket: SimulatedSocket?
    private var pacing: StreamPacing
    private var lastLive: [UInt8]?

    init(_ socket: SimulatedSocket, _ operation: ServerConnection.Operation, resumeCursor: String?)
    {
        self.socket = socket
        self.operation = operation
        viewer = socket.viewer
        pacing = StreamPacing(resumeCursor: resumeCursor)
    }

    var isWanted: Bool { socket?.wants(operation) ?? false }
    var isFull: Bool { socket?.hasNoRoomForMissed ?? false }

    func expect(missedBytes: Int) { socket?.expect(missedBytes: missedBytes) }

    func whenDrained(_ action: @escaping @Sendable () -> Void) { socket?.whenDrained(action) }

    func take(_ event: Delivery.Event) {
        if case .missed(let response) = event { socket?.take(missedBytes: response.bytes.count) }
        guard isWanted, let socket else { return }
        if case .latest(let response) = event {
            if isEqual(response.bytes, lastLive) {
                socket.violate("a live query was told the same again")
            }
            lastLive = response.bytes
        }
        switch pacing.take(event, isFull: socket.isSlow) {
        case .send(let response): send(response)
        case .end(let error): socket.end(self, [error])
        case .fail(let errors): socket.end(self, errors.map(\.json))
        case .complete: socket.complete(self)
        case .hold, .nothing: break
        }
    }

    /// Whether two results differ in nothing but their cursors, which are of one length.
    private func isEqual(_ bytes: [UInt8], _ last: [UInt8]?) -> Bool {
        guard let last, bytes.count == last.count, let new = try? JSONValue(parsing: bytes),
            let old = try? JSONValue(parsing: last)
        else { return false }
        return new["data"] == old["data"]
    }

    /// The peer has taken everything.
    func drained() {
        if let response = pacing.drained() { send(response) }
    }

    private func send(_ response: Response) {
        socket?.send(
            ServerMessage.nextPrefix(id: operation.id) + response.bytes + ServerMessage.nextSuffix)
    }
}

extension Identity {
    /// A viewer without claims, or whoever may do everything.
    init(_ viewer: String?) { self = viewer.map { .viewer(Viewer(id: $0)) } ?? .unrestricted }
}
