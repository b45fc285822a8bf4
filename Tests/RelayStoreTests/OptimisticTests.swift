import RelayArtifacts
import RelayJSON
import Testing
import Threads

@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

@Suite(.bounded) struct OptimisticTests {
    private func todos() throws -> Store {
        let store = Store.quiet { $0.journal = InMemoryJournal() }
        for id in ["a", "b"] {
            try store.commit(
                "One", ["id": id],
                ["data": ["node": ["__typename": "Todo", "id": .string(id), "text": "old"]]])
        }
        return store
    }

    private func expectation(_ id: String, _ text: String) -> JSONValue {
        ["data": ["change": ["todo": ["id": .string(id), "text": .string(text)]]]]
    }

    /// T1: with two in flight, the answer of the first must not drop what the second shows.
    @Test func trap1AnAnswerLeavesOtherOptimisticEntriesAlone() throws {
        let store = try todos()
        let first = try store.begin("Change", ["id": "a"], expecting: expectation("a", "A'"))
        let second = try store.begin("Change", ["id": "b"], expecting: expectation("b", "B'"))
        #expect(store.field("a", "text") == .string("A'"))
        #expect(store.field("b", "text") == .string("B'"))
        try store.commitResponse(
            first, TodoDocuments.operation("Change", ["id": "a"]), expectation("a", "A").bytes)
        #expect(store.field("a", "text") == .string("A"))
        #expect(store.field("b", "text") == .string("B'"))
        try store.commitUpdate { source in _ = source.create(dataID: "x", typeName: "User") }
        #expect(store.field("b", "text") == .string("B'"))
        store.revoke(second, reason: "timed out")
        #expect(store.field("b", "text") == .string("old"))
    }

    @Test func entriesAreRunAgainOnEachConfirmedStateInTheOrderOfTheirCreation() throws {
        let store = try todos()
        func appending(_ text: String) -> StoreUpdater {
            { source in
                let old = source["a"]?["text"] as? String ?? ""
                source["a"]?["text"] = old + text
            }
        }
        let one = try store.applyUpdate(appending("1"))
        _ = try store.applyUpdate(appending("2"))
        #expect(store.field("a", "text") == .string("old12"))
        try store.commitUpdate { $0["a"]?["text"] = "new" }
        #expect(store.field("a", "text") == .string("new12"))
        store.revert(one)
        #expect(store.field("a", "text") == .string("new2"))
        #expect(
            try store.confirmed.fieldValue("text", of: #require(store.snapshot.existing("a")))
                == .string("new"))
    }

    /// T2: nothing about invalidation keeps a payload from being published.
    @Test func trap2InvalidatingAndWritingInOneCommitDoesBoth() throws {
        let store = try todos()
        let told = Told()
        let subscription = try store.subscribe(store.read("One", ["id": "a"])) { told.add($0) }
        try store.commitUpdate { source in
            source.invalidateStore()
            source["a"]?["text"] = "new"
        }
        #expect(told.last?.data?.json["node"]?["text"] == "new")
        #expect(try store.check(TodoDocuments.operation("One", ["id": "a"])) == .stale)
        subscription.cancel()
    }

