import GraphQLTransportWS
import RelayJSON

/// All operations of one client over one connection at a time, as a pure state machine: events go in, and
/// the returned actions are to be performed in order.
///
/// A connection is made when the first operation needs one. When it breaks, it is made again with growing
/// delays, and then every operation that has not ended is sent again: queries as they are, mutations by
/// their ids, streams from their last cursor.
///
/// 1. There is at most one socket; whatever comes from an earlier one is ignored.
/// 2. Each operation gets `finish` exactly once, and nothing after it.
/// 3. Mutations are sent in the order in which they were started. One that was interrupted before is sent alone, so
///    that it is the one to blame if the connection ends again.
/// 4. If the server closes the connection because of something that it refuses to read, the operation responsible
///    ends, and no other. While that one is not known (``suspects``), they are sent one by one, each followed by a
///    ping whose answer shows that the operation was read.
/// 5. A mutation fails only because the server refuses it or the client, because it ends every connection that it is
///    sent over, or because `retry` is exhausted. Anything else that ends the queries and streams of a connection
///    leaves it waiting.
struct LinkMachine: Sendable {
    typealias Attempt = LinkAction.Attempt

    enum State: Sendable {
        /// No connection, and none needed.
        case idle
        /// A token has been requested.
        case authorizing
        /// A socket is being opened.
        case connecting
        /// The socket is open; its machine knows whether the server has accepted us.
        case open(ClientConnection)
        /// The last connection failed; the next attempt follows after a while.
        case waiting
        /// Permanently.
        case stopped
    }

    let options: LinkOptions
    var state = State.idle
    var attempt: Attempt = 0
    /// Consecutive failed connections.
    var failures = 0
    /// The current token was requested because the previous one was refused.
    var hasFreshToken = false
    private(set) var begunCount: UInt64 = 0
    var operations: [OperationID: LinkOperation] = [:]
    /// Operations that the server has.
    var sent = SentOperations()
    /// Operations to be sent.
    var waiting = WaitingOperations()
    /// Mutations that were interrupted; rarely any.
    var interruptedMutations: Set<OperationID> = []
    /// A mutation that the server has put off: it is sent again after a while, and no mutation before that.
    var restingMutation: OperationID?
    /// Operations one of which the server refuses to read, and those started since; rarely any.
    var suspects: Set<OperationID> = []
    /// A ping follows what was sent, and nothing is sent before its answer.
    var awaitsPong = false
    /// Counts such pings, so that a timer knows its own.
    var pingCount: UInt64 = 0
    /// Consecutive pongs that did not come in time. Each doubles the time for the next: sending a large operation
    /// may take long.
    var missedPongs = 0
    /// A server has accepted us before.
    var hasConnected = false
    /// A timer will check whether the connection is needed.
    var isIdlenessWatched = false

    init(_ options: LinkOptions = LinkOptions()) { self.options = options }

    var isSession: Bool { options.lifetime == .session }

    /// Whether there should be a connection.
    var isNeeded: Bool { options.lifetime != .whileNeeded || !operations.isEmpty }

    // MARK: Operations

    /// Starts an operation. Ids must increase.
    /// - Parameters:
    ///   - asksForRecords: for a stream: whether later results may be sent as patches of records.
    ///   - interruptionCount: for a mutation that an earlier run of the program sent.
    ///   - isUnfinished: whether it is such a mutation.
    mutating func begin(
        _ id: OperationID, _ request: OperationRequest, asksForRecords: Bool = false,
        interruptionCount: UInt64 = 0, isUnfinished: Bool = false
    ) -> [LinkAction] {
        if case .stopped = state {
            return [.finish(id, .stopped("send operation \(request.name)"))]
        }
        guard operations.count < options.maximumOperations else {
            return [.finish(id, .tooMany(request.name, options.maximumOperations))]
        }
        begunCount += 1
        let operation = LinkOperation(
            request, asksForRecords: asksForRecords, interruptionCount: interruptionCount,
            isUnfinished: isUnfinished)
        if operation.isMutation, let limit = options.maximumInterruptions,
            interruptionCount >= limit
        {
            return [.finish(id, .gaveUp(request.name, after: interruptionCount))]
        }
        operations[id] = operation
        if operation.interruptionCount > 0 { interruptedMutations.insert(id) }
        if !suspects.isEmpty { suspects.insert(id) }
        waiting.insert(id, isMutation: operation.isMutation)
        switch state {
        case .idle: return connect()
        case .open: return sendWaiting()
        case .authorizing, .connecting, .waiting, .stopped: return []
        }
    }

