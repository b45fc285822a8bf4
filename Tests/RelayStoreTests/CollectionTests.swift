import RelayArtifacts
import RelayJSON
import Testing
import Threads

@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

@Suite(.bounded) struct CollectionTests {
    private func fill(_ store: Store, _ ids: [String]) throws {
        for id in ids {
            try store.commit(
                "One", ["id": id],
                [
                    "data": [
                        "node": [
                            "__typename": "Todo", "id": .string(id), "text": "x",
                            "author": ["id": .string("u" + id), "name": "Ada"],
                        ]
                    ]
                ])
        }
    }

    private func one(_ id: String) throws -> OperationDescriptor {
        try TodoDocuments.operation("One", ["id": id])
    }

    private func unbuffered() -> Store {
        Store.quiet {
            $0.releaseBufferSize = 0
            $0.collectionSlice = 1
            $0.journal = InMemoryJournal()
        }
    }

    @Test func whatNobodyRetainsIsForgotten() throws {
        let store = unbuffered()
        try fill(store, ["a", "b"])
        let retention = try store.retain(one("a"))
        store.collectGarbage()
        #expect(Set(store.ids()) == ["client:root", "a", "ua"])
        // Forgotten is unknown, not deleted: it reads as missing.
        #expect(
            store.lookup(
                ReaderSelector(try TodoDocuments.fragment("Row_todo"), dataID: "b", variables: [:])
            ).isMissingData)
        retention.cancel()
        store.collectGarbage()
        #expect(store.ids().isEmpty)
    }

    /// What has become garbage meanwhile may not be found by the one that is under way.
    @Test func aCollectionThatIsAskedForDuringAnotherComesBehindIt() throws {
        let scheduled = Lock(0)
        let store = Store.quiet { $0.schedule = { _ in scheduled.withLock { $0 += 1 } } }
        let watching = store.observe { [weak store] in
            if case .collectionStarted = $0 { store?.collectGarbage() }
        }
        store.collectGarbage()
        #expect(scheduled.withLock { $0 } == 1)
        watching.cancel()
        store.collectGarbage()
        #expect(scheduled.withLock { $0 } == 1)
    }

    /// T10: deleted records are no obstacle.
    @Test func trap10DeletedRecordsAreForgottenToo() throws {
        let store = unbuffered()
        try fill(store, ["a", "b"])
        let retention = try store.retain(one("a"))
        try store.commitUpdate { source in
            source.delete(dataID: "b")
            source.delete(dataID: "ua")
        }
        store.collectGarbage()
        #expect(Set(store.ids()) == ["client:root", "a"])
        // A deleted record that is still linked stays deleted.
        #expect(store.snapshot.deletedIDs() == ["ua"])
        retention.cancel()
    }

    @Test func theReleaseBufferKeepsTheNewestOperations() throws {
        let store = Store.quiet { $0.releaseBufferSize = 2 }
        try fill(store, ["a", "b", "c"])
        store.collectGarbage()
        #expect(store.snapshot.existing("a") == nil)
        #expect(store.snapshot.existing("b") != nil)
        let retention = try store.retain(one("b"))
        try fill(store, ["d", "e"])
        store.collectGarbage()
        #expect(store.snapshot.existing("b") != nil)
        #expect(store.snapshot.existing("c") == nil)
        retention.cancel()
    }

    @Test func liveReadersAndOptimisticEntriesKeepTheirRecords() throws {
        let store = unbuffered()
        try fill(store, ["a", "b", "c"])
        let selector = ReaderSelector(
            try TodoDocuments.fragment("Row_todo"), dataID: "a", variables: [:])
        let subscription = try store.subscribe(store.lookup(selector)) { _ in }
        let entry = try store.applyUpdate { $0["b"]?["text"] = "shown" }
        store.collectGarbage()
        #expect(Set(store.ids()) == ["a", "ua", "b", "ub"])
        #expect(store.field("b", "text") == .string("shown"))
        store.revert(entry)
        #expect(store.field("b", "text") == .string("x"))
        subscription.cancel()
        store.collectGarbage()
        #expect(store.ids().isEmpty)
    }

    @Test func writersGoOnBetweenSlicesAndWhatTheyLinkIsKept() throws {
        let store = unbuffered()
        try fill(store, (0..<200).map { "t\($0)" })
        let retention = try store.retain(TodoDocuments.operation("Best"))
        try store.commit("Best", ["data": ["me": ["id": "me", "name": "x", "best": nil]]])
        try store.write { writer, _ in _ = store.beginCollection(&writer) }
        for _ in 0..<4 {
            try store.write { writer, outcome in
                _ = store.advanceCollection(&writer, &outcome)
            }
        }
        // A record that was garbage is linked again while the collection is on its way.
        try store.commitUpdate { source in
            source["me"]?.setLinkedRecord("best", record: source["ut199"])
        }
        while try store.write({ store.advanceCollection(&$0, &$1) }) {}
        #expect(Set(store.ids()).isSuperset(of: ["client:root", "me", "ut199"]))
        #expect(store.snapshot.existing("t0") == nil)
        retention.cancel()
    }

    /// It was garbage when the collection began, and is fetched again with the same values: nothing changes that
    /// the collection could see.
    @Test func whatIsFetchedWhileACollectionIsUnderWayIsKept() throws {
        let store = Store.quiet {
            $0.releaseBufferSize = 1
            $0.collectionSlice = 1
        }
        try fill(store, ["a", "b"])
        try store.write { writer, _ in _ = store.beginCollection(&writer) }
        try fill(store, ["a"])
        while try store.write({ store.advanceCollection(&$0, &$1) }) {}
        #expect(Set(store.ids()) == ["client:root", "a", "ua", "b", "ub"])
        store.collectGarbage()
        #expect(Set(store.ids()) == ["client:root", "a", "ua"])
    }

    @Test func whatSomebodyBeginsToReadWhileACollectionIsUnderWayIsKept() throws {
        let store = unbuffered()
        try fill(store, ["a", "b"])
        try store.write { writer, _ in _ = store.beginCollection(&writer) }
        let selector = ReaderSelector(
            try TodoDocuments.fragment("Row_todo"), dataID: "a", variables: [:])
        let subscription = try store.subscribe(store.lookup(selector)) { _ in }
        while try store.write({ store.advanceCollection(&$0, &$1) }) {}
        #expect(Set(store.ids()) == ["a", "ua"])
        subscription.cancel()
    }

    /// A response is kept until it has been delivered, and so is what it links to.
    @Test func aResponseOnItsWayIsKept() throws {
        let store = unbuffered()
        let operation = try one("a")
        let payload: JSONValue = [
            "data": [
                "node": [
                    "__typename": "Todo", "id": "a", "text": "x",
                    "author": ["id": "ua", "name": "Ada"],
                ]
            ]
        ]
        var results = try store.commitPayloads([ArrivedPayload(operation, payload.bytes)])
        store.collectGarbage()
        #expect(Set(store.ids()) == ["client:root", "a", "ua"])
        // Also by a collection that was under way when it came.
        results = []
        try store.write { writer, _ in _ = store.beginCollection(&writer) }
        results = try store.commitPayloads([ArrivedPayload(operation, payload.bytes)])
        while try store.write({ store.advanceCollection(&$0, &$1) }) {}
        #expect(Set(store.ids()) == ["client:root", "a", "ua"])
        #expect(results.count == 1)
        results = []
        store.collectGarbage()
        #expect(store.ids().isEmpty)
    }

    /// A writer waits for one slice at most, and a slice is so many records, whatever it finds.
    @Test func noSliceIsLongerThanAsked() throws {
        let store = Store.quiet {
            $0.releaseBufferSize = 0
            $0.collectionSlice = 64
        }
        try fill(store, (0..<500).map { "t\($0)" })
        let retention = try store.retain(one("t0"))
        try store.write { writer, _ in _ = store.beginCollection(&writer) }
        var records = try store.confirmed.recordCount
        var slices = 0
        while try store.write({ store.advanceCollection(&$0, &$1) }) {
            let left = try store.confirmed.recordCount
            // One word of marks more than asked, at most.
            #expect(records - left <= 128)
            records = left
            slices += 1
            try store.commitUpdate { $0["t0"]?["text"] = "\(slices)" }
        }
        #expect(slices > 1_000 / 128)
        #expect(store.ids().sorted() == ["client:root", "t0", "ut0"])
        retention.cancel()
    }

    @Test func availability() throws {
        let time = Lock<Int64>(1_000)
        let store = Store.quiet {
            $0.now = { time.withLock { $0 } }
            $0.queryExpirationMicroseconds = 500
        }
        #expect(try store.check(one("a")) == .missing)
        try fill(store, ["a"])
        // What was selected and not sent is missing.
        #expect(try store.check(one("a")) == .missing)
        let whole: JSONValue = [
            "data": [
                "node": [
                    "__typename": "Todo", "id": "a", "text": "x", "complete": true, "weight": 1.5,
                    "priority": 1, "tags": nil, "extra": nil, "author": nil,
                ]
            ]
        ]
        try store.commit("One", ["id": "a"], whole)
        #expect(try store.check(one("a")) == .available(fetchedMicroseconds: 1_000))
        try store.commitUpdate { $0["a"]?.invalidateRecord() }
        #expect(try store.check(one("a")) == .stale)
        // Stale data is still there to be shown.
        #expect(try store.json("One", ["id": "a"])["node"]?["text"] == "x")
        try store.commit("One", ["id": "a"], whole)
        #expect(try store.check(one("a")) == .available(fetchedMicroseconds: 1_000))
        try store.commitUpdate { $0.invalidateStore() }
        #expect(try store.check(one("a")) == .stale)
        try store.commit("One", ["id": "a"], whole)
        time.withLock { $0 = 1_501 }
        #expect(try store.check(one("a")) == .stale)
        try store.commitUpdate { $0.delete(dataID: "a") }
        #expect(try store.check(one("a")) == .stale)
    }

    @Test func missingFieldHandlersFindRecordsUnderOtherNames() throws {
        let store = Store.quiet { $0.missingFieldHandlers = [.node] }
        try store.commit(
            "Best", ["data": ["me": ["id": "u", "name": "Ada", "best": nil]]])
        let operation = try TodoDocuments.operation("Nodes", ["id": "u"])
        #expect(store.check(operation) == .available(fetchedMicroseconds: nil))
        #expect(try store.json("Nodes", ["id": "u"])["node"]?["id"] == "u")
        #expect(try store.check(TodoDocuments.operation("Nodes", ["id": "x"])) == .missing)
        // Some servers have numbers for ids.
        try store.commit(
            "Best", ["data": ["me": ["id": 4, "name": "Ada", "best": nil]]])
        #expect(
            try store.check(TodoDocuments.operation("Nodes", ["id": 4]))
                == .available(fetchedMicroseconds: nil))
    }

    @Test func aMissingFieldIsKnownByItsNameAndArguments() {
        func field(_ key: String) -> MissingField {
            MissingField(recordID: .rootID, storageKey: key)
        }
        let todos = field(#"todos(after:"a:b,(\"c)",filter:{"by":["x:",1]},first:2)"#)
        #expect(todos.name == "todos" && todos.argument("first") == 2)
        #expect(todos.argument("after") == #"a:b,("c)"#)
        #expect(todos.argument("filter") == ["by": ["x:", 1]])
        #expect(todos.argument("last") == nil && todos.argument("by") == nil)
        #expect(field("me").name == "me" && field("me").argument("id") == nil)
        #expect(field("broken(id:").argument("id") == nil)
    }

    @Test(arguments: [Duration.zero, .seconds(Int64.max), .milliseconds(-1)])
    func anyDurationMayBeTheExpirationOfQueries(_ duration: Duration) throws {
        let store = Store(queryExpiration: duration, missingFieldHandlers: [.node])
        #expect(try store.check(one("a")) == .missing)
    }

    /// A slice is no commit of the program's: what an entry shows does not follow from what nobody can reach.
    @Test func aCollectionRunsNoUpdater() throws {
        let store = unbuffered()
        try fill(store, (0..<300).map { "t\($0)" })
        let runs = Lock(0)
        let entry = try store.applyUpdate {
            runs.withLock { $0 += 1 }
            // It is read and not written, and the same value is written again.
            $0["t1"]?["text"] = ($0["t2"]?["text"] as? String ?? "nothing") + "!"
            $0["t3"]?["text"] = "x"
        }
        store.collectGarbage()
        #expect(runs.withLock { $0 } == 1)
        #expect(Set(store.ids()) == ["t1", "ut1", "t2", "t3"])
        #expect(store.field("t1", "text") == .string("x!"))
        try store.commitUpdate { $0["t2"]?["text"] = "y" }
        #expect(runs.withLock { $0 } == 2)
        #expect(store.field("t1", "text") == .string("y!"))
        store.revert(entry)
        store.collectGarbage()
        #expect(store.ids().isEmpty)
        #expect(try store.confirmed.recordCount == 0 && store.snapshot.recordCount == 0)
    }

    /// An updater runs between two slices, and looks at other records than before.
    @Test func whatAnUpdaterLooksAtWhileACollectionIsUnderWayIsKept() throws {
        let store = unbuffered()
        try fill(store, (0..<200).map { "t\($0)" })
        let entry = try store.applyUpdate {
            let name = $0["switch"]?["to"] as? String ?? "t0"
            _ = $0[DataID(name)]?["text"]
        }
        try store.write { writer, _ in _ = store.beginCollection(&writer) }
        try store.commitUpdate {
            $0.create(dataID: "switch", typeName: "Switch")["to"] = "t199"
        }
        while try store.write({ store.advanceCollection(&$0, &$1) }) {}
        #expect(Set(store.ids()) == ["t0", "t199", "switch"])
        store.revert(entry)
    }

    /// Who misses it must be told that it was deleted, and not that nobody knows it.
    @Test func whatIsDeletedWhileACollectionIsUnderWayStaysDeleted() throws {
        let store = unbuffered()
        try fill(store, ["a", "b"])
        try store.write { writer, _ in _ = store.beginCollection(&writer) }
        try store.commitUpdate { $0.delete(dataID: "a") }
        while try store.write({ store.advanceCollection(&$0, &$1) }) {}
        #expect(store.snapshot.deletedIDs() == ["a"])
        #expect(store.ids().isEmpty)
    }

    // MARK: Fields of wide records

    private func counter(_ step: Int) throws -> OperationDescriptor {
        try TodoDocuments.operation("Counter", ["step": step])
    }

    private func count(_ store: Store, _ steps: Range<Int>) throws {
        for step in steps {
            try store.commit(
                "Counter", ["step": step], ["data": ["counter": .int(Int64(step))]])
        }
    }

    private func counters(_ store: Store) -> [String] {
        let snapshot = store.snapshot
        return snapshot.existing("client:root").flatMap { snapshot.recordJSON($0) }?.fields
            .map(\.key) ?? []
    }

    @Test func fieldsThatNobodySelectsLeaveAWideRecord() throws {
        let store = unbuffered()
        let retained = try [counter(3), counter(150)].map { try store.retain($0) }
        try count(store, 0..<200)
        let read = try store.read("Counter", ["step": 7])
        let subscription = try store.subscribe(read) { _ in }
        try store.commitUpdate { source in
            source.root["mine", VariableData(["a": 1])] = "kept"
            source.root["plain"] = "kept"
        }
        // While an updater looks at the record, nobody knows what it needs.
        let entry = try store.applyUpdate { _ = $0.root["plain"] }
        store.collectGarbage()
        #expect(counters(store).count == 202)
        store.revert(entry)
        store.collectGarbage()
        #expect(
            counters(store) == [
                "counter(step:3)", "counter(step:7)", "counter(step:150)", "mine(a:1)", "plain",
            ])
        #expect(try store.confirmed.row(store.symbols.record("client:root"))?.slotCount == 5)
        #expect(try store.check(counter(150)) != .missing)
        #expect(try store.check(counter(151)) == .missing)
        subscription.cancel()
        withExtendedLifetime(retained) {}
    }

    /// What is fetched, linked or shown between two slices is kept, with what it leads to.
    @Test func fieldsThatCameWhileACollectionIsUnderWayAreKept() throws {
        let store = unbuffered()
        let retained = try store.retain(counter(0))
        try count(store, 0..<200)
        try fill(store, ["a", "b"])
        try store.write { writer, _ in _ = store.beginCollection(&writer) }
        try store.write { writer, outcome in _ = store.advanceCollection(&writer, &outcome) }
        let again = try store.retain(counter(5))
        try count(store, 200..<201)
        // A response that changes nothing that is shown.
        let entry = try store.applyUpdate {
            $0.root.setLinkedRecord("other", args: VariableData(["a": 1]), record: $0["a"])
        }
        try store.commitUpdate {
            $0.root.setLinkedRecord("other", args: VariableData(["a": 1]), record: $0["a"])
        }
        store.revert(entry)
        while try store.write({ store.advanceCollection(&$0, &$1) }) {}
        #expect(
            counters(store) == [
                "counter(step:0)", "counter(step:5)", "counter(step:200)", "other(a:1)",
            ])
        #expect(store.snapshot.existing("a") != nil)
        withExtendedLifetime((retained, again)) {}
    }

    /// Errors of elements stand beside their list, and go with it only.
    @Test func errorsOfAListThatSomebodyReadsAreKept() throws {
        let store = unbuffered()
        let retained = try store.retain(counter(0))
        try count(store, 0..<200)
        for complete in [true, false] {
            try store.commit(
                "List", ["complete": complete],
                [
                    "data": ["list": [["id": "a", "text": "x"], nil]],
                    "errors": [["message": "no", "path": ["list", 1]]],
                ])
        }
        let read = try store.read("List", ["complete": true])
        let subscription = try store.subscribe(read) { _ in }
        store.collectGarbage()
        #expect(
            counters(store) == [
                "counter(step:0)", "todos(complete:true,first:3)",
                "todos(complete:true,first:3):errors",
            ])
        #expect(try store.read("List", ["complete": true]).errors == read.errors)
        subscription.cancel()
        withExtendedLifetime(retained) {}
    }

    /// - Parameters:
    ///   - kept: records that are no garbage.
    ///   - each: records that each event brings, and nobody keeps.
    @Test(arguments: [
        (34, 1, 10_000, 9...11), (34, 5, 10_000, 9...11), (34, 1_000, 1_000, 50...100),
        (1_000_000, 5, 10_000, 0...0), (1_000_000, 1_000, 2_000, 3...5),
    ])
    func eventsAreCollectedHoweverManyRecordsEachBrings(
        kept: Int, each: Int, count: Int, expected: ClosedRange<Int>
    ) throws {
        var operations = RetainedOperations()
        let operation = try TodoDocuments.operation("Changed")
        var (records, collections) = (kept, 0)
        for number in 0..<count {
            records += each
            let isDue = operations.noteFetched(
                operation, at: UInt64(number), microseconds: 0, bufferSize: 10,
                recordCount: records)
            if isDue {
                collections += 1
                records = kept
            }
        }
        #expect(expected.contains(collections), "\(collections)")
    }
}
