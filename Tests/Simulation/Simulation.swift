import BoundedTesting
import DiskSimulation
import EventLog
import EventStore
import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayStore
import SchemaService
import Threads

@testable import StoreEngine

/// Something that the invariants of docs/ARCHITECTURE.md do not allow.
struct Violation: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A server and its clients in virtual time, with one seed for everything that happens (docs/simulation.md).
///
/// `@unchecked Sendable`: it runs on one thread.
final class Simulation: @unchecked Sendable {
    let schema: String
    let seed: String
    /// The schema, with a handler that waits.
    let service: ServiceSchema
    let upstream = Upstream()
    let limits: GraphQLService.Limits
    /// Bytes of events that the log lets wait.
    let logLimitBytes: Int
    let durability: Durability
    /// Of the first segment, and of the largest.
    let segmentBytes: (first: UInt64, largest: UInt64)
    var random: SeededGenerator
    var scheduler: Scheduler
    var server: SimulatedServer?
    var disk = SimulatedDisk()
    var clients: [SimulatedClient] = []
    var runtime: SimulatedRuntime?
    /// The connections of all of them.
    var links: [SimulatedLink] = []
    var hostile: HostileClient?
    /// Whoever may be connected.
    var peers: [any SimulatedPeer] { links + (hostile.map { [$0] } ?? []) }
    private var violation: String?
    var history: [String] = []
    private var clockOffset: Int64 = 0
    var idCount = 0
    /// When the log froze, in this life of the server: from then on it syncs nothing.
    var frozenAt: UInt64?
    var isFrozen: Bool { frozenAt != nil }
    /// The last event when nothing was under way any more, before the last mutations.
    var quietSince: UInt64 = 0
    /// When a server last ran, and its log was not frozen.
    var lastRan: UInt64 = 0
    /// Errors that the disk was made to give and that end a server.
    var hasFailedDisk = false
    /// Reading the log may have failed, because there were no descriptors.
    var hasReadFaults = false
    var facts = Facts()
    /// States that are held, of whatever life of the server.
    private var kept: [KeptState] = []
    /// Of how it went: the same for the same seed, or the seed decides less than it should.
    var fingerprint: UInt64 = 0
    /// Everything that holds memory or threads, to see that it goes.
    var made: [Made] = []
    /// Every event of the log up to the one before its first, at least: those that were dropped.
    var archive: [Event] = []

    init(seed number: UInt64, schema: String, seed: String) throws {
        self.schema = schema
        self.seed = seed
        service = try ServiceSchema(schema, handlers: upstream.handlers)
        var random = SeededGenerator(seed: number)
        let kinds: [Durability] = [.always, .always, .always, .batch, .batch, .none]
        durability = kinds[Int.random(in: kinds.indices, using: &random)]
        scheduler = Scheduler(time: 0, random: SeededGenerator(seed: random.next()))
        limits = Self.limits(&random)
        // Small, so that segments are filled, recycled and deflated all the time. But each begins with a sync of the one
        // before it: in larger ones what is acknowledged before its sync waits for as long as it may.
        segmentBytes =
            durability == .batch && Bool.random(using: &random)
            ? (16 << 10, 32 << 10) : (2 << 10, 8 << 10)
        logLimitBytes = Bool.random(using: &random) ? 2 << 10 : 16 << 20
        self.random = random
        clients = [1, 4, 32].enumerated().map {
            SimulatedClient("c\($0.offset + 1)", in: self, mutationsInFlight: $0.element)
        }
        let runtime = SimulatedRuntime("r1", in: self)
        self.runtime = runtime
        links = clients.map(\.link) + [runtime.link]
        hostile = HostileClient(in: self, SeededGenerator(seed: self.random.next()))
    }

    struct Made {
        private(set) weak var object: AnyObject?
    }

    /// As in production, or so narrow that they are reached.
    static func limits(_ random: inout SeededGenerator) -> GraphQLService.Limits {
        var limits = GraphQLService.Limits()
        limits.recentCommits = 4
        if Bool.random(using: &random) { limits.waitingMutations = 6 }
        if Bool.random(using: &random) { limits.waitingHandlers = 2 }
        if Bool.random(using: &random) {
            limits.inFlightBytes = 1_024
            limits.turnMutations = 2
            limits.unpublishedCommits = 4
            limits.undeliveredResults = 8
        }
        return limits
    }

    // MARK: What everybody takes from it

    func wallClock(_ scheduler: Scheduler) -> Int64 {
        1_700_000_000_000_000 + Int64(scheduler.now / 1_000) + clockOffset
    }

    func makeID(_ type: String) -> DataID {
        idCount += 1
        return DataID("\(type):\(idCount)")
    }

    /// The first counts; what comes after it may only follow from it.
    func violate(_ what: String) { violation = violation ?? what }

    func noteFrozen() { frozenAt = frozenAt ?? scheduler.now }

