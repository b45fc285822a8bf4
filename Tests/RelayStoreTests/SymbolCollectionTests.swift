import BoundedTesting
import RelayArtifacts
import RelayJSON
import Synchronization
import Testing
import Threads

@testable import RelayNormalization
@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

@Suite(.bounded) struct SymbolCollectionTests {
    private func store(_ change: (inout StoreOptions) -> Void = { _ in }) -> Store {
        Store.quiet {
            $0.releaseBufferSize = 2
            $0.leastSymbolCount = 0
            change(&$0)
        }
    }

    private func one(_ id: String, _ text: String = "x") -> JSONValue {
        [
            "data": [
                "node": [
                    "__typename": "Todo", "id": .string(id), "text": .string(text),
                    "author": ["id": .string("u" + id), "name": "Ada"],
                ]
            ]
        ]
    }

    private func fill(_ store: Store, _ range: Range<Int>) throws {
        for number in range { try store.commit("One", ["id": "t\(number)"], one("t\(number)")) }
    }

    @Test func distinctQueriesLeaveNothing() throws {
        let store = store()
        try fill(store, 0..<200)
        store.collectGarbage()
        let (live, limit) = (store.symbols.ids.liveCount, store.snapshot.recordLimit)
        for start in stride(from: 200, to: 2_000, by: 50) {
            try fill(store, start..<start + 50)
            store.collectGarbage()
            // A narrow root keeps its fields, and what they led to.
            #expect(store.symbols.ids.liveCount <= live + ShapeTable.wideLimit)
            // Those of plans that are kept for another time are some more; see PlanCache.
            #expect(store.symbols.names.liveCount <= 1_000)
        }
        #expect(store.snapshot.recordLimit <= limit + 20)
        #expect(try store.json("One", ["id": "t1999"])["node"]?["text"] == "x")
        #expect(store.ids().sorted() == ["client:root", "t1998", "t1999", "ut1998", "ut1999"])
    }

    @Test func mutationsAndUpdatesLeaveNothing() throws {
        let store = store()
        func run(_ range: Range<Int>) throws {
            for number in range {
                let operation = OperationDescriptor(
                    try TodoDocuments.operation("Change").request.node,
                    variables: ["id": "a", "text": "text \(number)"],
                    root: DataID("client:root:\(number)"))
                let entry = try store.applyMutation(
                    operation, mutationID: MutationID(client: "me", number: UInt64(number)))
                try store.commitResponse(
                    entry, operation,
                    (["data": ["change": ["todo": ["id": "a", "text": "x"]]]] as JSONValue).bytes)
                let update = try store.applyUpdate { _ = $0.create(typeName: "Todo") }
                store.revert(update)
                if number % 100 == 0 { store.collectGarbage() }
            }
            store.collectGarbage()
        }
        try run(1..<1_001)
        let (live, limit) = (store.symbols.ids.liveCount, store.snapshot.recordLimit)
        try run(1_001..<3_001)
        #expect(store.symbols.ids.liveCount <= live + 20)
        #expect(store.symbols.names.liveCount <= 2_000)
        #expect(store.snapshot.recordLimit <= limit + 20)
    }

    /// Data that somebody keeps says what it said, whatever its record's number would be used for.
    @Test func dataThatIsKeptKeepsItsRecords() throws {
        let store = store()
        try fill(store, 0..<10)
        let reads = try (0..<10).map { try store.read("One", ["id": "t\($0)"]) }
        for start in stride(from: 10, to: 200, by: 10) {
            try fill(store, start..<start + 10)
            store.collectGarbage()
        }
        #expect(store.snapshot.existing("t3") == nil)
        for (number, read) in reads.enumerated() {
            guard case .node(let node)? = read.data?.child(named: "node"),
                case .node(let author)? = node.child(named: "author")
            else { throw InvalidResponse(description: "there is no node") }
            #expect(store.symbols.idString(node.record) == "t\(number)")
            #expect(store.symbols.idString(author.record) == "ut\(number)")
            #expect(store.symbols.findRecord("t\(number)") == node.record)
        }
    }

    @Test func whoeverKeepsASnapshotReadsOnInIt() throws {
        let store = store()
        try fill(store, 0..<10)
        var old: Snapshot? = store.snapshot
        func texts(_ snapshot: Snapshot?) -> [String] {
            guard let snapshot else { return [] }
            return snapshot.recordsInCreationOrder().compactMap {
                snapshot.recordJSON($0)?.json.text
            }
        }
        let before = texts(old)
        for start in stride(from: 10, to: 400, by: 10) {
            try fill(store, start..<start + 10)
            store.collectGarbage()
        }
        #expect(texts(old) == before)
        let held = store.symbols.ids.liveCount
        old = nil
        store.collectGarbage()
        store.collectGarbage()
        #expect(store.symbols.ids.liveCount < held / 2)
    }

