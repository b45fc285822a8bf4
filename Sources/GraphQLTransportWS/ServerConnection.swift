package import RelayJSON

/// The server's end of one connection, as a pure state machine: what comes in goes in here, and what it
/// returns is to be done, in order.
///
/// The protocol document's rules: nothing but connection_init, ping and pong before the acknowledgement;
/// connection_init once; an id is in use from `subscribe` until `complete` or `error` of either side.
package struct ServerConnection: Sendable {
    private enum State: Sendable {
        /// The socket is open, connection_init has not come.
        case awaitingInit
        /// connection_init has come, whether it is accepted is being decided.
        case authenticating
        /// Acknowledged: operations may come.
        case ready
        /// A close was asked for; whatever comes now is ignored.
        case closed
    }

    /// An operation of this connection. Ids may be reused, so the number says which use it is.
    package struct Operation: Hashable, Sendable {
        package let id: String
        fileprivate let number: UInt64
        /// Of the message that began it.
        package let byteCount: Int
    }

    package enum Action: Hashable, Sendable {
        case send([UInt8])
        /// Close the socket after what has been sent.
        case close(CloseCode)
        /// Decide whether the client may come in, and say so by ``accept(payload:)`` or ``refuse()``.
        case authenticate(payload: JSONObject?)
        /// The client has pinged with this payload, and been answered.
        case pinged(payload: JSONObject)
        /// Execute this; its results go through ``next(_:)``, ``error(_:_:)`` and ``complete(_:)``.
        case start(Operation, payload: JSONObject)
        /// The client has cancelled this.
        case stop(Operation)
    }

    /// Bytes that a message may have, unless it is a `subscribe` on an acknowledged connection.
    package static let shortMessageBytes = 64 << 10
    /// Bytes of UTF-8 that an operation's id may have.
    package static let idBytes = 256

    private var state = State.awaitingInit
    /// By id.
    private var operations: [ExactText: Operation] = [:]
    private var nextNumber: UInt64 = 0

    package init() {}

    /// Operations in progress.
    package var operationCount: Int { operations.count }

    /// Bytes of the messages that began the operations in progress.
    package private(set) var operationBytes = 0

    /// The connection is acknowledged and not closed.
    package var isReady: Bool { if case .ready = state { true } else { false } }

    // MARK: From the client

    package mutating func receive(_ bytes: [UInt8]) -> [Action] {
        receive(ReceivedMessage(bytes))
    }

    /// - Parameter received: a text message, read before, since reading a long one takes its time.
    package mutating func receive(_ received: ReceivedMessage) -> [Action] {
        if case .closed = state { return [] }
        let message: ClientMessage
        do throws(InvalidMessage) {
            message = try received.content.get()
        } catch {
            return close(.invalidMessage(error.reason))
        }
        if received.byteCount > Self.shortMessageBytes {
            guard isReady, case .subscribe = message else { return receiveTooLong() }
        }
        switch message {
        case .connectionInit(let payload):
            guard case .awaitingInit = state else { return close(.tooManyInitialisations) }
            state = .authenticating
            return [.authenticate(payload: payload)]
        case .ping(let payload):
            let pong = Action.send(ServerMessage.pong(payload: payload).bytes)
            guard isReady, let payload else { return [pong] }
            return [pong, .pinged(payload: payload)]
        case .pong:
            return []
        case .subscribe(let id, let payload):
            guard case .ready = state else { return close(.unauthorized) }
            guard id.utf8.count <= Self.idBytes else {
                return close(.invalidMessage("An \"id\" may have at most \(Self.idBytes) bytes"))
            }
            guard operations[ExactText(id)] == nil else { return close(.subscriberExists(id)) }
            nextNumber += 1
            let operation = Operation(
                id: id, number: nextNumber, byteCount: received.byteCount)
            operations[ExactText(id)] = operation
            operationBytes += operation.byteCount
            return [.start(operation, payload: payload)]
        case .complete(let id):
            // It may have ended here meanwhile: then the two messages have crossed.
            guard let operation = remove(id) else { return [] }
            return [.stop(operation)]
        }
    }

    /// A text message that has more than ``shortMessageBytes`` and must not: it need not be read.
    package mutating func receiveTooLong() -> [Action] {
        if case .closed = state { return [] }
        return close(
            .invalidMessage(
                "Only a \"subscribe\" message after \"connection_ack\" may have more than "
                    + "\(Self.shortMessageBytes) bytes"))
    }

    /// The time in which connection_init must come is over.
    package mutating func initialisationTimedOut() -> [Action] {
        guard case .awaitingInit = state else { return [] }
        return close(.initialisationTimeout)
    }

    /// A binary message, which the protocol does not have.
    package mutating func receiveBinary() -> [Action] {
        if case .closed = state { return [] }
        return close(.invalidMessage("Binary messages are not part of the protocol"))
    }

    /// The socket is gone: every operation in progress is to be stopped.
    package mutating func socketClosed() -> [Action] {
        state = .closed
        operationBytes = 0
        defer { operations = [:] }
        return operations.values.map { .stop($0) }
    }

    // MARK: From the server

    /// The client may come in.
    package mutating func accept(payload: JSONObject? = nil) -> [Action] {
        guard case .authenticating = state else { return [] }
        state = .ready
        return [.send(ServerMessage.connectionAck(payload: payload).bytes)]
    }

    /// The client may not come in.
    package mutating func refuse() -> [Action] {
        guard case .authenticating = state else { return [] }
        return close(.forbidden)
    }

    /// The client may no longer stay.
    package mutating func forbid() -> [Action] {
        if case .closed = state { return [] }
        return close(.forbidden)
    }

    /// Whether a result of this operation is still wanted; if so, it is to be sent.
    package func wants(_ operation: Operation) -> Bool {
        operations[ExactText(operation.id)]?.number == operation.number
    }

    /// The operation ends with errors.
    package mutating func error(_ operation: Operation, _ errors: [JSONValue]) -> [Action] {
        guard end(operation) else { return [] }
        return [.send(ServerMessage.error(id: operation.id, payload: errors).bytes)]
    }

    /// The operation has had its last result.
    package mutating func complete(_ operation: Operation) -> [Action] {
        guard end(operation) else { return [] }
        return [.send(ServerMessage.complete(id: operation.id).bytes)]
    }

    private mutating func end(_ operation: Operation) -> Bool {
        guard wants(operation) else { return false }
        _ = remove(operation.id)
        return true
    }

    private mutating func remove(_ id: String) -> Operation? {
        guard let removed = operations.removeValue(forKey: ExactText(id)) else { return nil }
        operationBytes -= removed.byteCount
        return removed
    }

    private mutating func close(_ code: CloseCode) -> [Action] {
        let stops = socketClosed()
        return stops + [.close(code)]
    }
}
