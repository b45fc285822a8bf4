import GraphQLExecution
import GraphQLLanguage
import GraphQLTransportWS
import HTTPMessages
import RelayJSON
import StoreEngine
import Threads
import WebSocketIO

/// One WebSocket connection of a GraphQL client: does what its ``ServerConnection`` says.
///
/// Its methods run on the loop's thread; results come from other threads and go through the loop first, so
/// the lock is hardly ever waited for: nothing is read, written or hashed at length while it is held.
final class GraphQLSocket: WebSocketHandler {
    static let subprotocol = "graphql-transport-ws"
    /// Queries of a connection that are executed at a time.
    static let queriesAtOnce = max(1, IOLoop.usableProcessors - 1)

    private struct State {
        var machine = ServerConnection()
        var connection: WebSocketConnection?
        var decision: Authentication.Decision
        var streams: [ServerConnection.Operation: OperationSink] = [:]
        var backlog: MissedBacklog
        /// Streams that wait for the peer to have room, and what each does then.
        var waiting = WaitingLine<ServerConnection.Operation, @Sendable () -> Void>()
        /// The loop has been notified that something waits, and has not got to it yet.
        var isWaitPosted = false
        /// Streams that hold a result back.
        var holding: [ServerConnection.Operation: OperationSink] = [:]
        var pace: RequestPace
        /// Operations whose documents are not known yet, long ones, and those that came after them.
        var arrivals = ArrivalOrder<Arrival>()
        var queries = QueryLine<Arrival>(limit: GraphQLSocket.queriesAtOnce)
        /// Since when nothing has been sent.
        var silentSince = ContinuousClock.now
    }

    /// An operation that has been looked up, or prepared.
    private struct Arrival: Sendable {
        let operation: ServerConnection.Operation
        let ready: Result<ReadyRequest, ExecutionErrors>
    }

    /// On which its connection is.
    let loop: IOLoop
    private let service: GraphQLService
    private let authentication: Authentication
    /// The headers of the handshake, if they matter later on.
    private let handshake: HTTPHeaders
    private let mayBeNobody: Bool
    /// For another server of the cluster, which hands mutations on; nil for other clients.
    private let greeting: NodeGreeting?
    private let limits: SocketLimits
    private let expiry: TokenExpiry
    private let state: Lock<State>
    private let onClose: @Sendable (GraphQLSocket, WebSocketClose) -> Void

    /// - Parameters:
    ///   - decision: what the handshake's headers have said.
    ///   - handshake: these.
    ///   - onClose: called when the connection is gone.
    init(
        _ service: GraphQLService, on loop: IOLoop, authentication: Authentication,
        decision: Authentication.Decision, greeting: NodeGreeting? = nil,
        handshake: HTTPHeaders = [:],
        mayBeNobody: Bool = false, limits: SocketLimits,
        onClose: @escaping @Sendable (GraphQLSocket, WebSocketClose) -> Void
    ) {
        self.service = service
        self.loop = loop
        self.authentication = authentication
        self.mayBeNobody = mayBeNobody
        self.greeting = greeting
        self.handshake = authentication.looksAtHandshakes ? handshake : [:]
        self.limits = limits
        self.onClose = onClose
        expiry = TokenExpiry(on: loop)
        state = Lock(
            State(
                decision: decision, backlog: MissedBacklog(limit: limits.streamQueueBytes),
                pace: RequestPace(limits)))
    }

    private var isOfNode: Bool { greeting != nil }

    private var jsonLimits: JSONLimits { isOfNode ? LeaderLink.jsonLimits : JSONLimits() }

    // MARK: The socket

    func opened(_ connection: WebSocketConnection) {
        state.withLock { $0.connection = connection }
        connection.loop.perform(after: limits.initialisationTimeout) { [weak self] in
            self?.perform { $0.initialisationTimedOut() }
        }
    }