    /// What waits for an old snapshot goes on when that is gone: nobody need collect garbage for it.
    @Test func theEndOfAnOldSnapshotIsNoticed() throws {
        let works = Works()
        let store = store { $0.schedule = works.add }
        try fill(store, 0..<100)
        var old: Snapshot? = store.snapshot
        try fill(store, 100..<200)
        store.collectGarbage()
        let held = store.symbols.ids.liveCount
        works.drain()
        #expect(store.symbols.ids.liveCount == held && works.isEmpty && old != nil)
        old = nil
        works.drain()
        #expect(store.symbols.ids.liveCount < held)
    }

    /// A store that was restored begins with what it has: its first commit is no reason to look for anything.
    @Test func aRestoredStoreLooksForNothingAtFirst() throws {
        let first = store()
        try fill(first, 0..<3_000)
        let works = Works()
        var options = StoreOptions()
        options.schedule = works.add
        let store = Store(try first.source.snapshot, options: options)
        let before = store.snapshot.recordCount
        try store.commitUpdate { $0.root["touched"] = true }
        #expect(works.isEmpty && before >= 6_000)
        works.drain()
        #expect(store.snapshot.recordCount == before)
    }

    /// Numbers are looked for without a collection of records: those that nobody has retained yet stay.
    @Test func growthWithoutACollectionIsNoticedAndForgetsNoRecord() throws {
        let works = Works()
        var options = StoreOptions()
        options.schedule = works.add
        let store = Store(options: options)
        // Collections are held back all the time.
        let hold = store.holdCollections(upTo: .max)
        try store.commit("One", ["id": "kept"], one("kept"))
        var most = 0
        for number in 0..<20_000 {
            let entry = try store.applyUpdate { source in
                source.root.setLinkedRecord(
                    "shown", record: source.create(dataID: DataID("id\(number)"), typeName: "T"))
            }
            store.revert(entry)
            works.drain()
            most = max(most, store.symbols.ids.liveCount)
        }
        #expect(most <= 8_192)
        #expect(store.snapshot.existing("kept") != nil)
        // One for each doubling, or step of a collection; not one for each commit.
        #expect(works.count <= 60)
        hold.cancel()
    }

    /// While an old snapshot is kept the texts grow; each doubling is told, and nobody searches in vain.
    @Test func whoeverKeepsASnapshotForLongIsToldOf() throws {
        let works = Works()
        var options = StoreOptions()
        options.schedule = works.add
        let store = Store(options: options)
        let told = Lock<[Int]>([])
        let observing = store.observe { event in
            if case .snapshotKept(let count) = event { told.withLock { $0.append(count) } }
        }
        try fill(store, 0..<1_000)
        let old = store.snapshot
        for number in 1_000..<40_000 {
            let id = "t\(number)"
            store.revert(try store.applyUpdate { _ = $0.create(dataID: DataID(id), typeName: "T") })
            works.drain()
        }
        let counts = told.withLock { $0 }
        #expect(counts.count >= 3 && counts.count <= 6)
        #expect(zip(counts, counts.dropFirst()).allSatisfy { $1 >= 2 * $0 })
        #expect(works.count <= 20)
        #expect(old.existing("t7") != nil)
        observing.cancel()
    }

    /// Readers that look ids up, make plans and keep data, beside a writer whose every turn gives numbers again.
    @Test func readersOnOtherThreadsFindNothingElse() async {
        let race = SymbolRace(store { $0.leastSymbolCount = 0 })
        await withTaskGroup(of: String?.self) { group in
            for _ in 0..<3 { group.addTask { await race.read() } }
            group.addTask { await race.write() }
            for await mistake in group { if let mistake { Issue.record("\(mistake)") } }
        }
    }

    /// A plan was made before, and what it writes was in no record when the collection looked.
    @Test func whatAPlanWritesLaterIsStillItsOwn() throws {
        let store = store()
        let operation = try TodoDocuments.operation("List", ["complete": true])
        func list(_ id: String) -> [UInt8] {
            (["data": ["list": [["id": .string(id), "text": "x"]]]] as JSONValue).bytes
        }
        try store.commitPayload(operation, list("a"))
        try store.write { writer, _ in
            var draft = writer.state.draft()
            draft.delete("client:root")
            _ = writer.state.update("gc", draft)
        }
        store.collectGarbage()
        let search = try #require(store.beginSymbols())
        try store.commitPayload(operation, list("b"))
        store.endSymbols(search)
        while store.advanceSymbols() {}
        try fill(store, 0..<50)
        #expect(store.field("client:root", "todos(complete:true,first:3)") == .links(["b"]))
        #expect(try store.json("List", ["complete": true])["list"]?.array?.first?["id"] == "b")
    }