    /// An operation was cancelled.
    mutating func cancel(_ id: OperationID) -> [LinkAction] {
        guard let operation = operations.removeValue(forKey: id) else { return [] }
        interruptedMutations.remove(id)
        suspects.remove(id)
        if restingMutation == id { restingMutation = nil }
        waiting.remove(id, isMutation: operation.isMutation)
        var actions: [LinkAction] = []
        if case .sent(let wire) = operation.phase { actions += stop(wire) }
        return actions + sendWaiting() + watchIdleness()
    }

    /// An operation's responses are not being read, and enough of them wait: the server is told to stop.
    mutating func suspend(_ id: OperationID) -> [LinkAction] {
        guard let operation = operations[id], case .sent(let wire) = operation.phase,
            !operation.isMutation, !operation.isAnsweredWhole
        else { return [] }
        let actions = stop(wire)
        guard operation.canResume else {
            return actions + [finish(id, .overflow(operation.request.name))] + watchIdleness()
        }
        operations[id]?.phase = .suspended
        return actions
    }

    /// There is room for responses again.
    mutating func resume(_ id: OperationID) -> [LinkAction] {
        guard case .suspended? = operations[id]?.phase else { return [] }
        return send(again: id)
    }

    /// The reader of a stream cannot use patches of records: the stream goes on with whole results,
    /// after the last response read. Those sent meanwhile are sent again, after a mark.
    /// - Parameter cursor: of the last response read; nil if none has one.
    mutating func renounceRecords(_ id: OperationID, at cursor: String?) -> [LinkAction] {
        guard var operation = operations[id], operation.mayRenounceRecords else { return [] }
        operation.renounceRecords(at: cursor)
        var actions = [LinkAction.deliver(id, RenewalMark.bytes)]
        if case .sent(let wire) = operation.phase {
            actions += stop(wire)
            operation.phase = .waiting
            waiting.insert(id, isMutation: false)
        }
        operations[id] = operation
        return actions + sendWaiting()
    }

    /// Ends everything, permanently.
    mutating func stop() -> [LinkAction] {
        var actions = failAll { .stopped("continue operation \($0)") }
        if case .open(var connection) = state {
            for case .close(let code) in connection.close() { actions.append(.close(code)) }
        }
        state = .stopped
        return actions
    }

    // MARK: The connection

    /// A session begins.
    mutating func open() -> [LinkAction] {
        guard case .idle = state else { return [] }
        return connect()
    }

    /// The requested token, or why there is none. One that comes late ends the wait for the next attempt, which would
    /// only ask again: a slow provider's answer is not wasted.
    mutating func authorized(
        _ attempt: Attempt, _ token: Result<String?, any Error>
    ) -> [LinkAction] {
        // The token provider may be offline too; the next connection starts from scratch.
        if case .failure = token { hasFreshToken = false }
        if case .waiting = state, case .success(let late) = token, isNeeded {
            self.attempt += 1
            state = .connecting
            return [.report(.connecting), .connect(self.attempt, token: late)]
        }
        guard case .authorizing = state, attempt == self.attempt else { return [] }
        switch token {
        case .success(let token):
            state = .connecting
            return [.connect(attempt, token: token)]
        case .failure(let error):
            return lost(ConnectionLoss(.noToken(error), .retry))
        }
    }

    /// The socket is open.
    /// - Returns: nil if it is no longer wanted.
    mutating func socketOpened(_ attempt: Attempt, token: String?) -> [LinkAction]? {
        guard case .connecting = state, attempt == self.attempt else { return nil }
        var connection = ClientConnection()
        let actions = connection.socketOpened(payload: token.map { ["token": .string($0)] })
        state = .open(connection)
        return perform(actions) + [
            .schedule(.acknowledgement(attempt), after: options.connectTimeout)
        ]
    }