    func received(_ message: WebSocketMessage, on connection: WebSocketConnection) {
        guard message.kind == .text else { return perform { $0.receiveBinary() } }
        guard message.bytes.count > ServerConnection.shortMessageBytes else {
            let received = ReceivedMessage(message.bytes, jsonLimits)
            return perform { $0.receive(received) }
        }
        guard state.withLock({ $0.machine.isReady }) else {
            return perform { $0.receiveTooLong() }
        }
        // Off the loop, which others wait for. What follows waits in the connection.
        follow(state.withLock { $0.pace.beginReading() })
        Task.detached {
            let received = ReceivedMessage(message.bytes, self.jsonLimits)
            self.onLoop { socket in
                socket.perform { $0.receive(received) }
                socket.follow(socket.state.withLock { $0.pace.endReading() })
            }
        }
    }

    func drained(_ connection: WebSocketConnection) {
        let holding = state.withLock { state in
            state.backlog.drained()
            defer { state.holding = [:] }
            return state.holding
        }
        for stream in holding.values { stream.drained(on: connection) }
        serveWaiting(on: connection)
        follow(state.withLock { $0.pace.drained() })
    }

    /// How many proceed before other connections get their turn.
    private static let servedAtOnce = 256

    /// Resumes those that wait for room, as long as there is some.
    private func serveWaiting(on connection: WebSocketConnection) {
        var left = Self.servedAtOnce
        while left > 0, !hasNoRoomForMissed {
            guard let action = state.withLock({ $0.waiting.popFirst() }) else { return }
            action()
            left -= 1
        }
        // What is on its way to the connection makes it call again when it is there.
        if left == 0 || connection.queuedBytes > 0 { connection.awaitDrained() }
    }

    func closed(_ close: WebSocketClose, on connection: WebSocketConnection) {
        perform { $0.socketClosed() }
        state.withLock { state in
            state.connection = nil
            state.waiting.removeAll()
            state.holding = [:]
        }
        onClose(self, close)
    }

    // MARK: What the state machine wants

    private func perform(_ input: (inout ServerConnection) -> [ServerConnection.Action]) {
        var actions = state.withLock { input(&$0.machine) }[...]
        while let action = actions.popFirst() {
            switch action {
            case .send(let bytes):
                send(OutgoingMessage(.text, bytes))
            case .close(let close):
                connection?.close(code: close.code, reason: close.reason)
            case .authenticate(let payload):
                actions += authenticate(payload)
            case .pinged(let payload):
                actions += renew(payload)
            case .start(let operation, let payload):
                start(operation, payload)
            case .stop(let operation):
                if let stream = removeStream(of: operation) { service.unsubscribe(stream) }
            }
        }
    }

    private var connection: WebSocketConnection? { state.withLock { $0.connection } }

    private func send(_ message: OutgoingMessage, prefix: [UInt8] = []) {
        let connection = state.withLock { state in
            state.silentSince = .now
            return state.connection
        }
        connection?.send(message, prefix: prefix)
    }

    private func authenticate(_ payload: JSONObject?) -> [ServerConnection.Action] {
        var decision = state.withLock { $0.decision }
        if case .undecided = decision {
            decision = authentication.orNobody(
                authentication.decide(payload: payload, handshake: handshake),
                mayBeNobody: mayBeNobody)
        }
        awaitEnd(of: decision)
        return state.withLock { state in
            state.decision = decision
            guard case .admitted = decision, !expiry.isOver else { return state.machine.refuse() }
            return state.machine.accept(payload: greeting?.payload)
        }
    }

    /// A ping may bring a new token of the same viewer.
    private func renew(_ payload: JSONObject) -> [ServerConnection.Action] {
        let decision = authentication.decide(payload: payload, handshake: handshake)
        if case .undecided = decision { return [] }
        // Another viewer's token, or one with other claims that rules look at: what is open was judged by the old ones.
        guard case .admitted(let identity, _) = decision,
            case .admitted(identity, _) = state.withLock({ $0.decision })
        else { return state.withLock { $0.machine.forbid() } }
        state.withLock { $0.decision = decision }
        awaitEnd(of: decision)
        return []
    }

    private func awaitEnd(of decision: Authentication.Decision) {
        guard case .admitted(_, let end) = decision else { return }
        expiry.setEnd(end) { [weak self] in self?.perform { $0.forbid() } }
    }