    /// Random writers between all steps of collections: what the store has is what its journal says, what somebody
    /// keeps says what it said.
    @Test(arguments: 0..<4)
    func theStoreIsWhatItsJournalSays(_ lane: Int) throws {
        for round in 0..<3 {
            let seed = UInt64.random(in: 0 ... .max)
            do {
                var run = try SymbolRun(seed)
                for _ in 0..<400 { try run.step() }
                try run.check()
            } catch {
                Issue.record("round \(round), seed \(seed): \(error)")
            }
        }
    }
}

/// What a store wants done later.
private final class Works: Sendable {
    private let state = Lock((waiting: [@Sendable () -> Void](), count: 0))

    var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }
    /// All that there ever were.
    var count: Int { state.withLock { $0.count } }

    @Sendable func add(_ work: @escaping @Sendable () -> Void) {
        state.withLock {
            $0.waiting.append(work)
            $0.count += 1
        }
    }

    func drain() {
        while true {
            let works = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            if works.isEmpty { return }
            for work in works { work() }
        }
    }
}

/// Readers on some threads, and a writer whose numbers are given again all the time on another.
private final class SymbolRace: Sendable {
    private let store: Store
    private let isOver = Atomic(false)
    private static let ids = 400
    private static let leastRounds = 200

    init(_ store: Store) { self.store = store }

    /// - Returns: what went wrong.
    func read() async -> String? {
        var kept: [(id: String, read: SelectorSnapshot)] = []
        var rounds = 0
        while !isOver.load(ordering: .relaxed) || rounds < Self.leastRounds {
            rounds += 1
            let id = "t\(Int.random(in: 0..<Self.ids))"
            // Another plan for each id: its storage keys are pinned, and let go of.
            guard let read = try? store.read("One", ["id": id]) else {
                return "\(id) cannot be read"
            }
            kept.append((id, read))
            let snapshot = store.snapshot
            if let record = snapshot.existing(id), snapshot.recordJSON(record)?.id.rawValue != id {
                return "\(id) is another record"
            }
            if kept.count > 20 { kept.removeFirst(Int.random(in: 1...20)) }
            for (id, read) in kept {
                guard case .node(let node)? = read.data?.child(named: "node") else { continue }
                if store.symbols.idString(node.record) != id {
                    return "data of \(id) became another record's"
                }
            }
            await Task.yield()
        }
        return nil
    }

    /// - Returns: what went wrong.
    func write() async -> String? {
        defer { isOver.store(true, ordering: .relaxed) }
        do {
            for number in 0..<600 {
                let id = "t\(number % Self.ids)"
                let node: JSONValue = [
                    "__typename": "Todo", "id": .string(id), "text": "x",
                    "author": ["id": .string("u" + id), "name": "Ada"],
                ]
                try store.commit("One", ["id": id], ["data": ["node": node]])
                if number % 3 == 0 { store.collectGarbage() }
                await Task.yield()
            }
        } catch {
            return "\(error)"
        }
        return nil
    }
}

/// A store whose numbers are given again all the time.
private struct SymbolRun {
    struct Difference: Error, CustomStringConvertible { let description: String }

    private let journal = StoreHistoryTests.Recorder()
    private let store: Store
    private var random: SeededGenerator
    private var search: Store.SymbolSearch?
    private var retained: [Retention] = []
    private var subscriptions: [Retention] = []
    private var entries: [OptimisticEntryID] = []
    /// Old states, and what they said.
    private var states: [(snapshot: Snapshot, lines: [String])] = []
    private var reads: [(snapshot: SelectorSnapshot, json: JSONValue, ids: [String])] = []

    init(_ seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        store = Store.quiet { [journal] in
            $0.journal = journal
            $0.releaseBufferSize = 1
            $0.collectionSlice = 2
            $0.leastSymbolCount = 0
        }
    }

    private mutating func pick(_ count: Int) -> Int { random.below(count) }

    private func lines(_ snapshot: Snapshot) -> [String] {
        snapshot.recordsInCreationOrder().compactMap { snapshot.recordJSON($0)?.json.text }
    }

    mutating func step() throws {
        switch pick(24) {
        case 0..<4: try fetchOne()
        case 4..<7: try fetchList()
        case 7, 8: try update()
        case 9: try optimistic()
        case 10, 11:
            if !entries.isEmpty { store.revert(entries.remove(at: pick(entries.count))) }
        case 12: try follow()
        case 13: if !subscriptions.isEmpty { subscriptions.remove(at: pick(subscriptions.count)) }
        case 14: if !retained.isEmpty { retained.remove(at: pick(retained.count)) }
        case 15, 16: _ = try store.write { writer, _ in store.beginCollection(&writer) }
        case 17, 18: for _ in 0..<pick(20) { try advance() }
        case 19: try keep()
        case 20:
            if !states.isEmpty { states.remove(at: pick(states.count)) }
            if !reads.isEmpty { reads.remove(at: pick(reads.count)) }
        default: symbols()
        }
        try compareKept()
    }

