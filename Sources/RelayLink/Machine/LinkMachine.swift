import GraphQLTransportWS
import RelayJSON

/// All operations of one client over one connection at a time, as a pure state machine: what happens goes
/// in here, and what it returns is to be done, in order.
///
/// A connection is made when the first operation needs one. When it breaks off it is made anew, later and
/// later, and then every operation that has not ended is sent again: queries as they are, mutations by
/// their ids, streams behind their last cursor.
///
/// 1. There is at most one socket; what comes from an earlier one counts for nothing.
/// 2. Each operation is told `finish` exactly once, and nothing after it.
/// 3. Mutations are sent in the order in which they were begun. One that was interrupted before is sent alone,
///    so that it is the one to blame if the connection ends again.
/// 4. Where the server closes the connection because of something that it does not want to read, the operation
///    that it was ends, and no other. While it is not known which it was (``suspects``), they are sent one by one,
///    each with a ping behind it, whose answer shows that it was read.
/// 5. A mutation fails because the server refuses it, or refuses the client, because it ends every connection that it
///    is sent over, or because `retry` has come to its end. What else ends the queries and streams of a connection
///    is nothing of it, and it goes on waiting.
struct LinkMachine: Sendable {
    typealias Attempt = LinkAction.Attempt

    enum State: Sendable {
        /// No connection, and no need of one.
        case idle
        /// A token is being asked for.
        case authorizing
        /// A socket is being opened.
        case connecting
        /// The socket is open; whether the server has let us in, its machine knows.
        case open(ClientConnection)
        /// The last connection came to nothing; the next is tried after a while.
        case waiting
        /// For good.
        case stopped
    }

    let options: LinkOptions
    var state = State.idle
    var attempt: Attempt = 0
    /// Connections in a row that came to nothing.
    var failures = 0
    /// The present token was asked for because the one before was refused.
    var hasFreshToken = false
    private(set) var begunCount: UInt64 = 0
    var operations: [OperationID: LinkOperation] = [:]
    /// Those that the server has.
    var sent = SentOperations()
    /// Those that are to be sent.
    var waiting = WaitingOperations()
    /// Mutations that were interrupted; seldom any.
    var interruptedMutations: Set<OperationID> = []
    /// Operations one of which the server refuses to read, and those that were begun since; seldom any.
    var suspects: Set<OperationID> = []
    /// A ping is behind what was sent, and nothing is sent before its answer.
    var awaitsPong = false
    /// Pings of that kind, so that a timer knows its own.
    var pingCount: UInt64 = 0
    /// Pongs that did not come in time, one after the other. Each doubles the time for the next: a large operation
    /// may take long to be sent.
    var missedPongs = 0
    /// A server has let us in before.
    var hasConnected = false
    /// A timer will look whether the connection is needed.
    var isIdlenessWatched = false

    init(_ options: LinkOptions = LinkOptions()) { self.options = options }

    /// There is to be a connection.
    var isNeeded: Bool { options.isSession || !operations.isEmpty }

    // MARK: Operations

    /// Begins an operation. Ids must rise.
    /// - Parameters:
    ///   - asksForRecords: of a stream: whether patches of records may stand for later results.
    ///   - interruptionCount: of a mutation that was sent before, in another life of the program.
    mutating func begin(
        _ id: OperationID, _ request: OperationRequest, asksForRecords: Bool = false,
        interruptionCount: UInt64 = 0
    ) -> [LinkAction] {
        if case .stopped = state {
            return [.finish(id, .stopped("send operation \(request.name)"))]
        }
        guard operations.count < options.maximumOperations else {
            return [.finish(id, .tooMany(request.name, options.maximumOperations))]
        }
        begunCount += 1
        let operation = LinkOperation(
            request, asksForRecords: asksForRecords, interruptionCount: interruptionCount)
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
        waiting.remove(id, isMutation: operation.isMutation)
        var actions: [LinkAction] = []
        if case .sent(let wire) = operation.phase { actions += stop(wire) }
        return actions + sendWaiting() + watchIdleness()
    }