    private func start(_ operation: ServerConnection.Operation, _ payload: JSONObject) {
        // The connection is about to be closed, which says that nothing came of it.
        if service.isStopping, !isOfNode { return }
        guard !expiry.isOver,
            case .admitted(let identity, _) = state.withLock({ $0.decision })
        else { return perform { $0.forbid() } }
        let isFull = connection.map { isSlow($0) } ?? false
        follow(state.withLock { $0.pace.begin(operation.byteCount, now: .now, isFull: isFull) })
        let request: GraphQLRequest
        do throws(ExecutionError) {
            let (count, bytes) = state.withLock {
                ($0.machine.operationCount, $0.machine.operationBytes)
            }
            guard count <= limits.operations else {
                throw .limitExceeded(
                    "A connection can have \(limits.operations) operations at a time.")
            }
            guard bytes <= limits.operationBytes || count == 1 else {
                throw .limitExceeded(
                    "A connection's operations can have \(limits.operationBytes) bytes at a time.")
            }
            request =
                isOfNode
                ? try GraphQLRequest(forwarded: payload)
                : try GraphQLRequest(payload, from: identity)
        } catch {
            fail(operation, [error])
            return
        }
        arrive(operation, request)
    }

    /// Hands an operation over after those that arrived before it, so that what a client sends in order is
    /// carried out in order. Queries change nothing and do not wait, once they are known to be queries.
    ///
    /// What takes its time is done elsewhere: looking at a document that is new, or at a request that is long.
    private func arrive(
        _ operation: ServerConnection.Operation, _ request: GraphQLRequest
    ) {
        let isLong = operation.byteCount > ServerConnection.shortMessageBytes
        let known = isLong ? nil : service.findPrepared(request)
        if let known, known.kind == .query, known.isStream {
            // It may have to be compiled for its variables.
            Task.detached { self.run(operation, self.ready(operation, known, request)) }
            return
        }
        if let known, known.kind == .query {
            let ready = ready(operation, known, request)
            return beginInTurn(Arrival(operation: operation, ready: ready))
        }
        let ticket = state.withLock { $0.arrivals.arrive(isReady: known != nil) }
        switch (ticket, known) {
        case (nil, let known?):
            run(operation, ready(operation, known, request))
        case (let ticket?, let known?):
            settle(ticket, Arrival(operation: operation, ready: ready(operation, known, request)))
        case (let ticket?, nil):
            // Queries that are executed must not hold it up.
            Task.detached(priority: .high) {
                let ready = Result { () throws(ExecutionErrors) in
                    try self.ready(operation, try self.service.prepare(request), request).get()
                }
                let arrival = Arrival(operation: operation, ready: ready)
                self.onLoop { $0.settle(ticket, arrival) }
            }
        case (nil, nil):
            preconditionFailure("what is not known takes a ticket")
        }
    }

    /// Makes values of the schema's types of the variables, which takes the longer the more there are.
    private func ready(
        _ operation: ServerConnection.Operation, _ prepared: PreparedOperation,
        _ request: GraphQLRequest
    ) -> Result<ReadyRequest, ExecutionErrors> {
        assert(
            operation.byteCount <= ServerConnection.shortMessageBytes
                || state.withLock { $0.connection }?.loop.isCurrent != true,
            "a long request would hold up every connection of the loop")
        return Result { () throws(ExecutionErrors) in try service.ready(prepared, request) }
    }

    /// On the loop's thread, so that those whose turn it is are handed over in order.
    private func settle(_ ticket: ArrivalOrder<Arrival>.Ticket, _ arrival: Arrival) {
        for next in state.withLock({ $0.arrivals.settle(ticket, arrival) }) {
            if case .success(let ready) = next.ready, ready.operation.kind == .query {
                beginInTurn(next)
            } else {
                run(next.operation, next.ready)
            }
        }
    }

    /// Executes a query, after those of the connection that came before it.
    private func beginInTurn(_ query: Arrival) {
        if state.withLock({ $0.queries.arrive(query) }) { begin(query) }
    }