    private func advance() throws {
        _ = try store.write { store.advanceCollection(&$0, &$1) }
    }

    private mutating func symbols() {
        if let search {
            store.endSymbols(search)
            self.search = nil
        } else if !store.advanceSymbols() {
            search = store.beginSymbols()
        }
    }

    private mutating func fetchOne() throws {
        let id = "t\(pick(40))"
        let operation = try TodoDocuments.operation("One", ["id": id])
        if pick(4) == 0, retained.count < 4 { retained.append(try store.retain(operation)) }
        try store.commit(
            "One", ["id": id],
            [
                "data": [
                    "node": [
                        "__typename": "Todo", "id": .string(id), "text": .string("x\(pick(3))"),
                        "author": ["id": .string("u\(pick(40))"), "name": "Ada"],
                    ]
                ]
            ],
            updater: pick(3) == 0
                ? { [number = pick(60)] source, _ in
                    source.root["mine", VariableData(["n": number])] = number
                } : nil)
    }

    private mutating func fetchList() throws {
        let complete = pick(2) == 0
        let step = pick(60)
        try store.commit(
            "Counter", ["step": step],
            ["data": ["counter": .int(Int64(step))]])
        var list: [JSONValue] = (0..<pick(3)).map { _ in ["id": .string("t\(pick(40))")] }
        list.append(nil)
        try store.commit(
            "List", ["complete": complete],
            [
                "data": ["list": .array(list)],
                "errors": [["message": "no", "path": ["list", .int(Int64(list.count - 1))]]],
            ])
    }

    private mutating func update() throws {
        let (id, key) = ("own\(pick(30))", "f\(pick(3))")
        let arguments = VariableData(["a": pick(60)])
        let other = DataID("t\(pick(40))")
        let isEnd = pick(4) == 0
        try store.commitUpdate { source in
            if isEnd { return source.delete(dataID: DataID(id)) }
            let record = source.create(dataID: DataID(id), typeName: "Own")
            record[key, arguments] = "value"
            record.setLinkedRecord("link", args: arguments, record: source[other])
            source.root.setLinkedRecord(id, record: record)
        }
    }

    private mutating func optimistic() throws {
        guard entries.count < 3 else { return }
        let id = DataID("o\(pick(60))")
        let arguments = VariableData(["o": pick(60)])
        let other = DataID("t\(pick(40))")
        entries.append(
            try store.applyUpdate { source in
                let record = source.create(dataID: id, typeName: "Own")
                record["f", arguments] = source[other]?["text"]
                source.root.setLinkedRecord("shown", args: arguments, record: record)
            })
    }

    private mutating func follow() throws {
        guard subscriptions.count < 4 else { return }
        let selector = ReaderSelector(
            try TodoDocuments.fragment("Row_todo"), dataID: DataID("t\(pick(40))"), variables: [:])
        subscriptions.append(try store.subscribe(store.lookup(selector)) { _ in })
    }

    private mutating func keep() throws {
        if states.count < 2 {
            let snapshot = store.snapshot
            states.append((snapshot, lines(snapshot)))
        }
        guard reads.count < 4 else { return }
        let read = try store.read("One", ["id": "t\(pick(40))"])
        reads.append((read, read.data?.json ?? .null, ids(read)))
    }

    private func ids(_ read: SelectorSnapshot) -> [String] {
        read.seen.map { store.symbols.idString($0.record) }
    }

    private func compareKept() throws {
        for (snapshot, before) in states where lines(snapshot) != before {
            throw Difference(description: "an old snapshot says something else now")
        }
        for (read, json, before) in reads
        where read.data?.json ?? .null != json || ids(read) != before {
            throw Difference(description: "data that was kept says something else now")
        }
    }

    /// The journal, folded by itself, is the state.
    func check() throws {
        var replayed = Snapshot()
        var changes = ChangeSet()
        for event in journal.events { try replayed.fold(event, changes: &changes) }
        let confirmed = try store.confirmed
        let (mine, theirs) = (lines(confirmed), lines(replayed))
        guard mine == theirs else {
            let difference = zip(mine, theirs).first { $0 != $1 }
            throw Difference(
                description:
                    "\(mine.count) and \(theirs.count) records, \(String(describing: difference))")
        }
    }
}
