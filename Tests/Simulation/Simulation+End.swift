import DiskSimulation
import EventStore
import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayStore
import StoreEngine
import Threads

@testable import RelayServer

// Nothing is in anybody's way any more, and everything is looked at.
extension Simulation {
    /// Nothing is in anybody's way any more, so everything comes to its end, and whoever asks for something gets it.
    func heal() throws {
        note("all is well")
        healDisk()
        for _ in 0..<3 {
            actHostile()
            settle()
            try check()
        }
        guard try passes(until: { hostile?.isAnswered != false }) else {
            throw Violation("two minutes after the last fault a hostile client has no answer")
        }
        // Its streams go with it.
        hostile?.cut()
        guard try passes(until: { isQuiet }) else {
            let waiting =
                clients.flatMap(\.unansweredMutations) + (runtime?.unansweredMutations ?? [])
            let pending = server?.service.snapshot.pending.count ?? 0
            throw Violation(
                "two minutes after the last fault \(waiting.count) mutations are not answered, "
                    + "\(waiting.prefix(3)) among them; \(pending) intents have no end; "
                    + subscribedOrNot)
        }
        quietSince = server?.service.snapshot.sequence ?? 0
        try carryOutLastMutations()
        guard try passes(until: { isQuiet }) else { throw Violation(subscribedOrNot) }
        if let reason = server?.service.health.reason {
            throw Violation("mutations are carried out, and the server says: \(reason)")
        }
    }

    /// Lets everybody go on undisturbed, for two minutes at most.
    /// - Returns: whether it came to that.
    func passes(until isSo: () -> Bool) throws -> Bool {
        for _ in 0..<120 {
            if isFrozen { try restartFrozen() }
            try start()
            for peer in peers { peer.socket?.wire.isSlow = false }
            server?.isLoopBusy = false
            upstream.answerAll()
            settle()
            scheduler.pass(milliseconds: 1_000)
            settle()
            try check()
            if !isFrozen, isSo() { return true }
        }
        return false
    }

    /// Everybody is connected, everything is answered, and every stream has begun.
    var isQuiet: Bool {
        clients.allSatisfy(\.unansweredMutations.isEmpty)
            && runtime?.unansweredMutations.isEmpty == true
            && links.allSatisfy { $0.socket != nil }
            && server?.service.snapshot.pending.isEmpty == true
            && facts.repeatCount == facts.repeatAnswerCount
            && server?.service.subscriptionCounts.subscriptions == openStreamCount
    }

    /// The runtime has one.
    var openStreamCount: Int { clients.reduce(1) { $0 + $1.openStreamCount } }

    var subscribedOrNot: String {
        let count = server?.service.subscriptionCounts.subscriptions ?? 0
        return "the server knows of \(count) streams, and there are \(openStreamCount)"
    }

    /// A server that lives does what it is asked: each client adds a todo, and has it renamed by a handler that waits.
    /// Either may be refused for a while.
    func carryOutLastMutations() throws {
        for field in ["addTodo", "renameTodo"] {
            var ids = [String?](repeating: nil, count: clients.count)
            let isCarriedOut = try passes {
                for (index, client) in clients.enumerated() {
                    if let id = ids[index], facts.acknowledged[id] != nil { continue }
                    if client.unansweredMutations.isEmpty { ids[index] = client.mutate(field) }
                }
                return ids.allSatisfy { $0.map { facts.acknowledged[$0] != nil } ?? false }
            }
            if isCarriedOut { continue }
            throw Violation("two minutes after all was well \(field) is still refused")
        }
    }

    func checkEnd() throws {
        guard let server else { throw Violation("there is no server at the end") }
        let log = try EventsOfLog(disk, archive)
        try checkMutations(log)
        let state = server.service.snapshot
        guard state.sequence == log.events.last?.sequence else {
            throw Violation("the state is that of \(state.sequence), the log ends elsewhere")
        }
        for figure in [
            UInt64(disk.callCount), scheduler.now, facts.told, UInt64(idCount), state.sequence,
        ] {
            mix(figure)
        }
        for byte in history.joined().utf8 { mix(UInt64(byte)) }
        for byte in state.stateHash.bytes { mix(UInt64(byte)) }
        let past = try History("log", fileSystem: disk)
        if try past.refolded().stateHash != state.stateHash {
            throw Violation("the state is not what the log leads to")
        }
        if try log.folded().stateHash != state.stateHash {
            throw Violation("the state is not what all events lead to")
        }
        for client in clients {
            for (stream, isLive) in client.streams {
                isLive
                    ? try checkLive(stream, past, client.name)
                    : try checkEvents(stream, log, client.name)
            }
        }
        if let todos = try result(of: SimulatedRuntime.todos, at: nil) {
            try runtime?.checkEnd(todos)
        }
        try check()
    }

    /// FNV-1a.
    func mix(_ figure: UInt64) {
        fingerprint = (fingerprint ^ figure) &* 1_099_511_628_211
    }

    /// What a query gives.
    /// - Parameter sequence: nil asks for the newest state.
    /// - Returns: nil when it is refused.
    func result(of query: String, at sequence: UInt64?) throws -> JSONValue? {
        guard let service = server?.service else { return nil }
        let request = GraphQLRequest(
            query: query,
            extensions: sequence.map { ["relay": ["at": .int(Int64($0))]] } ?? [:])
        let box = AnswerBox()
        service.execute(try service.prepare(request), request) { box.set($0) }
        settle()
        guard case .executed(let response)? = box.outcome else { return nil }
        return try JSONValue(parsing: response.bytes)["data"]
    }
}

private final class AnswerBox: Sendable {
    private let value = Lock<Outcome?>(nil)

    var outcome: Outcome? { value.withLock { $0 } }

    func set(_ outcome: Outcome) { value.withLock { $0 = outcome } }
}