    /// A message has arrived over the socket; nil for a binary one.
    mutating func received(_ attempt: Attempt, _ bytes: [UInt8]?) -> [LinkAction] {
        guard case .open(var connection) = state, attempt == self.attempt else { return [] }
        let actions = bytes.map { connection.receive($0) } ?? connection.receiveBinary()
        state = .open(connection)
        return perform(actions)
    }

    /// The server serves us: an operation has ended, or the connection has lasted for a while. Its acknowledgement, or
    /// the first message of a stream, says little: a server may send both and then go away, again and again, because of
    /// some other operation.
    mutating func forgetFailures() {
        failures = 0
        hasFreshToken = false
    }

    /// The socket is gone, or could not be opened.
    mutating func socketClosed(_ attempt: Attempt, _ loss: ConnectionLoss) -> [LinkAction] {
        guard attempt == self.attempt else { return [] }
        switch state {
        case .connecting:
            return lost(loss)
        case .open(var connection):
            // Mutations that the server had are not affected by what it refused to read.
            let isRefusal = loss.remedy == .withoutRefused
            let (judgement, loss) = judge(loss)
            let actions = connection.socketClosed()
            state = .open(connection)
            return judgement + perform(actions, blamesMutations: !isRefusal) + lost(loss)
        case .idle, .authorizing, .waiting, .stopped:
            return []
        }
    }

    /// The current connection is dropped, and another one made at once.
    mutating func reconnect() -> [LinkAction] {
        if case .stopped = state { return [] }
        // What has failed so far was over another route.
        failures = 0
        switch state {
        case .open(var connection):
            let actions = connection.socketClosed()
            state = .open(connection)
            let interrupted = perform(actions, blamesMutations: false)
            state = .idle
            awaitsPong = false
            return interrupted + [.abort] + (isNeeded ? connect() : [])
        case .connecting, .waiting:
            // An attempt that hangs is left alone: what comes of it is ignored.
            return isNeeded ? connect() : []
        case .idle, .authorizing, .stopped:
            return []
        }
    }

    mutating func timerFired(_ timer: LinkAction.Timer) -> [LinkAction] {
        switch timer {
        case .retry(let attempt):
            guard case .waiting = state, attempt == self.attempt else { return [] }
            if !isNeeded { state = .idle }
            return isNeeded ? connect() : []
        case .acknowledgement(let attempt):
            guard case .open(var connection) = state, attempt == self.attempt else { return [] }
            // The connection has lasted.
            if connection.isReady { forgetFailures() }
            let actions = connection.acknowledgementTimedOut()
            state = .open(connection)
            return perform(actions)
        case .token(let attempt):
            guard case .authorizing = state, attempt == self.attempt else { return [] }
            return lost(ConnectionLoss(.noTokenInTime(options.connectTimeout), .retry))
        case .pong(let number):
            guard case .open(var connection) = state, awaitsPong, number == pingCount
            else { return [] }
            missedPongs += 1
            let actions = connection.socketClosed()
            state = .open(connection)
            return perform(actions, blamesMutations: false) + [.abort]
                + lost(ConnectionLoss(.noPongInTime(options.connectTimeout), .retry))
        case .resumption(let id):
            if restingMutation == id {
                restingMutation = nil
                return sendWaiting()
            }
            guard case .resting? = operations[id]?.phase else { return [] }
            return send(again: id)
        case .idle(let count):
            isIdlenessWatched = false
            // It has been needed meanwhile.
            guard count == begunCount else { return watchIdleness() }
            guard case .open(var connection) = state, operations.isEmpty else { return [] }
            state = .idle
            attempt += 1
            let closes = connection.close().compactMap { action -> LinkAction? in
                if case .close(let code) = action { .close(code) } else { nil }
            }
            return closes + [.report(.closed)]
        }
    }
}
