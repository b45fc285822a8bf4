import GraphQLTransportWS

@testable import RelayLink

/// Who has operations on a ``SimulatedLink``.
protocol SimulatedLinkUser: AnyObject {
    /// A response has come.
    func take(_ response: [UInt8], _ id: OperationID)
    /// Nothing more comes.
    func finish(_ id: OperationID, _ error: TransportError?)
}

/// An end of a connection that is no server's.
protocol SimulatedPeer: AnyObject {
    var name: String { get }
    /// Nil while it has no connection.
    var socket: SimulatedSocket? { get }
    /// Takes one message from the wire; false when there is none.
    func receive() -> Bool
    /// The server takes one message; false when there is none.
    func deliver() -> Bool
    /// The connection is gone, for whatever reason.
    func cut()
}

/// A client's connection in virtual time: its ``LinkMachine``, and what `SocketLink` does for that on its loop.
///
/// `@unchecked Sendable`: it runs on one thread.
final class SimulatedLink: SimulatedPeer, @unchecked Sendable {
    let name: String
    weak var user: (any SimulatedLinkUser)?
    private(set) var socket: SimulatedSocket?
    private let world: Simulation
    private var machine: LinkMachine
    private var attempt: LinkAction.Attempt = 0
    private var lastOperation: UInt64 = 0

    init(_ name: String, in world: Simulation, mutationsInFlight: Int) {
        self.name = name
        self.world = world
        var options = LinkOptions()
        options.retry = RetryPolicy(initialDelay: .milliseconds(50), maximumDelay: .seconds(1))
        options.maximumMutationsInFlight = mutationsInFlight
        options.maximumInterruptions = nil
        options.idleTimeout = nil
        options.queryAttempts = .max
        machine = LinkMachine(options)
    }

    // MARK: Operations

    func makeID() -> OperationID {
        lastOperation += 1
        return OperationID(number: lastOperation)
    }

    func begin(_ id: OperationID, _ request: OperationRequest) {
        perform(machine.begin(id, request))
    }

    func cancel(_ id: OperationID) { perform(machine.cancel(id)) }

    // MARK: What its machine wants

    private func perform(_ actions: [LinkAction]) {
        for action in actions {
            switch action {
            case .authorize: world.violate("a client without tokens asks for one")
            case .connect(let attempt, _):
                world.scheduler.later(.milliseconds(1), isOfClient: true) { [self] in
                    connect(attempt)
                }
            case .send(let bytes): socket?.wire.toServer.append(bytes)
            case .close, .abort: drop()
            case .schedule(let timer, let delay): schedule(timer, delay)
            case .retry(let attempt, let failures):
                schedule(
                    .retry(attempt),
                    machine.options.retry.delay(afterFailures: failures, random: 0.5))
            case .resumeLater(let id, let endings):
                schedule(
                    .resumption(id),
                    machine.options.retry.delay(afterFailures: endings, random: 0.5))
            case .deliver(let id, let bytes): user?.take(bytes, id)
            case .interrupted, .report, .ended: break
            case .finish(let id, let error): user?.finish(id, error)
            }
        }
    }

    private func schedule(_ timer: LinkAction.Timer, _ delay: Duration) {
        world.scheduler.later(delay, isOfClient: true) { [self] in
            perform(machine.timerFired(timer))
        }
    }

    // MARK: The connection

    private func connect(_ attempt: LinkAction.Attempt) {
        guard let server = world.server else {
            let error = TransportError(code: .cannotConnect, message: "nobody listens")
            return perform(machine.socketClosed(attempt, ConnectionLoss(error, .retry)))
        }
        guard let actions = machine.socketOpened(attempt, token: nil) else { return }
        self.attempt = attempt
        socket = server.accept(Wire())
        perform(actions)
    }

    private func drop() {
        if let socket { world.server?.remove(socket) }
        socket = nil
    }

    func cut() {
        guard socket != nil else { return }
        drop()
        let error = TransportError(code: .closed(SocketCloseCode(rawValue: 1006)), message: "cut")
        perform(machine.socketClosed(attempt, ConnectionLoss(error, .retry)))
    }

    func receive() -> Bool {
        guard let socket else { return false }
        if socket.wire.isSlow || socket.wire.toClient.isEmpty {
            guard socket.wire.isCut else { return false }
            cut()
            return true
        }
        let bytes = socket.wire.toClient.removeFirst()
        perform(machine.received(attempt, bytes))
        socket.drained()
        return true
    }

    func deliver() -> Bool {
        guard let socket, !socket.wire.isCut, !socket.wire.toServer.isEmpty else { return false }
        socket.receive(socket.wire.toServer.removeFirst())
        return true
    }
}
