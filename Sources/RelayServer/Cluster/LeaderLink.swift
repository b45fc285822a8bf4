import GraphQLExecution
import GraphQLTransportWS
import HTTPMessages
import RelayJSON
import StoreEngine
@_spi(Rooms) import Threads
import WebSocketIO

/// Hands mutations to the server that leads the cluster, over a WebSocket that speaks graphql-transport-ws.
///
/// They are sent in the order in which they came, and wait while nobody leads. What becomes of one whose connection is
/// lost before its answer is not known: if it has a mutation id it is sent again, and carried out once; otherwise its
/// client is told. How many wait is bounded by the service, which counts them as mutations in progress.
///
/// The actor runs on the thread of a loop of its own, so that nothing here holds up clients.
actor LeaderLink {
    /// A mutation that was handed over.
    struct Handed {
        let number: UInt64
        let payload: JSONObject
        /// Of the message.
        let byteCount: Int
        /// It has a mutation id: however often it is sent, it is carried out once.
        let isNamed: Bool
        /// Somebody asks whose claims rules may look at.
        let hasViewer: Bool
        let deadline: ContinuousClock.Instant
        /// It was sent, and may have been carried out.
        var mayBeDone: Bool
        /// How often its connection was lost.
        var losses = 0
        fileprivate let answer: @Sendable (Outcome) -> Void

        /// Answers it, for the only time.
        func end(_ outcome: Outcome) { answer(mayBeDone ? outcome.ofLaterAttempt : outcome) }

        /// This server carries it out itself, or hands it over again.
        func giveBack() { answer(.overtaken(mayBeDone: mayBeDone)) }
    }

    /// For how long a mutation waits for a server that leads.
    static let patience: Duration = .seconds(30)
    /// Bytes that the connection has not taken; more wait here.
    private static let windowBytes = 8 << 20
    /// Of a message, without its payload.
    private static let envelopeBytes = 128
    /// How long until one that does not lead, or cannot be reached, is asked again.
    private static let pause: Duration = .milliseconds(100)
    /// How long whoever led before may take to answer what it has.
    private static let farewell: Duration = .seconds(1)
    /// How often a mutation is sent whose connection is lost: it may be the reason.
    private static let mostLosses = 10
    /// For messages between servers. Clients' values nest a quarter as deep at most; messages, and the selections of a
    /// result, add to that.
    static let jsonLimits = JSONLimits(depth: 2_048)
    private static let longestAnswer = 4 << 30

    private let loop: IOLoop
    private let key: ClusterKey
    private let messageBytes: Int
    private let claims: Set<String>
    private let patience: Duration
    private let report: @Sendable (String) -> Void

    private var isLeading = false
    private var isStopped = false
    private var leader: ServerAddress?
    /// To the leader, or to whoever led last.
    private var current: LeaderConnection?
    /// Those that are only listened to, until what was sent on them is answered.
    private var earlier: [ObjectIdentifier: LeaderConnection] = [:]
    private var isPausing = false
    /// The server has said that it does not lead: one is sent, and the others follow when that is answered otherwise.
    private var isProbing = false
    /// The one that is sent then.
    private var probe: UInt64?
    /// This server takes no part in the cluster any more.
    private var hasFailed = false
    /// Whether it has been said that the leader cannot be reached.
    private var isCutOff = false

    private var count: UInt64 = 0
    private var waiting = FIFO<Handed>()
    /// Those that were sent once, in their order; they go first.
    private var again = FIFO<Handed>()
    /// Those that have come back and are not in order yet.
    private var returned: [Handed] = []
    private var isLooking = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - loop: of its own; stopped by ``stop()``.
    ///   - key: what the servers of the cluster share.
    ///   - messageBytes: the most that a server takes in one message.
    ///   - claims: those that viewers have here: what the rules of this server's schema look at.
    ///   - report: told in sentences what an operator should know.
    init(
        on loop: IOLoop, key: ClusterKey, messageBytes: Int, claims: Set<String>,
        patience: Duration = patience, report: @escaping @Sendable (String) -> Void
    ) {
        self.loop = loop
        self.key = key
        self.messageBytes = messageBytes
        self.claims = claims
        self.patience = patience
        self.report = report
    }

    // MARK: From any thread

    /// Takes a mutation. It is `overtaken` if this server leads before another one has it.
    nonisolated func forward(
        _ mutation: HandedMutation, _ answer: @escaping @Sendable (Outcome) -> Void
    ) {
        let request = mutation.request
        let payload = request.forwarded
        let byteCount = JSONValue.object(payload).bytes.count + Self.envelopeBytes
        guard byteCount <= messageBytes else { return answer(.tooLong(limit: messageBytes)) }
        let isNamed = !(request.extensions["relay"]?["mutationId"] ?? .null).isNull
        let isTaken = post { [patience] link in
            link.count += 1
            link.take(
                Handed(
                    number: link.count, payload: payload, byteCount: byteCount, isNamed: isNamed,
                    hasViewer: request.identity.viewer != nil,
                    deadline: mutation.since + patience, mayBeDone: mutation.mayBeDone,
                    answer: answer))
        }
        if !isTaken { answer(mutation.mayBeDone ? .unknown : .stopping) }
    }

    /// ``forward(_:_:)``, for the service.
    nonisolated var forwarder: MutationForwarder { { self.forward($0, $1) } }

    /// Another server leads, or nobody does.
    nonisolated func follow(_ leader: ServerAddress?) {
        post { link in
            link.isLeading = false
            link.change(leader)
        }
    }

    /// This server leads: it carries out itself what waits.
    nonisolated func lead() {
        post { link in
            link.isLeading = true
            link.leader = nil
            link.leaveCurrent()
            while let handed = link.popNext() { handed.giveBack() }
        }
    }

    /// This server takes no part in the cluster any more, and cannot know who leads.
    nonisolated func fail() {
        post { link in
            link.hasFailed = true
            link.leader = nil
            link.leaveCurrent()
            while let handed = link.popNext() { handed.end(.leaderless) }
        }
    }

    /// Answers what still waits, and ends the loop.
    nonisolated func stop() async {
        post { link in
            link.isStopped = true
            link.leader = nil
            for connection in link.connections { link.end(connection) }
            while let handed = link.popNext() { handed.end(.stopping) }
        }
        await loop.stop()
    }

    @discardableResult
    private nonisolated func post(
        _ action: @escaping @Sendable (isolated LeaderLink) -> Void
    ) -> Bool {
        loop.perform { self.assumeIsolated { action($0) } }
    }

    // MARK: What waits

    private func take(_ handed: Handed) {
        if isStopped { return handed.end(.stopping) }
        if isLeading { return handed.giveBack() }
        if hasFailed { return handed.end(.leaderless) }
        waiting.append(handed)
        goOn()
    }

    /// A mutation comes back: it was not carried out, or has an id.
    private func takeBack(_ handed: Handed) {
        if isLeading { return handed.giveBack() }
        if hasFailed { return handed.end(.leaderless) }
        returned.append(handed)
    }

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
        // Without a leader, whoever led last is only listened to. Sending may be the end of the connection.
        while leader != nil, !isPausing, probe == nil, let current,
            let recipient = current.recipient,
            current.hasRoom(for: Self.windowBytes), let handed = popNext()
        {
            if let refusal = refusal(of: handed, by: recipient) {
                handed.end(refusal)
                continue
            }
            if isProbing { sendAlone(handed.number) }
            perform(current.send(handed), on: current)
        }
    }

    /// Why a mutation is not sent to a server; nil if it is.
    private func refusal(of handed: Handed, by recipient: NodeGreeting) -> Outcome? {
        if handed.byteCount > recipient.messageBytes {
            return .tooLong(limit: recipient.messageBytes)
        }
        let unknown = recipient.claims.subtracting(claims)
        return handed.hasViewer && !unknown.isEmpty ? .unknownClaims(unknown) : nil
    }

    /// A server that does not lead says so at once. One that says nothing has taken it.
    private func sendAlone(_ number: UInt64) {
        probe = number
        loop.perform(after: Self.pause) { [weak self] in
            self?.assumeIsolated { link in
                guard link.probe == number else { return }
                (link.isProbing, link.probe) = (false, nil)
                link.send()
            }
        }
    }

    /// Looks once a second whose time is up, as long as something waits.
    private func look() {
        let isIdle = again.isEmpty && returned.isEmpty && waiting.isEmpty
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
        var inTime = FIFO<Handed>()
        while !again.isEmpty || !returned.isEmpty, let handed = popNext() {
            if handed.deadline <= now {
                handed.end(.leaderless)
            } else {
                inTime.append(handed)
            }
        }
        again = inTime
        // What this server began to carry out itself has come late.
        var left = FIFO<Handed>()
        while let handed = waiting.popFirst() {
            if handed.deadline <= now { handed.end(.leaderless) } else { left.append(handed) }
        }
        waiting = left
    }

    // MARK: Connections

    private var connections: [LeaderConnection] {
        (current.map { [$0] } ?? []) + earlier.values
    }

    private func change(_ new: ServerAddress?) {
        if new == leader { return }
        leader = new
        isCutOff = false
        (isProbing, probe) = (false, nil)
        // Whoever led last may still answer, and may be the next one.
        guard let new else { return }
        if new != current?.address { leaveCurrent() }
        connect()
        send()
    }

    /// What was sent on the connection may still be answered; nothing new is sent on it.
    private func leaveCurrent() {
        guard let connection = current else { return }
        current = nil
        guard connection.hasSent else { return end(connection) }
        earlier[ObjectIdentifier(connection)] = connection
        loop.perform(after: Self.farewell) { [weak self, weak connection] in
            self?.assumeIsolated { link in
                guard let connection else { return }
                link.end(connection)
                link.goOn()
            }
        }
    }

    private func end(_ connection: LeaderConnection) {
        if connection === current { current = nil }
        earlier[ObjectIdentifier(connection)] = nil
        perform(connection.end(), on: connection)
    }

    private func connect() {
        guard let leader, current == nil, !isPausing, !isStopped else { return }
        let connection = LeaderConnection(to: leader, of: self, key)
        current = connection
        var address = leader
        address.path = Front.path
        var options = WebSocketClient.Options(
            subprotocols: [GraphQLSocket.subprotocol], headers: key.headers)
        options.connectTimeout = .seconds(3)
        options.keepAlive = .seconds(3)
        // Whoever leads has its own bounds on results.
        options.maxMessageBytes = Self.longestAnswer
        // At its window, one more message is put in.
        options.maxQueuedBytes = Self.windowBytes + min(messageBytes, .max / 2) + Self.envelopeBytes
        Task { [options, loop] in
            do {
                _ = try await WebSocketClient.connect(
                    to: address, options, on: loop, handler: connection)
            } catch {
                lost(connection, because: "\(error)")
            }
        }
    }

    func lost(_ connection: LeaderConnection, because reason: String) {
        let isCurrent = connection === current
        end(connection)
        if connection.takeInterrupted() {
            report(
                """
                Mutations were on their way when the connection to \(connection.address) was lost. \(reason)
                """)
        }
        guard isCurrent else { return goOn() }
        if !connection.wasReady, !isCutOff, leader != nil {
            isCutOff = true
            report("The server that leads the cluster cannot be reached: mutations wait. \(reason)")
        }
        pause()
        look()
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

    func drained() { send() }

    func perform(_ events: [LeaderConnection.Event], on connection: LeaderConnection) {
        for event in events {
            switch event {
            case .ready:
                isCutOff = false
                send()
            case .answered(let handed, let outcome):
                if handed.number == probe { (isProbing, probe) = (false, nil) }
                handed.end(outcome)
            case .doesNotLead(let handed):
                // Nothing was changed. Who leads will be known soon.
                if handed.number == probe { probe = nil }
                takeBack(handed)
                if connection === current {
                    isProbing = true
                    pause()
                }
            case .interrupted(var handed):
                if handed.number == probe { probe = nil }
                handed.mayBeDone = true
                handed.losses += 1
                if handed.isNamed, handed.losses < Self.mostLosses {
                    takeBack(handed)
                } else {
                    handed.end(.unknown)
                }
            }
        }
    }

    func took(_ events: [LeaderConnection.Event], from connection: LeaderConnection) {
        perform(events, on: connection)
        if connection !== current, !connection.hasSent { end(connection) }
        goOn()
    }

    /// Something may have come back.
    private func goOn() {
        send()
        look()
    }
}

extension Outcome {
    fileprivate static let leaderless = Outcome.refused([
        ExecutionError(
            "No server of the cluster carries out mutations at the moment. Nothing was changed; try again later.",
            code: .overloaded)
    ])

    fileprivate static func tooLong(limit: Int) -> Outcome {
        let message = """
            This mutation has more than the \(limit) bytes that the servers of the cluster take from each other. Nothing \
            was changed.
            """
        return .refused([ExecutionError(message, code: .limitExceeded)])
    }

    /// Rules that look at claims would take a viewer for one who has none.
    fileprivate static func unknownClaims(_ claims: Set<String>) -> Outcome {
        let message = """
            The server that carries out mutations has rules on claims that this server's schema does not know: \
            \(claims.sorted().joined(separator: ", ")). Nothing was changed; try again later, or at another server.
            """
        return .refused([ExecutionError(message, code: .overloaded)])
    }
}