    private func begin(_ query: Arrival) {
        Task.detached {
            if self.wants(query.operation) {
                self.run(query.operation, query.ready)
            } else {
                self.onLoop { socket in
                    socket.follow(
                        socket.state.withLock { $0.pace.end(query.operation.byteCount) })
                }
            }
            if let next = self.state.withLock({ $0.queries.end() }) { self.begin(next) }
        }
    }

    /// Pauses or resumes reading from the peer.
    private func follow(_ action: RequestPace.Action) {
        switch action {
        case .nothing:
            break
        case .pause(let delay):
            guard let connection else { return }
            connection.pauseReading()
            connection.awaitDrained()
            if let delay {
                connection.loop.perform(after: delay) { [weak self] in
                    guard let self else { return }
                    follow(state.withLock { $0.pace.waited(now: .now) })
                }
            }
        case .resume:
            connection?.resumeReading()
        }
    }

    // MARK: On any thread

    private func run(
        _ operation: ServerConnection.Operation, _ request: Result<ReadyRequest, ExecutionErrors>
    ) {
        do throws(ExecutionErrors) {
            let ready = try request.get()
            if isOfNode, ready.operation.kind != .mutation {
                let message = "Servers of a cluster hand mutations on, and nothing else."
                throw ExecutionErrors(errors: [ExecutionError(message, code: .badUserInput)])
            }
            if ready.operation.isStream {
                try subscribe(operation, ready)
            } else {
                service.execute(ready) { outcome in
                    self.onLoop { $0.finish(operation, outcome) }
                }
            }
        } catch {
            onLoop { $0.fail(operation, error.errors) }
        }
    }

    private func subscribe(
        _ operation: ServerConnection.Operation, _ ready: ReadyRequest
    ) throws(ExecutionErrors) {
        let sink = state.withLock { state -> OperationSink? in
            guard state.machine.wants(operation), let connection = state.connection else {
                return nil
            }
            let sink = OperationSink(
                self, on: connection, operation, resumeCursor: ready.request.resumeCursor,
                limit: limits.streamQueueBytes)
            state.streams[operation] = sink
            return sink
        }
        if let sink { try service.subscribe(ready, sink: sink) }
        onLoop { $0.follow($0.state.withLock { $0.pace.end(operation.byteCount) }) }
    }

    private func onLoop(_ action: @escaping @Sendable (GraphQLSocket) -> Void) {
        guard let connection else { return }
        if connection.loop.isCurrent {
            action(self)
        } else {
            connection.loop.perform { action(self) }
        }
    }

    // MARK: For its sinks

    func wants(_ operation: ServerConnection.Operation) -> Bool {
        state.withLock { $0.machine.wants(operation) }
    }

    /// Whether the peer has to take everything first before it is read from.
    var awaitsPeer: Bool { state.withLock { $0.pace.awaitsPeer } }

    /// Whatever ends an operation ends its stream here, on the loop's thread, where results arrive, too.
    @discardableResult
    private func removeStream(of operation: ServerConnection.Operation) -> OperationSink? {
        // What it waited with goes when the lock is free again: a request may be long.
        let (stream, waited) = state.withLock { state in
            let waited = state.waiting.remove(operation)
            state.holding[operation] = nil
            return (state.streams.removeValue(forKey: operation), waited)
        }
        withExtendedLifetime(waited) {}
        stream?.finish()
        return stream
    }

    /// More waits for the peer than streams may add to, though sending it was tried. On the loop's thread.
    func isSlow(_ connection: WebSocketConnection) -> Bool {
        let limit = limits.streamQueueBytes
        guard connection.queuedBytes > limit else { return false }
        // It may be what one turn of the loop has brought, and sending has not been tried.
        connection.sendWaiting(downTo: limit)
        let waiting = connection.queuedBytes
        return waiting > limit && state.withLock { $0.backlog.isSlow(queuedBytes: waiting) }
    }

    var hasNoRoomForMissed: Bool {
        state.withLock { state in
            state.backlog.isFull(queuedBytes: state.connection?.queuedBytes ?? 0)
        }
    }

