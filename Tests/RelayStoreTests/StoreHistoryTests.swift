import BoundedTesting
import RelayArtifacts
import RelayJSON
import Testing
import Threads

@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

/// Random histories of a client's store, beside a model that folds everything anew at every step.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct StoreHistoryTests {
    /// A record of very many fields is packed when many of them have been taken away. If the errors of a list are the one
    /// too many, the journal says that they are over all the same.
    @Test(arguments: 0..<80)
    func errorsThatAreOverAreOverInTheJournal(_ count: Int) throws {
        let journal = Recorder()
        let store = Store.quiet { $0.journal = journal }
        let error: JSONValue = ["message": "no", "path": ["list", 0]]
        try store.commit("List", ["data": ["list": [nil]], "errors": [error]])
        try store.commitUpdate { source in
            for number in 0..<200 { source.root["f\(number)"] = number }
        }
        try store.commitUpdate { source in
            for number in 0..<count { source.root["f\(number)"] = nil }
        }
        try store.commit("List", ["data": ["list": [["id": "a"]]]])
        var replayed = Snapshot()
        var changes = ChangeSet()
        for event in journal.events { try replayed.fold(event, changes: &changes) }
        #expect(replayed.modelRecords == store.snapshot.modelRecords)
    }

    /// The look that debug builds take at each step: an event that leaves out a field is no history, also where it says
    /// nothing of the record.
    @Test(arguments: [true, false])
    func anEventThatSaysTooLittleIsNoticed(_ isWhole: Bool) throws {
        let store = Store.quiet()
        try store.commit("List", ["data": ["list": [["id": "a", "text": "old"]]]])
        let operation = try TodoDocuments.operation("List")
        let plan = NormalizationPlan(
            operation.request.node.operation, variables: operation.request.variables,
            symbols: store.symbols)
        let base = try store.confirmed
        var draft = Draft(on: base, keepsPayloads: isWhole)
        let response: JSONValue = ["data": ["list": [["id": "a", "text": "new"]]]]
        _ = try response.bytes.withUnsafeBytes { try draft.normalize($0, plan) }
        var state = draft.snapshot
        state.sequence += 1
        let event = EventBody.update(LocalUpdate(name: "u", writes: draft.writeSet))
        #expect(state.isFold(of: [event], on: base, written: draft.changes) == isWhole)
    }

    /// A record that is packed while it gets another type, in one response.
    @Test(arguments: 30..<50)
    func aPackedRecordOfAnotherTypeIsKeptAsItIs(_ unsetCount: Int) throws {
        var first = Draft(on: Snapshot())
        let keys = (0..<ShapeTable.wideLimit + 4).map { "k\($0)" }
        first.write("r", type: "T", fields: keys.map { (key: $0, value: .int(1)) })
        let unset = keys.prefix(unsetCount).map { (key: $0, value: FieldValue.unset) }
        let base = first.snapshot
        var second = Draft(on: base)
        second.write("r", type: "U", fields: [(key: "k100", value: .int(2))])
        second.write("r", type: "U", fields: unset)
        var replayed = base
        var changes = ChangeSet()
        replayed.apply(
            second.snapshot.writeSet(of: second.changes, since: base), changes: &changes)
        #expect(replayed.modelRecords == second.snapshot.modelRecords)
    }

    /// Keeps events in the order of their handing over.
    final class Recorder: EventJournal {
        private let recorded = Lock<[Event]>([])
        let epoch: UInt64 = 0

        var events: [Event] { recorded.withLock { $0 } }

        func append(
            _ events: [NewEvent], expecting sequence: UInt64,
            completion: @escaping @Sendable (Result<UInt64, JournalError>) -> Void
        ) {
            recorded.withLock { recorded in
                precondition(recorded.count == Int(sequence), "events come in order")
                for event in events {
                    recorded.append(
                        Event(
                            sequence: UInt64(recorded.count) + 1,
                            timeMicroseconds: event.timeMicroseconds, body: event.body))
                }
            }
            completion(.success(sequence + UInt64(events.count)))
        }

        func events(from sequence: UInt64) -> AsyncThrowingStream<Event, any Error> {
            AsyncThrowingStream { $0.finish() }
        }
    }

    /// A checkpoint is made of a live state, and is compared with what the log leads to: with its ledger, too.
    @Test func whatWasAnsweredIsInTheLedgerAsTheLogHasIt() throws {
        let journal = Recorder()
        let store = Store.quiet { $0.journal = journal }
        let id = MutationID(client: "me", number: 1)
        let operation = try TodoDocuments.operation("Change", ["id": "a", "text": "x"])
        let entry = try store.applyMutation(operation, mutationID: id)
        let answer: JSONValue = ["data": ["change": ["todo": ["id": "a", "text": "x"]]]]
        try store.commitResponse(entry, operation, answer.bytes)
        var replayed = Snapshot()
        var changes = ChangeSet()
        for event in journal.events { try replayed.fold(event, changes: &changes) }
        #expect(replayed.ledger.lastSequence == UInt64(journal.events.count))
        let live = try store.confirmed.ledger
        #expect(live.status(of: id) == replayed.ledger.status(of: id))
    }

    /// A store, the model of it, and what was told to a subscriber.
    private final class Run {
        let journal = Recorder()
        let store: Store
        var model = StoreModel()
        var random: SeededGenerator
        let told: [String: Told]
        var subscriptions: [Retention] = []
        let selectors: [String: ReaderSelector]

        init(seed: UInt64) throws {
            random = SeededGenerator(seed: seed)
            store = Store.quiet { [journal] in
                $0.journal = journal
                $0.collectionSlice = 3
            }
            let fragment = try TodoDocuments.fragment("Row_todo")
            var selectors: [String: ReaderSelector] = [:]
            for id in ["r0", "r1"] {
                selectors[id] = ReaderSelector(fragment, dataID: DataID(id), variables: [:])
            }
            self.selectors = selectors
            told = selectors.mapValues { _ in Told() }
            for (id, selector) in selectors {
                guard let told = told[id] else { continue }
                subscriptions.append(
                    try store.subscribe(store.lookup(selector)) { told.add($0) })
            }
        }

        func id() -> String { "r\(Int.random(in: 0..<6, using: &random))" }

        func writes() -> [ModelWrite] {
            (0..<Int.random(in: 1...4, using: &random)).map { _ in
                let key = ["priority", "complete", "text"].randomElement(using: &random) ?? "text"
                let value = Int.random(in: 0..<4, using: &random)
                return switch Int.random(in: 0..<12, using: &random) {
                case 0...3: .create(id())
                case 4, 5: .set(id(), key, value)
                case 6, 7: .add(id(), key, value)
                case 8, 9: .link(id(), id())
                case 10: .delete(id())
                default: .throwIfMissing(id())
                }
            }
        }

        func updater(_ writes: [ModelWrite]) -> StoreUpdater {
            { source in for write in writes { try write.run(&source) } }
        }

        func step() throws -> String {
            let writes = writes()
            let entry = model.entries.randomElement(using: &random)?.id
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2:
                if let id = try? store.applyUpdate(updater(writes)) {
                    model.entries.append((id, writes))
                } else {
                    var records = model.shownRecords()
                    #expect(throws: ModelWrite.Missing.self) {
                        try StoreModel.run(writes, &records)
                    }
                }
                return "apply \(writes)"
            case 3...5:
                commit(writes) { try store.commitUpdate(updater(writes)) }
                return "commit \(writes)"
            case 6...7:
                guard let entry else { return "-" }
                store.revert(entry)
                model.entries.removeAll { $0.id == entry }
                return "revert"
            case 8:
                guard let entry else { return "-" }
                let operation = try TodoDocuments.operation("Counter", ["step": 0.5])
                let isDone = commit(writes) {
                    try store.commitResponse(
                        entry, operation, Array(#"{"data":{}}"#.utf8)
                    ) { source, _ in
                        var plain: any RecordSourceProxy = source
                        for write in writes { try write.run(&plain) }
                    }
                }
                if isDone { model.entries.removeAll { $0.id == entry } }
                return "respond \(writes)"
            default:
                collect()
                return "collect"
            }
        }

        @discardableResult
        func commit(_ writes: [ModelWrite], _ body: () throws -> Void) -> Bool {
            var records = model.confirmedRecords()
            let isAccepted = (try? StoreModel.run(writes, &records)) != nil
            do {
                try body()
                #expect(isAccepted)
                model.confirmed.append(writes)
            } catch {
                #expect(!isAccepted)
            }
            return isAccepted
        }

        /// What the store forgets, the model takes as a confirmed change; it must be nobody's.
        func collect() {
            let before = model.confirmedRecords()
            store.collectGarbage()
            let after = Set((try? store.confirmed.modelRecords.keys.map { $0 }) ?? [])
            let forgotten = before.keys.filter { !after.contains($0) }
            #expect(!forgotten.contains("r0") && !forgotten.contains("r1"))
            model.confirmed.append(forgotten.sorted().map { .delete($0) })
        }

        func check(_ step: String) throws {
            var shown = store.snapshot.modelRecords
            shown["client:root"] = nil
            try #require(shown == model.shownRecords(), "after \(step)")
            var confirmed = try store.confirmed.modelRecords
            confirmed["client:root"] = nil
            try #require(confirmed == model.confirmedRecords(), "after \(step)")
            for (id, selector) in selectors {
                guard let last = told[id]?.last else { continue }
                let now = store.lookup(selector)
                try #require(last.data == now.data && last.isMissingData == now.isMissingData)
            }
        }

        /// The events lead to what the store has, with no updater to run.
        func checkReplay() throws {
            var snapshot = Snapshot()
            var changes = ChangeSet()
            for event in journal.events { try snapshot.fold(event, changes: &changes) }
            let confirmed = try store.confirmed
            #expect(snapshot.modelRecords == confirmed.modelRecords)
            #expect(
                snapshot.recordsInCreationOrder().map(snapshot.symbols.idString)
                    == confirmed.recordsInCreationOrder().map(confirmed.symbols.idString))
            #expect(snapshot.deletedIDs() == confirmed.deletedIDs())
            #expect(snapshot.pending == confirmed.pending)
            let restored = Store(snapshot, options: StoreOptions())
            #expect(restored.snapshot.modelRecords == store.snapshot.modelRecords)
        }
    }

    @Test(arguments: 0..<60)
    func anyHistoryIsWhatFoldingItAnewGives(_ round: Int) throws {
        let seed = UInt64.random(in: 0 ... .max)
        let run = try Run(seed: seed)
        for _ in 0..<80 {
            let step = try run.step()
            do {
                try run.check(step)
            } catch {
                Issue.record("seed \(seed)")
                throw error
            }
        }
        try run.checkReplay()
        for subscription in run.subscriptions { subscription.cancel() }
    }

    /// T15: any thread may read, write, subscribe and collect.
    @Test func trap15ManyThreadsAtOnce() async throws {
        let store = Store.quiet { $0.collectionSlice = 16 }
        let fragment = try TodoDocuments.fragment("Row_todo")
        let told = Lock<[UInt64]>([])
        try store.commitUpdate { $0.create(dataID: "t", typeName: "Todo")["priority"] = 0 }
        let selector = ReaderSelector(fragment, dataID: "t", variables: [:])
        let subscription = try store.subscribe(store.lookup(selector)) { new in
            told.withLock { $0.append(new.sequence) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    for number in 0..<150 {
                        try Self.work(store, selector, thread, number)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(store.field("t", "priority") == .int(4 * 150))
        let sequences = told.withLock { $0 }
        #expect(sequences == sequences.sorted())
        subscription.cancel()
    }

    /// T15: what a thread reads for the first time has names that nobody used before, while others write
    /// names that nobody used before.
    @Test func trap15ReadersAndWritersMayBringNewNamesAtOnce() async throws {
        let store = Store.quiet()
        try store.commitUpdate { $0.create(dataID: "t", typeName: "Todo")["priority"] = 0 }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<2 {
                group.addTask {
                    for number in 0..<300 {
                        let step = Double(thread * 1_000 + number) + 0.5
                        let operation = try TodoDocuments.operation(
                            "Counter", ["step": step])
                        #expect(store.lookup(ReaderSelector(operation)).isMissingData)
                    }
                }
                group.addTask {
                    for number in 0..<300 {
                        try store.commitUpdate { $0["t"]?["field\(thread)-\(number)"] = number }
                    }
                }
            }
            try await group.waitForAll()
        }
        for thread in 0..<2 {
            for number in 0..<300 {
                #expect(store.field("t", "field\(thread)-\(number)") == .int(Int64(number)))
            }
        }
    }

    private static func work(
        _ store: Store, _ selector: ReaderSelector, _ thread: Int, _ number: Int
    ) throws {
        let id = "x\(thread)-\(number)"
        let entry = try store.applyUpdate { source in
            source.create(dataID: DataID(id), typeName: "Todo")["text"] = id
        }
        try store.commitUpdate { source in
            guard let record = source["t"] else { return }
            record["priority"] = (record["priority"] as? Int ?? 0) + 1
            record["text"] = id
        }
        let other = try store.subscribe(store.lookup(selector)) { _ in }
        _ = store.lookup(selector)
        store.revert(entry)
        other.cancel()
        if number % 50 == 0 { store.collectGarbage() }
    }
}
