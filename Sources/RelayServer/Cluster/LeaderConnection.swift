import GraphQLExecution
import GraphQLTransportWS
import RelayJSON
import StoreEngine
import WebSocketIO

/// One connection of a ``LeaderLink``, and what was sent on it. Everything happens on the link's loop.
final class LeaderConnection: WebSocketHandler, @unchecked Sendable {
    // Unchecked: used on the loop's thread only.
    enum Event {
        /// It can be sent on.
        case ready
        case answered(LeaderLink.Handed, Outcome)
        /// The server does not carry it out; nothing was changed.
        case doesNotLead(LeaderLink.Handed)
        /// No answer came.
        case interrupted(LeaderLink.Handed)
    }

    let address: ServerAddress
    private let link: LeaderLink
    private var machine = ClientConnection()
    private var connection: WebSocketConnection?
    private var sent: [ClientConnection.Operation: LeaderLink.Handed] = [:]
    private var isEnded = false

    init(to address: ServerAddress, of link: LeaderLink) {
        self.address = address
        self.link = link
    }

    var isReady: Bool { machine.isReady }

    /// Whether something that was sent is not answered.
    var hasSent: Bool { !sent.isEmpty }

    /// Whether less than this waits to be sent; the link hears of it when nothing does.
    func hasRoom(for bytes: Int) -> Bool {
        guard let connection, connection.queuedBytes >= bytes else { return true }
        connection.awaitDrained()
        return false
    }

    func send(_ handed: LeaderLink.Handed) -> [Event] {
        let (operation, actions) = machine.subscribe(handed.payload)
        sent[operation] = handed
        return perform(actions)
    }

    /// Closes it: what is not answered is interrupted.
    func end() -> [Event] {
        isEnded = true
        return perform(machine.close())
    }

    private func perform(_ actions: [ClientConnection.Action]) -> [Event] {
        var events: [Event] = []
        for action in actions {
            switch action {
            case .send(let bytes): connection?.send(OutgoingMessage(.text, bytes))
            case .close(let close): connection?.close(code: close.code, reason: close.reason)
            case .acknowledged: events.append(.ready)
            case .next(let operation, let payload, _):
                guard let handed = sent.removeValue(forKey: operation) else { break }
                events.append(.answered(handed, .executed(Response(forwarded: payload))))
            case .failed(let operation, let errors):
                guard let handed = sent.removeValue(forKey: operation) else { break }
                let errors = errors.map(ExecutionError.init(forwarded:))
                let leads = errors.first?.code != .notLeading
                events.append(
                    leads ? .answered(handed, .refused(errors)) : .doesNotLead(handed))
            case .completed(let operation), .interrupted(let operation):
                guard let handed = sent.removeValue(forKey: operation) else { break }
                events.append(.interrupted(handed))
            case .pinged, .ponged: break
            }
        }
        return events
    }

    // MARK: WebSocketHandler

    func opened(_ connection: WebSocketConnection) {
        if isEnded { return connection.close() }
        self.connection = connection
        tell(perform(machine.socketOpened()))
    }

    func received(_ message: WebSocketMessage, on connection: WebSocketConnection) {
        tell(
            perform(
                message.kind == .text ? machine.receive(message.bytes) : machine.receiveBinary()))
    }

    func drained(_ connection: WebSocketConnection) { link.assumeIsolated { $0.drained() } }

    func closed(_ close: WebSocketClose, on connection: WebSocketConnection) {
        let reason = "The connection was closed: \(close)."
        link.assumeIsolated { $0.lost(self, because: reason) }
    }

    private func tell(_ events: [Event]) {
        link.assumeIsolated { $0.took(events, from: self) }
    }
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