    /// The responses of an operation are not taken, and enough of them wait: the server is told to stop.
    mutating func suspend(_ id: OperationID) -> [LinkAction] {
        guard let operation = operations[id], case .sent(let wire) = operation.phase,
            !operation.isMutation
        else { return [] }
        let actions = stop(wire)
        guard operation.canResume else {
            return actions + [finish(id, .overflow(operation.request.name))]
        }
        operations[id]?.phase = .suspended
        return actions
    }

    /// There is room for responses again.
    mutating func resume(_ id: OperationID) -> [LinkAction] {
        guard case .suspended? = operations[id]?.phase else { return [] }
        return send(again: id)
    }

    /// The reader of a stream can't make use of patches of records: it goes on with whole results,
    /// behind what was taken. Those that were sent meanwhile come again, behind a mark.
    /// - Parameter cursor: of the last response that was taken; nil where none has one.
    mutating func renounceRecords(_ id: OperationID, at cursor: String?) -> [LinkAction] {
        guard var operation = operations[id], operation.asksForRecords else { return [] }
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

    /// Ends everything, for good.
    mutating func stop() -> [LinkAction] {
        var actions = failAll { .stopped("go on with operation \($0)") }
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

    /// The token that was asked for, or why there is none. One that comes too late ends the wait for the next attempt,
    /// which would ask again: what a slow provider gives is not wasted.
    mutating func authorized(
        _ attempt: Attempt, _ token: Result<String?, any Error>
    ) -> [LinkAction] {
        // The token provider may have no network either; the next connection begins anew.
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
    /// - Returns: nil when it is not wanted any more.
    mutating func socketOpened(_ attempt: Attempt, token: String?) -> [LinkAction]? {
        guard case .connecting = state, attempt == self.attempt else { return nil }
        var connection = ClientConnection()
        let actions = connection.socketOpened(payload: token.map { ["token": .string($0)] })
        state = .open(connection)
        return perform(actions) + [
            .schedule(.acknowledgement(attempt), after: options.connectTimeout)
        ]
    }

    /// A message has come over the socket; a binary one is nil.
    mutating func received(_ attempt: Attempt, _ bytes: [UInt8]?) -> [LinkAction] {
        guard case .open(var connection) = state, attempt == self.attempt else { return [] }
        // Not the acknowledgement: a server may let us in and then go away, again and again.
        if connection.isReady {
            failures = 0
            hasFreshToken = false
        }
        let actions = bytes.map { connection.receive($0) } ?? connection.receiveBinary()
        state = .open(connection)
        return perform(actions)
    }

    /// The socket is gone, or was not opened.
    mutating func socketClosed(_ attempt: Attempt, _ loss: ConnectionLoss) -> [LinkAction] {
        guard attempt == self.attempt else { return [] }
        switch state {
        case .connecting:
            return lost(loss)
        case .open(var connection):
            // Mutations that were with the server have nothing to do with what it refused to read.
            let isRefusal = loss.remedy == .withoutRefused
            let (judgement, loss) = judge(loss)
            let actions = connection.socketClosed()
            state = .open(connection)
            return judgement + perform(actions, blamesMutations: !isRefusal) + lost(loss)
        case .idle, .authorizing, .waiting, .stopped:
            return []
        }
    }

    /// The present connection is given up, and another one made at once.
    mutating func reconnect() -> [LinkAction] {
        switch state {
        case .open(var connection):
            let actions = connection.socketClosed()
            state = .open(connection)
            let interrupted = perform(actions, blamesMutations: false)
            state = .idle
            awaitsPong = false
            return interrupted + [.abort] + (isNeeded ? connect() : [])
        case .waiting:
            failures = 0
            return isNeeded ? connect() : []
        case .idle, .authorizing, .connecting, .stopped:
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
