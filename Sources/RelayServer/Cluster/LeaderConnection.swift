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
    private let key: ClusterKey
    private var machine = ClientConnection(limits: LeaderLink.jsonLimits)
    private var greeting: NodeGreeting?
    private var connection: WebSocketConnection?
    private var sent: [ClientConnection.Operation: LeaderLink.Handed] = [:]
    private var isEnded = false

    /// How long the acknowledgement may take.
    private static let patience: Duration = .seconds(3)

    init(to address: ServerAddress, of link: LeaderLink, _ key: ClusterKey) {
        self.address = address
        self.link = link
        self.key = key
    }

    /// Of whoever it can be sent to; nil before the acknowledgement, and once it is being closed.
    var recipient: NodeGreeting? { machine.isReady ? greeting : nil }

    /// Whether it could once be sent on.
    var wasReady: Bool { greeting != nil }

    private var hasInterrupted = false

    /// Whether something that was sent was not answered; true once.
    func takeInterrupted() -> Bool {
        defer { hasInterrupted = false }
        return hasInterrupted
    }

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
            case .acknowledged(let payload):
                let greeting = NodeGreeting(payload)
                if greeting?.proof == key.proof {
                    self.greeting = greeting
                    events.append(.ready)
                } else {
                    connection?.close(code: 4_403, reason: "Not a server of this cluster")
                }
            case .next(let operation, let payload, let extensions):
                guard let handed = sent.removeValue(forKey: operation) else { break }
                events.append(
                    .answered(handed, .executed(Response(forwarded: payload, extensions))))
            case .failed(let operation, let errors):
                guard let handed = sent.removeValue(forKey: operation) else { break }
                let errors = errors.map(ExecutionError.init(forwarded:))
                let leads = errors.first?.code != .notLeading
                events.append(
                    leads ? .answered(handed, .refused(errors)) : .doesNotLead(handed))
            case .completed(let operation), .interrupted(let operation):
                guard let handed = sent.removeValue(forKey: operation) else { break }
                hasInterrupted = true
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
        connection.loop.perform(after: Self.patience) { [weak self] in
            guard let self else { return }
            tell(perform(machine.acknowledgementTimedOut()))
        }
    }

    func received(_ message: WebSocketMessage, on connection: WebSocketConnection) {
        tell(
            perform(
                message.kind == .text ? machine.receive(message.bytes) : machine.receiveBinary()))
    }

    func drained(_ connection: WebSocketConnection) { link.assumeIsolated { $0.drained() } }

    func closed(_ close: WebSocketClose, on connection: WebSocketConnection) {
        let isStranger = machine.isReady && greeting == nil
        let reason =
            isStranger
            ? "There is a server at \(address) that does not belong to the cluster."
            : "The connection was closed: \(close)."
        link.assumeIsolated { $0.lost(self, because: reason) }
    }

    private func tell(_ events: [Event]) {
        link.assumeIsolated { $0.took(events, from: self) }
    }
}

extension Response {
    /// - Parameters:
    ///   - bytes: as the server that leads has made them.
    ///   - extensions: their member of that name.
    fileprivate convenience init(forwarded bytes: [UInt8], _ extensions: [UInt8]?) {
        let extensions = extensions.flatMap { try? JSONValue(parsing: $0) }
        self.init(
            bytes: bytes, hasErrors: Self.hasErrors(bytes),
            cursor: extensions?["relay"]?["cursor"]?.string)
    }

    private static func hasErrors(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var reader = JSONReader(buffer, limits: LeaderLink.jsonLimits)
            do throws(JSONError) {
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    if key == "errors" { return true }
                    try reader.skipValue()
                }
            } catch {}
            return false
        }
    }
}