    /// T4: every way to end a mutation takes its optimistic data away, once.
    @Test func trap4ARevokedMutationLeavesNothingBehind() throws {
        let store = try todos()
        let entry = try store.begin("Change", ["id": "a"], expecting: expectation("a", "A'"))
        #expect(try store.pendingMutations.map(\.entry) == [entry])
        store.revoke(entry, reason: "cancelled")
        store.revoke(entry, reason: "cancelled")
        let late = try TodoDocuments.operation("Change", ["id": "a"])
        #expect(throws: StoreError.entryHasEnded) {
            try store.commitResponse(entry, late, Array(#"{"data":{}}"#.utf8))
        }
        #expect(store.field("a", "text") == .string("old"))
        #expect(try store.pendingMutations.isEmpty)
        #expect(store.snapshot.pending.isEmpty)
    }

    @Test func anAnswerIsOneNotificationWithoutAFlicker() throws {
        let store = try todos()
        let texts = Lock<[JSONValue?]>([])
        let subscription = try store.subscribe(store.read("One", ["id": "a"])) { new in
            texts.withLock { $0.append(new.data?.json["node"]?["text"]) }
        }
        let entry = try store.begin("Change", ["id": "a"], expecting: expectation("a", "A'"))
        let operation = try TodoDocuments.operation("Change", ["id": "a"])
        try store.commitResponse(entry, operation, expectation("a", "A").bytes)
        #expect(texts.withLock { $0 } == ["A'", "A"])
        let same = try store.begin("Change", ["id": "a"], expecting: expectation("a", "AA"))
        try store.commitResponse(same, operation, expectation("a", "AA").bytes)
        #expect(texts.withLock { $0 } == ["A'", "A", "AA"])
        subscription.cancel()
    }

    @Test func anUpdaterThatThrowsLeavesTheStoreUntouched() throws {
        struct Refused: Error {}
        let store = try todos()
        let before = store.snapshot
        #expect(throws: Refused.self) {
            try store.commitUpdate { source in
                source["a"]?["text"] = "half"
                source.delete(dataID: "b")
                throw Refused()
            }
        }
        #expect(throws: Refused.self) { try store.applyUpdate { _ in throw Refused() } }
        #expect(throws: UpdaterError.self) {
            try store.commitUpdate { $0["a"]?["text"] = TodoDocuments.self }
        }
        let after = store.snapshot
        #expect(after.sequence == before.sequence)
        #expect(after.difference(from: before, in: after.recordsInCreationOrder()).isEmpty)
        #expect(store.field("a", "text") == .string("old"))
    }

    @Test func anOptimisticUpdaterThatThrowsLaterShowsNothingUntilItCanAgain() throws {
        struct Gone: Error {}
        let failures = Lock(0)
        let store = Store.quiet()
        let watching = store.observe { event in
            if case .updaterFailed = event { failures.withLock { $0 += 1 } }
        }
        try store.commitUpdate { source in
            source.create(dataID: "a", typeName: "Todo")["text"] = "old"
        }
        _ = try store.applyUpdate { source in
            guard let record = source["a"] else { throw Gone() }
            record["text"] = "shown"
        }
        try store.commitUpdate { $0.delete(dataID: "a") }
        #expect(failures.withLock { $0 } == 1)
        #expect(store.snapshot.existing("a") == nil)
        try store.commitUpdate { _ = $0.create(dataID: "a", typeName: "Todo") }
        #expect(store.field("a", "text") == .string("shown"))
        watching.cancel()
    }

    @Test func anUpdaterCannotWriteToTheStoreThatRunsIt() throws {
        let store = try todos()
        try store.commitUpdate { source in
            #expect(throws: StoreError.updateWithinUpdate) { try store.commitUpdate { _ in } }
            #expect(store.snapshot.existing("a") != nil)
            source["a"]?["text"] = "new"
        }
        #expect(store.field("a", "text") == .string("new"))
    }

    @Test func whatAnUpdaterKeepsOfItsRecordsWritesNowhereAfterwards() throws {
        let store = try todos()
        nonisolated(unsafe) var kept: (any RecordProxy)?
        try store.commitUpdate { kept = $0["a"] }
        kept?["text"] = "late"
        #expect(store.field("a", "text") == .string("old"))
    }

    @Test func invalidationByAnOptimisticUpdaterIsPassedOver() throws {
        let store = try todos()
        _ = try store.applyUpdate { $0["a"]?.invalidateRecord() }
        #expect(store.field("a", Snapshot.invalidatedKey) == nil)
    }

    /// T14: everything applies where it is called; no main thread, no run loop.
    @Test func trap14CommitsApplyBeforeTheCallReturns() throws {
        let store = try todos()
        try store.commitUpdate { $0["a"]?["text"] = "now" }
        #expect(store.field("a", "text") == .string("now"))
    }

    @Test func aResponseWithoutDataChangesNothingAndTheMutationIsStillThere() throws {
        let store = try todos()
        let entry = try store.begin("Change", ["id": "a"], expecting: expectation("a", "A'"))
        let operation = try TodoDocuments.operation("Change", ["id": "a"])
        let response: JSONValue = ["data": nil, "errors": [["message": "no"]]]
        #expect(throws: StoreError.self) {
            try store.commitResponse(entry, operation, response.bytes)
        }
        #expect(throws: (any Error).self) {
            try store.commitResponse(entry, operation, Array("{\"data\":".utf8))
        }
        #expect(store.field("a", "text") == .string("A'"))
        store.revoke(entry, reason: "no")
        #expect(store.field("a", "text") == .string("old"))
    }

    @Test func theUpdaterSeesTheResponseAndTheMergedRecord() throws {
        let store = try todos()
        try store.commitUpdate { $0["a"]?["complete"] = true }
        let operation = try TodoDocuments.operation("Change", ["id": "a"])
        let entry = try store.begin("Change", ["id": "a"])
        try store.commitResponse(entry, operation, expectation("a", "A").bytes) { source, data in
            #expect(data?.data?.json["change"]?["todo"]?["text"] == "A")
            let todo = source.getRootField("change")?.getLinkedRecord("todo")
            #expect(todo?["text"] as? String == "A")
            #expect(todo?["complete"] as? Bool == true)
            todo?["priority"] = 5
        }
        #expect(store.field("a", "priority") == .int(5))
    }

    /// Otherwise each update would make room for all records that ever were shown.
    @Test func whatAnUpdateMadeRoomForStaysWhenItEnds() throws {
        let store = Store.quiet()
        for number in 0..<10 {
            let entry = try store.applyUpdate { _ = $0.create(typeName: "Todo") }
            store.revert(entry)
            #expect(store.snapshot.recordLimit >= number + 1)
        }
        #expect(store.ids().isEmpty)
    }

    @Test(arguments: [
        #"{"data": null}"#, #"{"errors": []}"#, #"{"data": {"change": 1}}"#,
        #"{"data": {"change": {"todo": []}}}"#,
    ])
    func anOptimisticResponseThatDoesNotFitIsRefused(_ response: String) throws {
        let store = Store.quiet()
        let operation = try TodoDocuments.operation("Change", ["id": "t", "text": "x"])
        #expect {
            try store.applyMutation(
                operation, optimistic: OptimisticMutation(response: Array(response.utf8)))
        } throws: { error in
            "\(error)".hasPrefix("The optimistic response ")
        }
        #expect(store.ids().isEmpty)
        #expect(try store.pendingMutations.isEmpty)
    }
}