    func expect(missedBytes: Int) { state.withLock { $0.backlog.expect(missedBytes) } }

    func take(missedBytes: Int) {
        state.withLock { state in
            state.backlog.take(missedBytes, queuedBytes: state.connection?.queuedBytes ?? 0)
        }
        connection?.awaitDrained()
    }

    /// Calls back when there is room for what a stream has missed, unless the stream ends first.
    func whenDrained(
        for operation: ServerConnection.Operation, _ action: @escaping @Sendable () -> Void
    ) {
        let connection = state.withLock { state -> WebSocketConnection? in
            guard state.streams[operation] != nil else { return nil }
            state.waiting.append(operation, action)
            if state.isWaitPosted { return nil }
            state.isWaitPosted = true
            return state.connection
        }
        // Behind what has been handed to the loop and was not taken yet.
        connection?.loop.perform {
            self.state.withLock { $0.isWaitPosted = false }
            connection?.awaitDrained()
        }
    }

    /// Streams that wait for the peer to have room.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// A stream holds a result back until the peer has taken everything.
    func hold(_ stream: OperationSink) {
        state.withLock { state in
            guard state.streams[stream.operation] != nil else { return }
            state.holding[stream.operation] = stream
        }
    }

    /// Ends a stream with errors.
    func end(_ stream: OperationSink, _ errors: [JSONValue]) {
        removeStream(of: stream.operation)
        service.unsubscribe(stream)
        perform { $0.error(stream.operation, errors) }
    }

    // MARK: Results, on the loop's thread

    static func message(_ response: Response) -> OutgoingMessage {
        OutgoingMessage(.text, response.bytes + ServerMessage.nextSuffix)
    }

    /// Sends the one result of a query or mutation.
    private func finish(_ operation: ServerConnection.Operation, _ outcome: Outcome) {
        switch outcome {
        case .executed(let response):
            follow(state.withLock { $0.pace.end(operation.byteCount) })
            guard wants(operation) else { return }
            send(Self.message(response), prefix: ServerMessage.nextPrefix(id: operation.id))
            perform { $0.complete(operation) }
        case .refused(let errors):
            fail(operation, errors)
        case .overtaken(mayBeDone: true) where isOfNode:
            // No answer: the other server does not know what became of it.
            follow(state.withLock { $0.pace.end(operation.byteCount) })
            perform { $0.complete(operation) }
        case .stopping where isOfNode, .overtaken where isOfNode:
            fail(operation, [.notLeading])
        case .overtaken:
            fail(operation, Outcome.overtakenErrors)
        case .stopping:
            // As in `start`: the end of the connection is the answer.
            break
        }
    }

    /// Ends a stream that has nothing more to come.
    func complete(_ stream: OperationSink) {
        removeStream(of: stream.operation)
        perform { $0.complete(stream.operation) }
    }

    private func fail(_ operation: ServerConnection.Operation, _ errors: [ExecutionError]) {
        removeStream(of: operation)
        follow(state.withLock { $0.pace.end(operation.byteCount) })
        perform { $0.error(operation, errors.map(\.json)) }
    }
}

extension GraphQLSocket: ProgressListener {
    func tell(_ notice: ProgressNotice) {
        let isDue = state.withLock { state in
            state.machine.isReady && notice.isDue(after: state.silentSince)
                && state.streams.values.allSatisfy { $0.isSilent(for: notice) }
        }
        if isDue { send(notice.ping) }
    }
}

extension ExecutionError {
    /// For another server of the cluster: nothing was changed, and the one that leads now carries it out.
    fileprivate static let notLeading = ExecutionError(
        "This server does not carry out mutations now. Nothing was changed.", code: .notLeading)
}

extension GraphQLRequest {
    /// It asks to resume somewhere in the past.
    var resumeCursor: String? { extensions["relay"]?["resume"]?.string }

    /// Asks to resume after a cursor.
    mutating func resume(behind cursor: String) {
        var relay = extensions["relay"]?.object ?? [:]
        relay["resume"] = .string(cursor)
        extensions["relay"] = .object(relay)
    }
}