    func noteTold(_ sequence: UInt64, epoch: UInt64) { facts.told = max(facts.told, sequence) }

    /// It is on its way to the writer, behind those that came before it.
    func noteStarted(_ request: GraphQLRequest) {
        if request.identity.viewerID != HostileClient.viewer { facts.start(request) }
    }

    /// The same mutation has one answer, however often it is given.
    func noteAnswer(_ bytes: [UInt8], of request: GraphQLRequest) {
        guard let id = request.mutationName, let json = try? JSONValue(parsing: bytes),
            json["errors"] == nil
        else { return }
        if let first = facts.answers[id], first != bytes, durability == .always {
            violate(
                "mutation \(id) has two answers, \(String(decoding: first, as: UTF8.self)) and \(json.text)"
            )
        }
        facts.answers[id] = bytes
    }

    func noteOutOfOrder(_ request: GraphQLRequest) {
        if let name = request.mutationName { facts.outOfOrder.insert(name) }
    }

    func noteFailed(_ errors: [ExecutionError]) {
        for error in errors where !hasReadFaults {
            violate("a stream ended: \(error.message)")
        }
    }

    /// A client has the answer to a mutation.
    /// - Returns: whether it was carried out.
    @discardableResult
    func noteResult(_ result: JSONValue, of id: String) -> Bool {
        guard result["data"]?.object != nil, result["errors"] == nil else {
            noteRefused(id, result)
            return false
        }
        facts.acknowledged[id] = scheduler.now
        return true
    }

    func noteRefused(_ id: String, _ result: JSONValue) {
        let code = result["errors"]?.array?.first?["extensions"]?["code"]?.string
        let known: Set = ["STORAGE_FULL", "OVERLOADED", "NOT_FOUND", "BAD_USER_INPUT"]
        if let code, known.contains(code) {
            facts.refused.insert(id)
        } else if (code != nil && code != "OUTCOME_UNKNOWN") || !isFrozen {
            // Only a log that has stopped does not know what became of a mutation.
            violate("mutation \(id) was answered \(result.text)")
        }
    }

    // MARK: A run

    /// Lets so much happen, heals everything, and checks what there is.
    /// - Throws: the first violation.
    func run(steps: Int) throws {
        defer { letGo() }
        do {
            try begin()
            for _ in 0..<steps {
                try act()
                try check()
            }
            try heal()
            for state in kept { try state.check() }
            try checkEnd()
        } catch {
            let last = history.suffix(30).joined(separator: ", ")
            throw Violation("\(durability): \(error)\nLast: \(last)")
        }
    }

    /// Of everybody: they hold on to each other, and clients wait for time that does not pass any more.
    private func letGo() {
        server?.kill()
        server = nil
        runtime?.letGo()
        (clients, runtime, links, hostile) = ([], nil, [], nil)
        kept = []
        scheduler.stop()
    }

    func check() throws {
        server?.checkBounds()
        if let violation { throw Violation(violation) }
    }

    private func begin() throws {
        made.append(Made(object: self))
        try start()
        for client in clients { client.subscribe(isLive: false) }
        clients[0].subscribe(isLive: true)
        runtime?.begin()
    }

    func note(_ what: String) { history.append(what) }

    private func act() throws {
        switch Int.random(in: 0..<1000, using: &random) {
        case 0..<5: giveMutationUp()
        case 5..<14: mutateAsStranger()
        case 14..<20: useIDAgain()
        case 20..<340: turn(Int.random(in: 1...30, using: &random))
        case 340..<380: actHostile()
        case 380..<400: try slowDisk()
        case 400..<420: upstream.answer()
        case 420..<620: mutate()
        case 620..<690: pass(Int.random(in: 5...60, using: &random))
        case 690..<700: try keepState()
        case 700..<720: pass(Int.random(in: 100...2_000, using: &random))
        case 720..<780: repeatMutation()
        case 780..<820: cutSomebody()
        case 820..<850: slowSomebody()
        case 850..<870: resubscribe()
        case 870..<885: clockOffset -= Int64.random(in: 0...5_000_000, using: &random)
        case 885..<905: fillDisk()
        case 905..<925: takeDescriptors()
        case 925..<935: failDisk()
        case 935..<946: try crash(losesPower: false)
        case 946..<952: try stop()
        case 952..<970: try crash(losesPower: true)
        case 970..<978: try steadyTraffic()
        case 978..<985: try flood()
        case 985..<990: try loadLoop()
        case 990..<993: try lull()
        default: healDisk()
        }
        if isFrozen { try restartFrozen() }
        if server == nil, Int.random(in: 0..<4, using: &random) == 0 { try start() }
    }

    /// Holds the state as it is, and lets one go that was held for a while.
    private func keepState() throws {
        guard let server else { return }
        note("a state is kept")
        kept.append(try server.keep(query: SimulatedRuntime.todos))
        if kept.count > 4 {
            try kept.remove(at: Int.random(in: kept.indices, using: &random)).check()
        }
    }
}
