import BoundedTesting
import GraphQLTransportWS
import RelayJSON

/// A client that sends nonsense and extremes (invariant 12). It gets an error for each, or is closed, and nobody else notices;
/// what it was refused is not in the log.
///
/// `@unchecked Sendable`: it runs on one thread.
final class HostileClient: SimulatedPeer, @unchecked Sendable {
    /// Who it is to the server. Its mutation ids are its own, then, whatever it calls them.
    static let viewer = "a hostile one"

    let name = "h1"
    private(set) var socket: SimulatedSocket?
    private let world: Simulation
    private var random: SeededGenerator
    private var speech: HostileSpeech
    /// What it is about to say.
    private var messages: [HostileMessage] = []
    /// It has said connection_init.
    private var isGreeted = false
    /// Said and not answered, by the ids of their operations.
    private var open: [String: HostileMessage] = [:]
    /// Tags of mutations that can only be refused, and of those that were.
    private var refusals: (due: Set<String>, given: Set<String>) = ([], [])

    init(in world: Simulation, _ random: SeededGenerator) {
        self.world = world
        self.random = random
        speech = HostileSpeech(random)
    }

    // MARK: What it does

    /// Connects, says something, or takes nothing for a while.
    func act() {
        guard let server = world.server else { return }
        if socket == nil {
            socket = server.accept(Wire(), viewer: Self.viewer)
            isGreeted = false
            if random.below(16) > 0 { messages = [HostileSpeech.greeting] }
        }
        switch random.below(24) {
        case 0: socket?.wire.isSlow.toggle()
        case 1: messages.append(HostileSpeech.greeting)
        default: for _ in 0...random.below(10) { messages.append(speech.next()) }
        }
    }

    func cut() {
        if let socket { world.server?.remove(socket) }
        socket = nil
        (messages, open) = ([], [:])
    }

    func deliver() -> Bool {
        guard let socket, !socket.wire.isCut, !messages.isEmpty else { return false }
        let message = messages.removeFirst()
        if let tag = message.tag, message.end == .refusal || message.end == .close || !isGreeted {
            refusals.due.insert(tag)
        }
        if let operation = message.operation { open[operation] = message }
        for frame in message.frames { socket.receive(frame) }
        let isClosed = socket.wire.closing != nil
        if let shouldBeClosed = shouldClose(message), shouldBeClosed != isClosed {
            violate(isClosed ? "was closed" : "was not closed", message)
        }
        if message.end == .greeting { isGreeted = true }
        return true
    }

    /// - Returns: nil if either may be.
    private func shouldClose(_ message: HostileMessage) -> Bool? {
        switch message.end {
        case .greeting: isGreeted
        case .close: true
        case .refusal, .answer, .gap: !isGreeted
        case .anything: isGreeted ? nil : true
        }
    }

    // MARK: What it is told

    func receive() -> Bool {
        guard let socket else { return false }
        let wire = socket.wire
        if wire.isSlow || wire.toClient.isEmpty {
            guard wire.isCut else { return false }
            if let closing = wire.closing, !Self.closings.contains(closing.code) {
                world.violate("a hostile client was closed with \(closing.code)")
            }
            cut()
            return true
        }
        let bytes = wire.toClient.removeFirst()
        do {
            take(try ServerMessage(bytes))
        } catch {
            world.violate("a hostile client was sent what is no message: \(error)")
        }
        socket.drained()
        return true
    }

    private static let closings: Set<UInt16> = [4400, 4401, 4409, 4429]

    private func take(_ message: ServerMessage) {
        switch message {
        case .next(let id, let result):
            let relay = result["extensions"]?["relay"]
            if let cursor = relay?["cursor"]?.string { speech.cursor = cursor }
            if let request = open[id], request.end == .gap, relay?["recovered"] != false {
                violate("was told \(JSONValue.object(result).text)", request)
            }
            end(id, result["errors"]?.array ?? [])
        case .error(let id, let errors):
            if errors.isEmpty { world.violate("a hostile client was given no reason") }
            end(id, errors)
        case .complete(let id):
            if let request = open.removeValue(forKey: id), request.end != .anything {
                violate("had no answer", request)
            }
        case .connectionAck, .ping, .pong: break
        }
    }

    private func end(_ id: String, _ errors: [JSONValue]) {
        for error in errors where error["message"]?.string?.isEmpty != false {
            world.violate("a hostile client was given the error \(error.text)")
        }
        guard let request = open.removeValue(forKey: id) else { return }
        if request.end == .refusal, errors.isEmpty { violate("was not refused", request) }
        // A log that stops does not know what becomes of a mutation.
        let codes = errors.compactMap { $0["extensions"]?["code"]?.string }
        if let tag = request.tag, codes.contains(where: { $0 != "OUTCOME_UNKNOWN" }) {
            refusals.given.insert(tag)
        }
    }

    private func violate(_ what: String, _ message: HostileMessage) {
        let text = String(decoding: message.frames.joined().prefix(400), as: UTF8.self)
        world.violate("a hostile client \(what), which had said: \(text)")
    }

    // MARK: The end

    /// Everything that has one answer has it.
    var isAnswered: Bool {
        messages.isEmpty && open.values.allSatisfy { $0.end == .anything }
    }

    /// What was refused is not in the log; of a mutation whose handler waits there may be that it was, and came to nothing.
    func check(_ log: EventsOfLog) throws {
        let refused = refusals.due.union(refusals.given)
        let trace =
            log.mutations.first { $0.tag.map(refused.contains) ?? false }?.tag
            ?? log.begun.first {
                guard let tag = $0.tag else { return false }
                return refusals.due.contains(tag)
                    || $0.field != "renameTodo" && refusals.given.contains(tag)
            }?.tag
        if let trace { throw Violation("\(trace) was refused, and the log has it") }
    }
}
