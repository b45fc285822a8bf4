package import RelayJSON

/// The client's end of one connection, as a pure state machine: what comes in goes in here, and what it
/// returns is to be done, in order.
///
/// Operations may be asked for at once: what is asked for before the server has acknowledged the
/// connection is sent when it has. An id is never used again.
package struct ClientConnection: Sendable {
    private enum State: Sendable {
        /// Nothing has been sent.
        case new
        /// connection_init has been sent, and what is asked for waits for its acknowledgement.
        case awaitingAcknowledgement
        /// Acknowledged: operations go out as they come.
        case ready
        /// A close was asked for, or the socket is gone; whatever comes now is ignored.
        case closed
    }

    /// An operation of this connection.
    package struct Operation: Hashable, Sendable {
        package let id: String
    }

    package enum Action: Hashable, Sendable {
        case send([UInt8])
        /// Close the socket after what has been sent.
        case close(CloseCode)
        /// The server has let us in.
        case acknowledged(payload: JSONObject?)
        /// A result of an operation: the bytes of an ExecutionResult, and separately those of its
        /// `extensions`, so that they need not be searched for.
        case next(Operation, payload: [UInt8], extensions: [UInt8]?)
        /// The operation was not executed, or ends with errors; nothing of it follows.
        case failed(Operation, [JSONValue])
        /// The operation has had its last result.
        case completed(Operation)
        /// The connection has ended before the operation has; nothing of it follows.
        case interrupted(Operation)
        /// The server has pinged, with this payload; the answer is another action.
        case pinged(payload: JSONObject?)
        /// The server has answered a ping, or sent a pong of its own accord.
        case ponged(payload: JSONObject?)
    }

    private let limits: JSONLimits
    private var state = State.new
    /// Those that have neither ended nor been stopped.
    private var operations: Set<Operation> = []
    /// Those of `operations` that the server has not heard of yet, in order.
    private var waiting: [(operation: Operation, payload: JSONObject)] = []
    private var lastID: UInt64 = 0

    /// - Parameter limits: on the messages of the server.
    package init(limits: JSONLimits = .init()) { self.limits = limits }

    /// Operations in progress, those that still wait to be sent included.
    package var operationCount: Int { operations.count }

    /// The connection is acknowledged and not closed.
    package var isReady: Bool { if case .ready = state { true } else { false } }

    // MARK: From the owner

    /// The socket is open.
    ///
    /// - Parameter payload: what the server wants to know of us, such as a token.
    package mutating func socketOpened(payload: JSONObject? = nil) -> [Action] {
        guard case .new = state else { return [] }
        state = .awaitingAcknowledgement
        return [.send(ClientMessage.connectionInit(payload: payload).bytes)]
    }

    /// Starts an operation. On a connection that is closed it is interrupted at once.
    ///
    /// - Parameter payload: `query`, and perhaps `operationName`, `variables`, `extensions`.
    package mutating func subscribe(_ payload: JSONObject) -> (Operation, [Action]) {
        lastID += 1
        let operation = Operation(id: String(lastID))
        switch state {
        case .new, .closed:
            return (operation, [.interrupted(operation)])
        case .awaitingAcknowledgement:
            operations.insert(operation)
            waiting.append((operation, payload))
            return (operation, [])
        case .ready:
            operations.insert(operation)
            return (operation, [Self.subscribe(operation, payload)])
        }
    }

    private static func subscribe(_ operation: Operation, _ payload: JSONObject) -> Action {
        .send(ClientMessage.subscribe(id: operation.id, payload: payload).bytes)
    }

    /// Stops an operation: no action for it follows.
    package mutating func stop(_ operation: Operation) -> [Action] {
        guard operations.remove(operation) != nil else { return [] }
        switch state {
        case .awaitingAcknowledgement:
            waiting.removeAll { $0.operation == operation }
            return []
        case .ready:
            return [.send(ClientMessage.complete(id: operation.id).bytes)]
        case .new, .closed:
            return []
        }
    }

    /// Asks whether the server is still there; its answer is ``Action/ponged(payload:)``.
    package func ping(payload: JSONObject? = nil) -> [Action] {
        switch state {
        case .new, .closed: []
        case .awaitingAcknowledgement, .ready:
            [.send(ClientMessage.ping(payload: payload).bytes)]
        }
    }

    /// Ends the connection in order. Operations in progress are interrupted.
    package mutating func close() -> [Action] { close(.normal) }

    /// The time in which the server must acknowledge the connection is over.
    package mutating func acknowledgementTimedOut() -> [Action] {
        guard case .awaitingAcknowledgement = state else { return [] }
        return close(.acknowledgementTimeout)
    }

    /// The socket is gone: every operation in progress is interrupted.
    package mutating func socketClosed() -> [Action] {
        state = .closed
        waiting = []
        defer { operations = [] }
        return operations.sorted { ($0.id.count, $0.id) < ($1.id.count, $1.id) }
            .map { .interrupted($0) }
    }

    // MARK: From the server

    package mutating func receive(_ bytes: [UInt8]) -> [Action] {
        switch state {
        case .closed: return []
        case .new: return close(.badResponse("Nothing was expected before connection_init"))
        case .awaitingAcknowledgement, .ready: break
        }
        do throws(InvalidMessage) {
            return try receive(try MessageReader(bytes, limits))
        } catch {
            return close(.badResponse(error.reason))
        }
    }

    /// A binary message, which the protocol does not have.
    package mutating func receiveBinary() -> [Action] {
        if case .closed = state { return [] }
        return close(.badResponse("Binary messages are not part of the protocol"))
    }

    private mutating func receive(_ message: MessageReader) throws(InvalidMessage) -> [Action] {
        switch message.type {
        case "connection_ack":
            return acknowledged(payload: try message.payload())
        case "ping":
            let payload = try message.payload()
            return [
                .send(ClientMessage.pong(payload: payload).bytes), .pinged(payload: payload),
            ]
        case "pong":
            return [.ponged(payload: try message.payload())]
        // What comes for an operation that has been stopped here has crossed with that message.
        case "next":
            let operation = try self.operation(of: message)
            let payload = try message.payloadBytes()
            guard operations.contains(operation) else { return [] }
            return [.next(operation, payload: payload, extensions: message.payloadExtensions)]
        case "error":
            let operation = try self.operation(of: message)
            let errors = try message.errors()
            return operations.remove(operation) != nil ? [.failed(operation, errors)] : []
        case "complete":
            let operation = try self.operation(of: message)
            return operations.remove(operation) != nil ? [.completed(operation)] : []
        default:
            throw message.unknownType
        }
    }

    private func operation(of message: MessageReader) throws(InvalidMessage) -> Operation {
        Operation(id: try message.id())
    }

    private mutating func acknowledged(payload: JSONObject?) -> [Action] {
        guard case .awaitingAcknowledgement = state else {
            return close(.badResponse("The connection has been acknowledged before"))
        }
        state = .ready
        defer { waiting = [] }
        return [.acknowledged(payload: payload)]
            + waiting.map { Self.subscribe($0.operation, $0.payload) }
    }

    private mutating func close(_ code: CloseCode) -> [Action] {
        if case .closed = state { return [] }
        return socketClosed() + [.close(code)]
    }
}
