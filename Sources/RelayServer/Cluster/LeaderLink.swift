import GraphQLExecution
import GraphQLTransportWS
import HTTPMessages
import RelayJSON
import StoreEngine
@_spi(Rooms) import Threads
import WebSocketIO

/// Hands mutations to the server that leads the cluster, over one WebSocket that speaks graphql-transport-ws.
///
/// They are sent in the order in which they came, and wait while nobody leads. What becomes of one whose connection is
/// lost before its answer is not known: if it has a mutation id it is sent again, and carried out once; otherwise its
/// client is told. How many wait is bounded by the service, which counts them as mutations in progress.
///
/// The actor runs on the thread of a loop of its own, so that nothing here holds up clients.
actor LeaderLink {
    private struct Handed {
        let number: UInt64
        let payload: JSONObject
        let byteCount: Int
        /// It has a mutation id: however often it is sent, it is carried out once.
        let isNamed: Bool
        let deadline: ContinuousClock.Instant
        let answer: @Sendable (Outcome) -> Void
        /// It was sent, and may have been carried out.
        var mayBeDone = false
    }

    /// For how long a mutation waits for a server that leads.
    static let patience: Duration = .seconds(30)
    /// Bytes that the connection has not taken; more wait here.
    static let windowBytes = 8 << 20
    /// Of a message, without its payload.
    private static let envelopeBytes = 128
    /// How long until one that does not lead, or cannot be reached, is asked again.
    private static let pause: Duration = .milliseconds(100)

    private let loop: IOLoop
    private let key: ClusterKey
    private let messageBytes: Int
    private let patience: Duration
    private let report: @Sendable (String) -> Void

    private var isLeading = false
    private var leader: ServerAddress?
    /// Whom the connection is to.
    private var connected: ServerAddress?
    /// Of the connections, one after another; what comes from an earlier one does not count.
    private var attempt = 0
    private var connection: WebSocketConnection?
    private var machine = ClientConnection()
    private var isConnecting = false
    private var isPausing = false
    private var isStopped = false
    /// Whether it has been said that the leader cannot be reached.
    private var isCutOff = false

    private var count: UInt64 = 0
    private var waiting = FIFO<Handed>()
    /// Those that were sent once, in their order; they go first.
    private var again = FIFO<Handed>()
    /// Those that have come back and are not in order yet.
    private var returned: [Handed] = []
    private var sent: [ClientConnection.Operation: Handed] = [:]
    /// The server has said that it does not lead: one is sent, and the others follow when that is answered otherwise.
    private var isProbing = false
    private var isLooking = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - loop: of its own; stopped by ``stop()``.
    ///   - key: what the servers of the cluster share.
    ///   - messageBytes: the most that a server takes in one message.
    ///   - report: told in sentences what an operator should know.
    init(
        on loop: IOLoop, key: ClusterKey, messageBytes: Int, patience: Duration = patience,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.loop = loop
        self.key = key
        self.messageBytes = messageBytes
        self.patience = patience
        self.report = report
    }

    // MARK: From any thread

    /// Takes a mutation. It is `overtaken` if this server leads before another one has it.
    nonisolated func forward(
        _ request: GraphQLRequest, _ answer: @escaping @Sendable (Outcome) -> Void
    ) {
        let payload = request.forwarded
        let byteCount = JSONValue.object(payload).bytes.count
        let isNamed = !(request.extensions["relay"]?["mutationId"] ?? .null).isNull
        let deadline = ContinuousClock.now + patience
        let isTaken = loop.perform {
            self.assumeIsolated { link in
                link.count += 1
                link.take(
                    Handed(
                        number: link.count, payload: payload, byteCount: byteCount,
                        isNamed: isNamed, deadline: deadline, answer: answer))
            }
        }
        if !isTaken { answer(.stopping) }
    }

    /// ``forward(_:_:)``, for the service.
    nonisolated var forwarder: MutationForwarder { { self.forward($0, $1) } }

    /// Another server leads, or nobody does.
    nonisolated func follow(_ leader: ServerAddress?) {
        loop.perform {
            self.assumeIsolated { link in
                link.isLeading = false
                link.change(leader)
            }
        }
    }

    /// This server leads: it carries out itself what waits.
    nonisolated func lead() {
        loop.perform {
            self.assumeIsolated { link in
                link.isLeading = true
                link.leader = nil
                link.disconnect()
                link.answerAll { _ in .overtaken }
            }
        }
    }

    /// Answers what still waits, and ends the loop.
    nonisolated func stop() async {
        loop.perform {
            self.assumeIsolated { link in
                link.isStopped = true
                link.leader = nil
                link.disconnect()
                link.answerAll { $0.mayBeDone ? .unknown : .stopping }
            }
        }
        await loop.stop()
    }

    // MARK: What waits

    private func take(_ handed: Handed) {
        if isStopped { return handed.answer(.stopping) }
        if isLeading { return handed.answer(.overtaken) }
        guard handed.byteCount + Self.envelopeBytes <= messageBytes else {
            let message = """
                This mutation has more than the \(messageBytes) bytes that the servers of the cluster take from each \
                other. Nothing was changed.
                """
            return handed.answer(.refused([ExecutionError(message, code: .limitExceeded)]))
        }
        waiting.append(handed)
        send()
        look()
    }

    private var isIdle: Bool { again.isEmpty && returned.isEmpty && waiting.isEmpty }

    private func popNext() -> Handed? {
        if !returned.isEmpty {
            var all = Array(again) + returned
            all.sort { $0.number < $1.number }
            again = FIFO()
            again.append(contentsOf: all)
            returned = []
        }
        return again.popFirst() ?? waiting.popFirst()
    }

    private func send() {
        // Without a leader, the connection to the last one is only listened to.
        guard let connection, leader != nil, machine.isReady, !isPausing else { return }
        while !(isProbing && !sent.isEmpty) {
            guard connection.queuedBytes < Self.windowBytes else {
                return connection.awaitDrained()
            }
            guard let handed = popNext() else { return }
            let (operation, actions) = machine.subscribe(handed.payload)
            sent[operation] = handed
            perform(actions)
        }
    }

    private func answerAll(_ outcome: (Handed) -> Outcome) {
        while let handed = popNext() { handed.answer(outcome(handed)) }
    }

    /// Looks once a second whose time is up, as long as something waits.
    private func look() {
        if isLooking || isIdle { return }
        isLooking = true
        loop.perform(after: .seconds(1)) { [weak self] in
            self?.assumeIsolated { link in
                link.isLooking = false
                link.answerLate()
                link.look()
            }
        }
    }

    private func answerLate() {
        let now = ContinuousClock.now
        // They came in the order of their deadlines, as good as.
        var inTime: [Handed] = []
        while !again.isEmpty || !returned.isEmpty, let handed = popNext() {
            if handed.deadline <= now {
                handed.answer(handed.mayBeDone ? .unknown : .leaderless)
            } else {
                inTime.append(handed)
            }
        }
        again.append(contentsOf: inTime)
        while let handed = waiting.first, handed.deadline <= now {
            _ = waiting.popFirst()
            handed.answer(.leaderless)
        }
    }

    // MARK: The connection

    private func change(_ new: ServerAddress?) {
        if new == leader { return }
        leader = new
        isCutOff = false
        isProbing = false
        // Who led last may still answer; and may be the next one.
        guard let new else { return }
        if new != connected { disconnect() }
        connect()
        send()
    }

    private func disconnect() {
        attempt += 1
        isConnecting = false
        connected = nil
        perform(machine.close())
        connection = nil
    }

    private func connect() {
        guard let leader, connection == nil, !isConnecting, !isPausing, !isStopped else { return }
        isConnecting = true
        connected = leader
        attempt += 1
        var address = leader
        address.path = Front.path
        var options = WebSocketClient.Options(
            subprotocols: [GraphQLSocket.subprotocol],
            headers: key.headers)
        options.connectTimeout = .seconds(3)
        options.keepAlive = .seconds(3)
        let handler = LeaderSocket(self, attempt)
        Task { [options, attempt, loop] in
            do {
                _ = try await WebSocketClient.connect(
                    to: address, options, on: loop, handler: handler)
            } catch {
                failed(error, attempt)
            }
        }
    }

    private func failed(_ error: any Error, _ attempt: Int) {
        guard attempt == self.attempt else { return }
        isConnecting = false
        connected = nil
        if !isCutOff {
            isCutOff = true
            report("The server that leads the cluster cannot be reached: mutations wait. \(error)")
        }
        pause()
    }

    private func pause() {
        if isPausing { return }
        isPausing = true
        loop.perform(after: Self.pause) { [weak self] in
            self?.assumeIsolated { link in
                link.isPausing = false
                link.connect()
                link.send()
            }
        }
    }

    fileprivate func opened(_ connection: WebSocketConnection, _ attempt: Int) {
        guard attempt == self.attempt else { return connection.close() }
        isConnecting = false
        self.connection = connection
        machine = ClientConnection()
        perform(machine.socketOpened())
    }

    fileprivate func received(_ message: WebSocketMessage, _ attempt: Int) {
        guard attempt == self.attempt else { return }
        perform(
            message.kind == .text ? machine.receive(message.bytes) : machine.receiveBinary())
        send()
        look()
    }

    fileprivate func drained(_ attempt: Int) {
        if attempt == self.attempt { send() }
    }

    fileprivate func closed(_ attempt: Int) {
        guard attempt == self.attempt else { return }
        perform(machine.socketClosed())
        connection = nil
        connected = nil
        pause()
        look()
    }

    private func perform(_ actions: [ClientConnection.Action]) {
        for action in actions {
            switch action {
            case .send(let bytes): connection?.send(OutgoingMessage(.text, bytes))
            case .close(let close): connection?.close(code: close.code, reason: close.reason)
            case .acknowledged:
                isCutOff = false
                send()
            case .next(let operation, let payload, _):
                isProbing = false
                finish(operation)?.answer(.executed(Response(forwarded: payload)))
            case .failed(let operation, let errors):
                guard let handed = finish(operation) else { break }
                let errors = errors.map(ExecutionError.init(forwarded:))
                if errors.first?.code == .notLeading {
                    // Nothing was changed. Who leads will be known soon.
                    returned.append(handed)
                    isProbing = true
                    pause()
                } else {
                    isProbing = false
                    handed.answer(.refused(errors))
                }
            case .completed(let operation):
                finish(operation)?.answer(.unknown)
            case .interrupted(let operation):
                guard var handed = finish(operation) else { break }
                handed.mayBeDone = true
                if handed.isNamed { returned.append(handed) } else { handed.answer(.unknown) }
            case .pinged, .ponged: break
            }
        }
    }

    private func finish(_ operation: ClientConnection.Operation) -> Handed? {
        sent.removeValue(forKey: operation)
    }
}

