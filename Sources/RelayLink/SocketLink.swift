import GraphQLTransportWS
import Synchronization
package import WebSocketIO

/// Performs a ``LinkMachine``'s actions on the thread of a network loop; all its state stays on that thread.
package actor SocketLink {
    /// What the link needs from outside.
    package struct Outside: Sendable {
        package var tokens: TokenProvider?
        package var socket: WebSocketClient.Options
        package var inputs = NetworkInputs()
        package var report: @Sendable (NetworkEvent) -> Void = { _ in }
        /// Called when a session has ended, with the reason.
        package var ended: @Sendable (TransportError) -> Void = { _ in }

        package init(tokens: TokenProvider?, socket: WebSocketClient.Options) {
            self.tokens = tokens
            self.socket = socket
        }
    }

    package nonisolated let loop: IOLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }
    private nonisolated let address: ServerAddress
    private nonisolated let outside: Outside
    private nonisolated let lastID = Atomic<UInt64>(0)
    private var machine: LinkMachine
    private var channels: [OperationID: ResponseChannel] = [:]
    /// Callbacks that count interruptions of mutations.
    private var interruptions: [OperationID: @Sendable () -> Void] = [:]
    private var socket: WebSocketConnection?
    /// Sockets that are still open, including the current one.
    private var socketCount = 0
    /// Resumed when no socket is open any more.
    private var farewell: CheckedContinuation<Void, Never>?
    /// The attempt that waits for a token; nil: none was requested.
    private var tokenAttempt: LinkAction.Attempt?

    package init(
        to address: ServerAddress, _ options: LinkOptions, _ outside: Outside, on loop: IOLoop
    ) {
        self.loop = loop
        self.address = address
        self.outside = outside
        machine = LinkMachine(options)
    }

    /// Runs something on the link's thread, in the order of the calls.
    /// - Returns: false if the loop has ended; then nothing happens.
    @discardableResult
    private nonisolated func post(
        _ action: @escaping @Sendable (isolated SocketLink) -> Void
    ) -> Bool {
        loop.perform { self.assumeIsolated { action($0) } }
    }

    // MARK: Operations, from any thread

    /// Starts an operation.
    /// - Parameters:
    ///   - capacity: how many responses may wait for their reader, and how many bytes they may have.
    ///   - asksForRecords: for a stream: whether later results may be sent as patches of records.
    ///   - interruptionCount: for a mutation that an earlier run of the program sent.
    ///   - isUnfinished: whether it is such a mutation: nobody waits for its answer, so it waits for a busy server.
    ///   - onInterruption: called when a connection ends while the server has the mutation.
    ///   - owner: stops the link when it is released, so the responses retain it.
    package nonisolated func begin(
        _ request: OperationRequest, capacity: Int, byteCapacity: Int = .max,
        asksForRecords: Bool = false,
        interruptionCount: UInt64 = 0, isUnfinished: Bool = false,
        onInterruption: (@Sendable () -> Void)? = nil,
        keeping owner: (any Sendable)? = nil
    ) -> Responses {
        let id = OperationID(number: lastID.wrappingAdd(1, ordering: .relaxed).newValue)
        let channel = ResponseChannel(capacity: capacity, byteCapacity: byteCapacity) {
            [weak self] in
            self?.post { link in link.perform(link.machine.resume(id)) }
        }
        let isTaken = post { link in
            link.channels[id] = channel
            link.interruptions[id] = onInterruption
            link.perform(
                link.machine.begin(
                    id, request, asksForRecords: asksForRecords,
                    interruptionCount: interruptionCount, isUnfinished: isUnfinished))
        }
        if !isTaken { channel.finish(.stopped("send operation \(request.name)")) }
        let renounce: @Sendable (String?) -> Void = { [weak self] cursor in
            self?.post { link in link.perform(link.machine.renounceRecords(id, at: cursor)) }
        }
        return Responses(channel, renounceRecords: renounce) {
            withExtendedLifetime(owner) {
                _ = self.post { link in
                    link.channels[id] = nil
                    link.interruptions[id] = nil
                    link.perform(link.machine.cancel(id))
                }
            }
        }
    }

    /// Starts a session.
    package nonisolated func open() {
        post { link in link.perform(link.machine.open()) }
    }

    /// Drops the current connection and makes another one.
    package nonisolated func reconnect() {
        post { link in link.perform(link.machine.reconnect()) }
    }

    /// Ends everything, permanently.
    package nonisolated func stop() {
        post { link in link.perform(link.machine.stop()) }
    }

    /// Ends everything, permanently, and waits until the server knows, or is gone.
    package func end() async {
        perform(machine.stop())
        if socketCount > 0 { await withCheckedContinuation { farewell = $0 } }
    }

    // MARK: Performing the machine's actions

    private func perform(_ actions: [LinkAction]) {
        var full: [OperationID] = []
        for action in actions {
            switch action {
            case .authorize(let attempt, let isRefused): authorize(attempt, isRefused)
            case .connect(let attempt, let token): connect(attempt, token)
            case .send(let bytes): socket?.send(OutgoingMessage(.text, bytes))
            case .close(let code):
                socket?.close(code: code.code, reason: code.reason)
                socket = nil
            case .abort:
                socket?.abort()
                socket = nil
            case .schedule(let timer, let delay): schedule(timer, after: delay)
            case .retry(let attempt, let failures):
                let delay = machine.options.retry.delay(
                    afterFailures: failures, random: outside.inputs.random())
                outside.report(.waiting(delay))
                schedule(.retry(attempt), after: delay)
            case .resumeLater(let id, let endings):
                let delay = machine.options.retry.delay(
                    afterFailures: endings, random: outside.inputs.random())
                schedule(.resumption(id), after: delay)
            case .deliver(let id, let response):
                // A mark takes no response's place.
                if channels[id]?.push(response) == true, !RenewalMark.isMark(response) {
                    full.append(id)
                }
            case .interrupted(let id):
                // Not here: the count is written to a store, which may make the caller wait.
                if let note = interruptions[id] { Task { note() } }
            case .finish(let id, let error):
                interruptions[id] = nil
                channels.removeValue(forKey: id)?.finish(error)
            case .report(let event): outside.report(event)
            case .ended(let error): outside.ended(error)
            }
        }
        // Not before: the machine has decided on everything in the list, also on what follows a response in it.
        for id in full { perform(machine.suspend(id)) }
    }

    private func schedule(_ timer: LinkAction.Timer, after delay: Duration) {
        outside.inputs.after(loop, delay) { [weak self] in
            self?.assumeIsolated { $0.perform($0.machine.timerFired(timer)) }
        }
    }

    /// Asks for a token, one call at a time: a late answer goes to the attempt that is waiting by then.
    private func authorize(_ attempt: LinkAction.Attempt, _ isRefused: Bool) {
        let isBusy = tokenAttempt != nil
        tokenAttempt = attempt
        if isBusy { return }
        let tokens = outside.tokens
        Task {
            let token: Result<String?, any Error>
            do {
                token = .success(try await tokens?.token(isRefused))
            } catch {
                token = .failure(error)
            }
            authorized(token)
        }
    }

    private func authorized(_ token: Result<String?, any Error>) {
        guard let attempt = tokenAttempt else { return }
        tokenAttempt = nil
        perform(machine.authorized(attempt, token))
    }

    private func connect(_ attempt: LinkAction.Attempt, _ token: String?) {
        let handler = SocketHandler(self, attempt, token)
        let (address, options, loop) = (address, outside.socket, loop)
        Task {
            do {
                _ = try await WebSocketClient.connect(
                    to: address, options, on: loop, handler: handler)
            } catch {
                perform(machine.socketClosed(attempt, ConnectionLoss(error)))
            }
        }
    }

    // MARK: The socket

    fileprivate func opened(
        _ connection: WebSocketConnection, _ attempt: LinkAction.Attempt, _ token: String?
    ) {
        socketCount += 1
        guard let actions = machine.socketOpened(attempt, token: token) else {
            return connection.close()
        }
        socket = connection
        perform(actions)
    }

    fileprivate func received(_ message: WebSocketMessage, _ attempt: LinkAction.Attempt) {
        outside.inputs.received(message.bytes.count)
        perform(machine.received(attempt, message.kind == .text ? message.bytes : nil))
    }

    fileprivate func closed(_ close: WebSocketClose, _ attempt: LinkAction.Attempt) {
        if attempt == machine.attempt { socket = nil }
        perform(machine.socketClosed(attempt, ConnectionLoss(close, of: address)))
        socketCount -= 1
        if socketCount == 0 {
            farewell?.resume()
            farewell = nil
        }
    }
}

/// Passes the events of one socket to its link.
private final class SocketHandler: WebSocketHandler {
    private let link: SocketLink
    private let attempt: LinkAction.Attempt
    private let token: String?

    init(_ link: SocketLink, _ attempt: LinkAction.Attempt, _ token: String?) {
        self.link = link
        self.attempt = attempt
        self.token = token
    }

    func opened(_ connection: WebSocketConnection) {
        link.assumeIsolated { $0.opened(connection, attempt, token) }
    }

    func received(_ message: WebSocketMessage, on connection: WebSocketConnection) {
        link.assumeIsolated { $0.received(message, attempt) }
    }

    func closed(_ close: WebSocketClose, on connection: WebSocketConnection) {
        link.assumeIsolated { $0.closed(close, attempt) }
    }
}
