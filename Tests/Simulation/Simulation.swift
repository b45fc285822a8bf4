import BoundedTesting
import DiskSimulation
import EventLog
import EventStore
import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayStore
import Threads

@testable import RelayServer

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
    private var random: SeededGenerator
    private(set) var scheduler: Scheduler
    private(set) var server: SimulatedServer?
    private var disk = SimulatedDisk()
    private var clients: [SimulatedClient] = []
    private var runtime: SimulatedRuntime?
    /// The connections of all of them.
    private var links: [SimulatedLink] = []
    private var violation: String?
    private var history: [String] = []
    private var clockOffset: Int64 = 0
    private var idCount = 0
    /// When the log froze, in this life of the server: from then on it syncs nothing.
    private var frozenAt: UInt64?
    private var isFrozen: Bool { frozenAt != nil }
    /// The last event when nothing was under way any more, before the last mutations.
    private var quietSince: UInt64 = 0
    /// When a server last ran, and its log was not frozen.
    private var lastRan: UInt64 = 0
    /// Errors that the disk was made to give and that end a server.
    private var hasFailedDisk = false
    /// Reading the log may have failed, because there were no descriptors.
    private(set) var hasReadFaults = false
    private var facts = Facts()
    /// Of how it went: the same for the same seed, or the seed decides less than it should.
    private(set) var fingerprint: UInt64 = 0
    /// Everything that holds memory or threads, to see that it goes.
    private(set) var made: [Made] = []
    /// Every event of the log up to the one before its first, at least: those that were dropped.
    private var archive: [Event] = []

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
    }

    struct Made {
        private(set) weak var object: AnyObject?
    }

    /// As in production, or so narrow that they are reached.
    private static func limits(_ random: inout SeededGenerator) -> GraphQLService.Limits {
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
    func noteStarted(_ request: GraphQLRequest) { facts.start(request) }

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

    private func noteRefused(_ id: String, _ result: JSONValue) {
        let code = result["errors"]?.array?.first?["extensions"]?["code"]?.string
        let known: Set = ["STORAGE_FULL", "OVERLOADED", "NOT_FOUND", "BAD_USER_INPUT"]
        if let code, known.contains(code) {
            facts.refused.insert(id)
        } else if code != nil || !isFrozen {
            // Only a log that has stopped has no code for what became of a mutation.
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
        (clients, runtime, links) = ([], nil, [])
        scheduler.stop()
    }

    private func check() throws {
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

    private func note(_ what: String) { history.append(what) }

    private func act() throws {
        switch Int.random(in: 0..<1000, using: &random) {
        case 0..<5: giveMutationUp()
        case 5..<14: mutateAsStranger()
        case 14..<20: useIDAgain()
        case 20..<380: turn(Int.random(in: 1...30, using: &random))
        case 380..<400: try slowDisk()
        case 400..<420: upstream.answer()
        case 420..<620: mutate()
        case 620..<700: pass(Int.random(in: 5...60, using: &random))
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

    // MARK: Ordinary things

    /// Lets everybody go on for a while: messages arrive, tasks run, threads work.
    private func turn(_ count: Int) {
        for _ in 0..<count {
            let link = links[Int.random(in: links.indices, using: &random)]
            switch Int.random(in: 0..<4, using: &random) {
            case 0: _ = link.deliver()
            case 1: _ = link.receive()
            default: _ = scheduler.turn()
            }
        }
    }

    private func settle() {
        while scheduler.turn() || links.contains(where: { $0.deliver() || $0.receive() }) {}
    }

    private func pass(_ milliseconds: Int) {
        note("\(milliseconds) ms")
        scheduler.pass(milliseconds: milliseconds)
    }

    private func mutate() {
        let link = links[Int.random(in: links.indices, using: &random)]
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            client(link)?.mutate(&random) ?? runtime?.mutate(&random)
        }
        note("\(link.name) mutates")
    }

    /// - Returns: nil for the runtime.
    private func client(_ link: SimulatedLink) -> SimulatedClient? {
        clients.first { $0.link === link }
    }

    /// Somebody sends again what was sent a moment ago, whatever became of it.
    private func repeatMutation() {
        guard let request = facts.started.suffix(8).randomElement(using: &random) else { return }
        repeatMutation(request)
    }

    private func repeatMutation(_ request: GraphQLRequest) {
        guard let server else { return }
        note("repeat \(request.extensions["relay"]?.text ?? "")")
        guard let prepared = try? server.service.prepare(request) else { return }
        noteOutOfOrder(request)
        facts.repeatCount += 1
        server.execute(prepared, request) { [self] _ in facts.repeatAnswerCount += 1 }
    }

    private func giveMutationUp() {
        let link = links[Int.random(in: links.indices, using: &random)]
        note("\(link.name) gives up")
        client(link)?.giveMutationUp(&random) ?? runtime?.giveMutationUp(&random)
    }

    /// Somebody else has a client of the same name, which uses the same id for something of its own. It is given the
    /// answer to that, or none.
    private func mutateAsStranger() {
        guard let server, let request = facts.started.suffix(8).randomElement(using: &random),
            let id = request.extensions["relay"]?["mutationId"]?.string
        else { return }
        note("a stranger has \(id)")
        let text = "a stranger's \(id)"
        execute(addTodo(text, request, viewer: "a stranger"), on: server) { [self] outcome in
            switch outcome {
            case .refused(let errors):
                if isRefusal(errors, [.overloaded, .storageFull]) { return }
                violate("a stranger was refused because of \(id): \(errors)")
            case .stopping: break
            case .executed(let response):
                let data = (try? JSONValue(parsing: response.bytes))?["data"]
                if data?["addTodo"]?["todo"]?["text"]?.string == text { return }
                violate("a stranger was given the answer of \(id): \(data?.text ?? "nothing")")
            }
        }
    }

    /// Whether errors are one of these, or that of a log that stops, which has no code: whoever waits for it hears of
    /// that before others do.
    private func isRefusal(_ errors: [ExecutionError], _ codes: [ErrorCode]) -> Bool {
        let found = errors.compactMap(\.code)
        return found.isEmpty ? hasFailedDisk : found.contains(where: codes.contains)
    }

    /// A client gives an id to another mutation, though it has had an answer under it.
    private func useIDAgain() {
        guard let server else { return }
        let answered = facts.started.suffix(32).filter {
            $0.viewer == nil && $0.mutationName.map { facts.acknowledged[$0] != nil } ?? false
        }
        guard let request = answered.randomElement(using: &random),
            let id = request.mutationName
        else { return }
        note("\(id) means something else")
        execute(addTodo("instead of \(id)", request, viewer: nil), on: server) { [self] outcome in
            switch outcome {
            case .refused(let errors):
                if isRefusal(errors, [.mutationIDReused, .overloaded, .storageFull]) { return }
                violate("\(id) was given to another mutation, which was answered \(errors)")
            case .stopping: break
            case .executed:
                violate("\(id) was given to another mutation, which was carried out")
            }
        }
    }

    /// - Parameter request: whose mutation id it uses.
    private func addTodo(
        _ text: String, _ request: GraphQLRequest, viewer: String?
    ) -> GraphQLRequest {
        GraphQLRequest(
            query:
                "mutation M($input: AddTodoInput!) { addTodo(input: $input) { todo { id text } } }",
            variables: ["input": ["text": .string(text)]], extensions: request.extensions,
            viewer: viewer)
    }

    private func execute(
        _ request: GraphQLRequest, on server: SimulatedServer,
        answer: @escaping @Sendable (Outcome) -> Void
    ) {
        guard let prepared = try? server.service.prepare(request) else { return }
        server.execute(prepared, request) { [weak server] outcome in
            if server?.isDead == false { answer(outcome) }
        }
    }

    /// More than is taken in a turn, or may wait.
    /// - Parameter isKnown: all of it in documents that the server knows.
    private func burst(isKnown: Bool = false) {
        note("a burst")
        for _ in 0..<24 { clients[2].mutate(&random, isKnown: isKnown) }
    }

    /// Much comes while the disk takes its time, and perhaps finds no room then.
    private func slowDisk() throws {
        note("the disk is slow")
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            Bool.random(using: &random) ? mutate() : burst()
            if Bool.random(using: &random) { repeatMutation() }
            scheduler.whileThreadsRest { turn(Int.random(in: 20...100, using: &random)) }
            try check()
        }
        if Int.random(in: 0..<4, using: &random) == 0 { try refuseIntents() }
    }

    /// Mutations whose handlers would wait come twice, and their intents find no room on the disk.
    private func refuseIntents() throws {
        guard let server else { return }
        note("the disk refuses")
        for _ in 0..<3 {
            clients[2].mutate(&random, isKnown: true, waits: true)
            while clients[2].link.deliver() {}
            server.runLoop()
            if let last = facts.started.last { repeatMutation(last) }
            scheduler.whileThreadsRest { turn(10) }
            try check()
        }
        // As a file system that copies what is written over: no write has room, in zeros neither.
        disk.setFault { $0.name == "pwrite" ? .error(SimulatedDisk.noSpace) : nil }
        turn(Int.random(in: 10...40, using: &random))
        healDisk()
        if Bool.random(using: &random) { try lull() }
    }

    /// Much comes while nothing is delivered.
    private func loadLoop() throws {
        guard let server else { return }
        note("the loop is busy")
        server.isLoopBusy = true
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            // What is new to the server is prepared, and handed over on the loop.
            burst(isKnown: Bool.random(using: &random))
            while clients[2].link.deliver() {}
            for _ in 0..<5 {
                turn(20)
                try check()
            }
            scheduler.settle()
            try check()
        }
        server.isLoopBusy = false
    }

    /// Nothing hinders anybody for half a minute at most: whoever has asked is answered.
    private func lull() throws {
        guard server != nil else { return }
        note("a lull")
        healDisk()
        for _ in 0..<30 {
            upstream.answerAll()
            settle()
            scheduler.pass(milliseconds: 1_000)
            settle()
            try check()
            if isFrozen || facts.repeatCount == facts.repeatAnswerCount { return }
        }
        let unanswered = facts.repeatCount - facts.repeatAnswerCount
        throw Violation("\(unanswered) who sent a mutation again have no answer")
    }

    private func cutSomebody() {
        let link = links[Int.random(in: links.indices, using: &random)]
        note("cut \(link.name)")
        link.cut()
    }

    private func slowSomebody() {
        let link = links[Int.random(in: links.indices, using: &random)]
        guard let wire = link.socket?.wire else { return }
        wire.isSlow.toggle()
        note("\(link.name) is \(wire.isSlow ? "slow" : "quick")")
    }

    private func resubscribe() {
        let client = clients[Int.random(in: clients.indices, using: &random)]
        note("\(client.name) subscribes anew")
        client.cancelStream(&random)
        client.subscribe(isLive: Bool.random(using: &random))
    }

    /// Mutations, and pauses shorter than the interval of syncs, for several intervals; then the power goes.
    private func steadyTraffic() throws {
        guard durability == .batch, server != nil else { return }
        for _ in 0..<Int.random(in: 6...14, using: &random) {
            clients[0].mutate(&random)
            settle()
            upstream.answerAll()
            settle()
            pass(Int.random(in: 20...80, using: &random))
            try check()
            if isFrozen { return }
        }
        settle()
        try crash(losesPower: true)
    }

    /// So much comes, for several intervals, that something waits for the disk all the time; then the power goes.
    private func flood() throws {
        guard durability == .batch, server != nil else { return }
        note("a flood")
        let client = clients[2]
        healDisk()
        client.link.socket?.wire.isSlow = false
        settle()
        if client.link.socket == nil { pass(1_000) }
        for _ in 0..<Int.random(in: 30...60, using: &random) {
            client.mutate(&random)
            while client.link.deliver() {}
            // What the server has not seen before is prepared, and then handed over on the loop.
            for _ in 0..<2 {
                scheduler.whileThreadsRest { while scheduler.turn() {} }
                server?.runLoop()
            }
            scheduler.whileThreadsRest { while scheduler.turn() {} }
            scheduler.passBusily()
            server?.runLoop()
            while client.link.receive() {}
            try check()
            if isFrozen { return }
        }
        try crash(losesPower: true)
    }

    // MARK: The disk

    private func fillDisk() {
        note("the disk is full")
        disk.setCapacity(disk.usedBytes + Int.random(in: 0...4_000, using: &random))
    }

    private func takeDescriptors() {
        note("no descriptors")
        hasReadFaults = true
        let random = SharedGenerator(self.random.next())
        disk.setFault { call in
            call.name == "open" && random.coin() ? .error(SimulatedDisk.tooManyOpenFiles) : nil
        }
    }

    private func failDisk() {
        note("the disk fails")
        hasFailedDisk = true
        let random = SharedGenerator(self.random.next())
        disk.setFault { call in
            ["fdatasync", "pwrite", "fsync"].contains(call.name) && random.coin()
                ? .error(SimulatedDisk.inputOutput) : nil
        }
    }

    private func healDisk() {
        disk.setFault(nil)
        disk.setCapacity(.max)
    }

    // MARK: Lives of the server

    private func start() throws {
        guard server == nil else { return }
        disk.onRemove { [weak self] in self?.archive($0) }
        if Int.random(in: 0..<8, using: &random) == 0 { try compact() }
        note("start")
        disk.setPause { [scheduler] in scheduler.pause() }
        do {
            let server = try SimulatedServer(self, on: disk, durability, scheduler)
            server.follow(from: server.service.snapshot.sequence + 1)
            self.server = server
            made += server.parts.map(Made.init)
        } catch let violation as Violation {
            throw violation
        } catch {
            // A disk that fails, or is full, is a reason; a damaged log is none.
            if "\(error)".contains("damaged") { throw Violation("a start is refused: \(error)") }
            note("which failed: \(error)")
            try end(losesPower: false)
            healDisk()
        }
    }

    /// Drops the events that lead to the newest state, as an operator does while no server runs. The power may go
    /// meanwhile.
    private func compact() throws {
        note("compact")
        var options = SimulatedServer.options(self, scheduler, disk)
        options.log.onFreeze = { _ in }
        let losesPower = Bool.random(using: &random)
        if losesPower {
            let last = disk.callCount + Int.random(in: 0..<400, using: &random)
            disk.setFault { $0.number > last ? .powerOff : nil }
        }
        do {
            _ = try EventStore.compact("log", options: options)
        } catch {
            if !losesPower, "\(error)".contains("damaged") {
                throw Violation("a compaction is refused: \(error)")
            }
            note("which failed: \(error)")
        }
        if losesPower { try end(losesPower: true) }
        disk.onRemove { [weak self] in self?.archive($0) }
    }

    /// A file is about to be removed: keeps what events it has.
    private func archive(_ path: String) {
        guard path.hasPrefix("log/segments/") else { return }
        do {
            archive = try EventsOfLog(disk.killed(), archive).events
        } catch {
            violate("before \(path) was removed: \(error)")
        }
    }

    private func restartFrozen() throws {
        if !hasFailedDisk { throw Violation("the log froze, and no write or sync had failed") }
        note("frozen")
        healDisk()
        try crash(losesPower: false)
        try start()
    }

    private func crash(losesPower: Bool) throws {
        note(losesPower ? "power loss" : "kill -9")
        try end(losesPower: losesPower)
    }

    /// In order, as ``Server/stop()`` does: nothing that was answered is lost after that, whatever the durability and
    /// whatever becomes of the power. Half of the time something is in the way; then it is as a kill.
    private func stop() throws {
        guard let server else { return }
        let isUndisturbed = Bool.random(using: &random)
        note(isUndisturbed ? "stop" : "stop, if possible")
        if isUndisturbed { healDisk() }
        server.beginToStop()
        for _ in 0..<Int.random(in: 1...30, using: &random)
        where isUndisturbed || server.unansweredCount > 0 {
            turn(20)
            upstream.answerAll()
            scheduler.pass(milliseconds: 100)
            try check()
        }
        if isUndisturbed {
            server.isLoopBusy = false
            for _ in 0..<30 where server.unansweredCount > 0 && !isFrozen {
                upstream.answerAll()
                settle()
                scheduler.pass(milliseconds: 1_000)
                try check()
            }
            if server.unansweredCount > 0, !isFrozen {
                throw Violation("a server stops, and \(server.unansweredCount) are not answered")
            }
        }
        for link in links { link.cut() }
        var isClosed = isUndisturbed
        do {
            try server.close()
        } catch {
            isClosed = false
            note("without a checkpoint: \(error)")
        }
        try end(
            losesPower: Bool.random(using: &random), isClosed: isClosed && !isFrozen)
    }

    /// - Parameter isClosed: everything is on the disk.
    private func end(losesPower: Bool, isClosed: Bool = false) throws {
        if server != nil { lastRan = frozenAt ?? scheduler.now }
        let found: SimulatedDisk
        if losesPower {
            let isHarsh = Bool.random(using: &random)
            found = disk.crashed(
                isHarsh ? .nothing : .random(SeededGenerator(seed: random.next())))
            if !isClosed { facts.losePower(at: lastRan) }
        } else {
            found = disk.killed()
        }
        server?.kill()
        server = nil
        facts.endLife()
        for link in links { link.cut() }
        disk = found
        frozenAt = nil
        hasFailedDisk = false
        hasReadFaults = false
        // Nobody of the old process goes on in the new one.
        let time = scheduler.now
        let old = scheduler
        scheduler = Scheduler(time: time, random: SeededGenerator(seed: random.next()))
        old.moveTimers(to: scheduler)
        old.stop()
    }

    // MARK: The end

    /// Nothing is in anybody's way any more, so everything comes to its end, and whoever asks for something gets it.
    private func heal() throws {
        note("all is well")
        healDisk()
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
    private func passes(until isSo: () -> Bool) throws -> Bool {
        for _ in 0..<120 {
            if isFrozen { try restartFrozen() }
            try start()
            for link in links { link.socket?.wire.isSlow = false }
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
    private var isQuiet: Bool {
        clients.allSatisfy(\.unansweredMutations.isEmpty)
            && runtime?.unansweredMutations.isEmpty == true
            && links.allSatisfy { $0.socket != nil }
            && server?.service.snapshot.pending.isEmpty == true
            && facts.repeatCount == facts.repeatAnswerCount
            && server?.service.subscriptionCounts.subscriptions == openStreamCount
    }

    /// The runtime has one.
    private var openStreamCount: Int { clients.reduce(1) { $0 + $1.openStreamCount } }

    private var subscribedOrNot: String {
        let count = server?.service.subscriptionCounts.subscriptions ?? 0
        return "the server knows of \(count) streams, and there are \(openStreamCount)"
    }

    /// A server that lives does what it is asked: each client adds a todo, and has it renamed by a handler that waits.
    /// Either may be refused for a while.
    private func carryOutLastMutations() throws {
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

    private func checkEnd() throws {
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
    private func mix(_ figure: UInt64) {
        fingerprint = (fingerprint ^ figure) &* 1_099_511_628_211
    }

    /// What every start finds, and what is checked at the end.
    func checkOpened(
        _ snapshot: Snapshot, on disk: SimulatedDisk, _ durability: Durability, epoch: UInt64
    ) throws {
        if facts.lostPowerAt != nil, durability != .always {
            facts.told = min(facts.told, snapshot.sequence)
        } else if snapshot.sequence < facts.told {
            throw Violation(
                "event \(facts.told) was told of, and the log ends with \(snapshot.sequence)")
        }
        try checkMutations(EventsOfLog(disk, archive))
    }

    private func checkMutations(_ log: EventsOfLog) throws {
        var last: [String: UInt64] = [:]
        var seen: Set<String> = []
        for add in log.mutations.sorted(by: { $0.intent < $1.intent }) {
            guard let id = add.id, let name = add.name else { continue }
            guard seen.insert(name).inserted else {
                throw Violation("mutation \(name) was carried out twice")
            }
            if add.viewer != nil { continue }
            if facts.outOfOrder.contains(name) || log.revoked.contains(id) { continue }
            if let before = last[id.client], before > id.number {
                throw Violation("\(id) was carried out behind \(id.client):\(before)")
            }
            last[id.client] = id.number
        }
        let refused = Set(facts.refusedForGood)
        if let id = seen.intersection(refused).min() {
            throw Violation("mutation \(id) was refused, and was carried out")
        }
        // The intent of one that waits is in the log before its handler refuses it.
        if let trace = log.begun.first(where: {
            $0.field != "renameTodo" && refused.contains($0.name)
        }) {
            throw Violation("mutation \(trace.name) was refused, and the log has it")
        }
        for (id, time) in facts.acknowledged.sorted(by: { $0.key < $1.key })
        where !seen.contains(id) {
            guard durability != .always, let lostPowerAt = facts.lostPowerAt else {
                throw Violation("mutation \(id) was acknowledged and is not in the log")
            }
            let milliseconds = (Int64(lostPowerAt) - Int64(time)) / 1_000_000
            if durability == .batch, milliseconds > 100 + 2 * Int64(Scheduler.stepMilliseconds) {
                throw Violation(
                    "mutation \(id) was acknowledged \(milliseconds) ms before the last server ended, and is lost"
                )
            }
            facts.acknowledged[id] = nil
            facts.answers[id] = nil
        }
        facts.lostPowerAt = nil
    }

    /// What a stream was told between two gaps that it was told of, as far as it holds: not what came before a loss of
    /// power that may have taken it back.
    private func toldForGood(_ stream: SimulatedClient.Stream) -> ArraySlice<[Told]> {
        if durability == .always || !facts.hasLostPower { return stream.segments[...] }
        return stream.isOver ? [] : stream.segments.suffix(1)
    }

    private typealias Told = SimulatedClient.Told

    /// Between two gaps that it was told of, a stream has every event of the log, once, in order. One that is open has
    /// those of the end, whatever it was told before.
    private func checkEvents(
        _ stream: SimulatedClient.Stream, _ log: EventsOfLog, _ name: String
    ) throws {
        let segments = toldForGood(stream)
        for (number, segment) in zip(segments.indices, segments) {
            let isOpen = number == stream.segments.count - 1 && !stream.isOver
            var first = segment.first?.cursor.sequence ?? .max
            if isOpen { first = min(first, quietSince + 1) }
            let last = isOpen ? .max : segment.last?.cursor.sequence ?? 0
            let expected = log.mutations.filter {
                $0.field == "addTodo" && $0.sequence >= first && $0.sequence <= last
            }
            let told = segment.map(\.cursor.sequence)
            if told != expected.map(\.sequence) {
                throw Violation(
                    "a stream of \(name) was told of \(told), the log has \(expected.map(\.sequence))"
                )
            }
            for (told, event) in zip(segment, expected)
            where told.data["todoAdded"]?["todo"]?["text"]?.string != event.text {
                throw Violation(
                    "a stream of \(name) was told \(told.data.text) at \(event.sequence)")
            }
        }
    }

    /// A live result is what the query gives at its sequence, no older one follows a newer, and the last one of a stream
    /// that is open is what the query gives at the end.
    private func checkLive(
        _ stream: SimulatedClient.Stream, _ history: History, _ name: String
    ) throws {
        let segments = toldForGood(stream)
        for segment in segments {
            let sequences = segment.map(\.cursor.sequence)
            if sequences != sequences.sorted() {
                throw Violation("live results came in the order \(sequences)")
            }
        }
        let firstState = try history.firstState
        for told in segments.joined().suffix(3) where told.cursor.sequence >= firstState {
            let answer = try result(of: stream.query, at: told.cursor.sequence)
            if answer != told.data {
                throw Violation(
                    "a live query of \(name) at \(told.cursor.sequence) \(differs(answer, told))")
            }
        }
        if stream.isOver { return }
        let now = try result(of: stream.query, at: nil)
        let last = segments.last?.last
        if last?.data != now {
            throw Violation("a live query of \(name) in the end \(differs(now, last))")
        }
    }

    /// Says where what is right and what was told begin to differ.
    private func differs(_ right: JSONValue?, _ told: Told?) -> String {
        guard let right else { return "is refused" }
        guard let told else { return "was told nothing" }
        let (expected, found) = (right.text.utf8, told.data.text.utf8)
        let start = max(zip(expected, found).prefix { $0 == $1 }.count - 40, 0)
        let part = { (text: String.UTF8View) in
            String(decoding: text.dropFirst(start).prefix(80), as: UTF8.self)
        }
        return "is …\(part(expected))…, and was told at \(told.cursor.sequence) …\(part(found))…"
    }

    /// What a query gives.
    /// - Parameter sequence: nil asks for the newest state.
    /// - Returns: nil when it is refused.
    private func result(of query: String, at sequence: UInt64?) throws -> JSONValue? {
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

/// Tosses coins from any thread.
private final class SharedGenerator: Sendable {
    private let random: Lock<SeededGenerator>

    init(_ seed: UInt64) { random = Lock(SeededGenerator(seed: seed)) }

    func coin() -> Bool { random.withLock { Bool.random(using: &$0) } }
}

private final class AnswerBox: Sendable {
    private let value = Lock<Outcome?>(nil)

    var outcome: Outcome? { value.withLock { $0 } }

    func set(_ outcome: Outcome) { value.withLock { $0 = outcome } }
}