/// One connection of a ``LeaderLink``.
private final class LeaderSocket: WebSocketHandler {
    private let link: LeaderLink
    private let attempt: Int

    init(_ link: LeaderLink, _ attempt: Int) {
        self.link = link
        self.attempt = attempt
    }

    func opened(_ connection: WebSocketConnection) {
        link.assumeIsolated { [attempt] in $0.opened(connection, attempt) }
    }

    func received(_ message: WebSocketMessage, on connection: WebSocketConnection) {
        link.assumeIsolated { [attempt] in $0.received(message, attempt) }
    }

    func drained(_ connection: WebSocketConnection) {
        link.assumeIsolated { [attempt] in $0.drained(attempt) }
    }

    func closed(_ close: WebSocketClose, on connection: WebSocketConnection) {
        link.assumeIsolated { [attempt] in $0.closed(attempt) }
    }
}

extension Outcome {
    /// Whether it was carried out is not known.
    fileprivate static let unknown = Outcome.refused([
        ExecutionError(
            """
            The connection to the server that carries out mutations was lost. Whether this one was carried out is not \
            known; with the same mutationId it is carried out once.
            """, code: .outcomeUnknown)
    ])

    fileprivate static let leaderless = Outcome.refused([
        ExecutionError(
            "No server of the cluster carries out mutations at the moment. Nothing was changed; try again later.",
            code: .overloaded)
    ])
}

extension Response {
    /// - Parameter bytes: as the server that leads has made them.
    fileprivate convenience init(forwarded bytes: [UInt8]) {
        let json = try? JSONValue(parsing: bytes)
        self.init(
            bytes: bytes, hasErrors: json?["errors"] != nil,
            cursor: json?["extensions"]?["relay"]?["cursor"]?.string)
    }
}
