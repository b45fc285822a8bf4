import RelayArtifacts
import RelayJSON
import Synchronization
import Testing
import Threads

@testable import RelayReading
@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

@Suite(.bounded) struct SubscriptionTests {
    private func response(_ id: String, _ text: String, complete: Bool = false) -> JSONValue {
        [
            "data": [
                "node": [
                    "__typename": "Todo", "id": .string(id), "text": .string(text),
                    "complete": .bool(complete), "author": ["id": "u", "name": "Ada"],
                ]
            ]
        ]
    }

    private func row(_ id: String) throws -> ReaderSelector {
        ReaderSelector(try TodoDocuments.fragment("Row_todo"), dataID: DataID(id), variables: [:])
    }

    /// T17: a commit that changes nothing a reader reads tells it nothing.
    @Test func trap17OnlyThoseAreToldWhoseDataChanged() throws {
        let store = Store.quiet()
        for id in ["a", "b"] { try store.commit("One", ["id": id], response(id, "old")) }
        let told = Told()
        let other = Told()
        let tokens = [
            try store.subscribe(store.lookup(row("a"))) { told.add($0) },
            try store.subscribe(store.lookup(row("b"))) { other.add($0) },
        ]
        try store.commit("One", ["id": "a"], response("a", "old"))
        try store.commitUpdate { $0["a"]?["priority"] = 3 }
        #expect(told.count == 0)
        try store.commit("One", ["id": "a"], response("a", "new"))
        #expect(told.count == 1)
        #expect(other.count == 0)
        try store.commitUpdate { $0["u"]?["name"] = "Eve" }
        #expect(told.count == 2)
        #expect(other.count == 1)
        for token in tokens { token.cancel() }
    }

    @Test func equalPartsAreGivenAgain() throws {
        let store = Store.quiet()
        try store.commit("One", ["id": "a"], response("a", "old"))
        let before = store.lookup(try row("a"))
        #expect(store.lookup(try row("a"), previous: before).data === before.data)
        try store.commitUpdate { $0["a"]?["text"] = "new" }
        let after = store.lookup(try row("a"), previous: before)
        #expect(after.data !== before.data)
        guard case .node(let author)? = before.data?.child(named: "author"),
            case .node(let same)? = after.data?.child(named: "author")
        else {
            Issue.record("there is no author")
            return
        }
        #expect(author === same)
    }

    /// However often a selection reaches a record, what did not change stays the very same.
    @Test func recordsThatAreReachedAgainAndAgainAreRecycled() throws {
        let store = Store.quiet()
        func payload(_ name: String) -> JSONValue {
            let todos = (0..<200).map { index -> JSONValue in
                let author: JSONObject = [
                    "id": .string("u\(index % 3)"),
                    "name": .string(index % 3 == 0 ? name : "\(index % 3)"),
                ]
                return ["id": .string("t\(index)"), "author": .object(author)]
            }
            return ["data": ["todos": .array(todos)]]
        }
        try store.commit("Authors", payload("Ada"))
        func todos(_ snapshot: SelectorSnapshot) throws -> [DataNode] {
            guard case .list(let list)? = snapshot.data?.child(named: "todos") else { return [] }
            return list.elements.compactMap(\.self)
        }
        let first = try store.read("Authors")
        #expect(first.data?.json == payload("Ada")["data"])
        try store.commitUpdate { $0["t5"]?["text"] = "not read" }
        let same = store.lookup(first.selector, previous: first)
        #expect(same.data === first.data)
        try store.commitUpdate { $0["u0"]?["name"] = "Bob" }
        let other = store.lookup(first.selector, previous: first)
        #expect(other.data?.json == payload("Bob")["data"])
        let (before, after) = (try todos(first), try todos(other))
        #expect(before.count == 200 && after.count == 200)
        for index in 0..<200 { #expect((before[index] === after[index]) == (index % 3 != 0)) }
    }

    /// T23: what changes between reading and subscribing is told.
    @Test func trap23NothingIsMissedBetweenReadingAndSubscribing() throws {
        let store = Store.quiet()
        try store.commit("One", ["id": "a"], response("a", "old"))
        let snapshot = store.lookup(try row("a"))
        try store.commit("One", ["id": "a"], response("a", "new"))
        let told = Told()
        let subscription = try store.subscribe(snapshot) { told.add($0) }
        #expect(told.last?.data?.json["text"] == "new")
        subscription.cancel()
        #expect(store.lookup(try row("a")).data?.json["text"] == "new")
    }

    @Test func aRecordThatNobodyKnewIsWaitedFor() throws {
        let store = Store.quiet()
        let snapshot = store.lookup(try row("later"))
        #expect(snapshot.isMissingData)
        let told = Told()
        let subscription = try store.subscribe(snapshot) { told.add($0) }
        try store.commit("One", ["id": "later"], response("later", "here"))
        #expect(told.last?.data?.json["text"] == "here")
        #expect(told.last?.isMissingData == false)
        try store.commitUpdate { $0.delete(dataID: "later") }
        #expect(told.count == 2)
        #expect(told.last?.data == nil)
        #expect(told.last?.isMissingData == false)
        subscription.cancel()
    }

    @Test func nobodyIsToldAfterCancelling() throws {
        let store = Store.quiet()
        try store.commit("One", ["id": "a"], response("a", "old"))
        let told = Told()
        var subscription: Retention? = try store.subscribe(store.lookup(row("a"))) {
            told.add($0)
        }
        // Also from inside an updater, where the writer's lock is held.
        try store.commitUpdate { source in
            source["a"]?["text"] = "new"
            subscription?.cancel()
        }
        #expect(told.count == 0)
        subscription = nil
        let dropped = try store.subscribe(store.lookup(row("a"))) { told.add($0) }
        withExtendedLifetime(dropped) {}
        try store.commitUpdate { $0["a"]?["text"] = "newer" }
        #expect(told.count <= 1)
    }

    @Test func aCallbackMayWriteAndOrderIsKept() throws {
        let store = Store.quiet()
        try store.commit("One", ["id": "a"], response("a", "0"))
        let texts = Lock<[String]>([])
        let writer = try store.subscribe(store.lookup(row("a"))) { new in
            guard case .string(let text)? = new.data?.json["text"], let number = Int(text),
                number < 3
            else { return }
            try? store.commitUpdate { $0["a"]?["text"] = String(number + 1) }
        }
        let reader = try store.subscribe(store.lookup(row("a"))) { new in
            if case .string(let text)? = new.data?.json["text"] {
                texts.withLock { $0.append(text) }
            }
        }
        try store.commitUpdate { $0["a"]?["text"] = "1" }
        #expect(texts.withLock { $0 } == ["1", "2", "3"])
        writer.cancel()
        reader.cancel()
    }

    /// Who commits is the one who tells, before the commit returns, also of what its updater has ended: collections on
    /// other threads run no callback.
    @Test(arguments: [false, true])
    func aCollectionTellsNobodyOfAnothersCommit(_ updaterEndsAnother: Bool) async throws {
        let store = Store.quiet()
        try store.commit("One", ["id": "a"], response("a", "old"))
        let observer = store.observe { _ in }
        let told = Atomic(0)
        let isElsewhere = Atomic(false)
        let thread = currentThread()
        let token = try store.subscribe(store.lookup(row("a"))) { _ in
            told.add(1, ordering: .relaxed)
            if currentThread() != thread { isElsewhere.store(true, ordering: .relaxed) }
        }
        let isOver = Atomic(false)
        let collector = Task.detached {
            while !isOver.load(ordering: .relaxed) { store.collectGarbage() }
        }
        var missed: [Int] = []
        for number in 1...5_000 {
            // Every second commit also leaves garbage.
            let text = "\(number)"
            var shown: OptimisticEntryID?
            if updaterEndsAnother {
                shown = try store.applyUpdate { $0["a"]?["text"] = "shown" }
                told.store(number - 1, ordering: .relaxed)
            }
            try store.commitUpdate { source in
                source["a"]?["text"] = text
                if number.isMultiple(of: 2) {
                    _ = source.create(dataID: DataID(text), typeName: "Todo")
                }
                if let shown { store.revert(shown) }
            }
            if told.load(ordering: .relaxed) != number { missed.append(number) }
        }
        isOver.store(true, ordering: .relaxed)
        await collector.value
        #expect(missed.isEmpty)
        let wasElsewhere = isElsewhere.load(ordering: .relaxed)
        #expect(!wasElsewhere)
        withExtendedLifetime((token, observer)) {}
    }

    @Test func manyReadersOfOneRecordAreToldByField() throws {
        let store = Store.quiet()
        var tokens: [Retention] = []
        let told = Lock<[Int]>([])
        for number in 0..<100 {
            let variables: VariableData = ["step": Double(number) + 0.5]
            let data: JSONValue = ["data": ["counter": .int(0)]]
            try store.commit("Counter", variables, data)
            tokens.append(
                try store.subscribe(store.read("Counter", variables)) { _ in
                    told.withLock { $0.append(number) }
                })
        }
        try store.commit("Counter", ["step": 7.5], ["data": ["counter": 1]])
        #expect(told.withLock { $0 } == [7])
        for token in tokens { token.cancel() }
        try store.commit("Counter", ["step": 7.5], ["data": ["counter": 2]])
        #expect(told.withLock { $0 } == [7])
    }

    @Test func requiredFieldsMakeTheirObjectNull() throws {
        let store = Store.quiet()
        try store.commit(
            "Required", ["data": ["me": ["id": "u", "name": nil, "best": ["id": "b"]]]])
        let snapshot = try store.read("Required")
        #expect(snapshot.data?.json == ["me": nil])
        #expect(snapshot.required == RequiredFieldFailure(action: .log, path: ["me", "name"]))
        try store.commit(
            "Required", ["data": ["me": ["id": "u", "name": "Ada", "best": ["id": "b"]]]])
        #expect(
            try store.json("Required") == ["me": ["id": "u", "name": "Ada", "best": ["id": "b"]]])
    }

    /// T16: data that is not what its reader expects is an error, never silently nothing.
    @Test func trap16WrongDataIsAnError() throws {
        let store = Store.quiet()
        try store.commit(
            "One", ["id": "a"],
            ["data": ["node": ["__typename": "Todo", "id": "a", "text": 5, "complete": "no"]]])
        let data = try #require(store.lookup(row("a")).data)
        var cursor = DataCursor(data)
        #expect(try cursor.string("id") == "a")
        #expect(throws: DataError.self) { try cursor.bool("complete") }
        #expect(throws: DataError.self) { try cursor.int("id") }
        #expect(throws: DataError.self) { try cursor.string("nothing") }
        #expect(throws: DataError.self) { try cursor.node("text") }
        withExtendedLifetime(data) {}
    }

    // MARK: Slow callbacks

    /// A store whose first callback writes the texts from 2 on, which wait meanwhile.
    private func textsTold(writingUpTo last: Int, limit: Int) throws -> [String] {
        let store = Store.quiet { $0.waitingDeliveryLimit = limit }
        try store.commit("One", ["id": "a"], response("a", "0"))
        let texts = Lock<[String]>([])
        let subscription = try store.subscribe(store.lookup(row("a"))) { [weak store] new in
            guard case .string(let text)? = new.data?.json["text"] else { return }
            texts.withLock { $0.append(text) }
            for number in 2...last where text == "1" {
                try? store?.commitUpdate { $0["a"]?["text"] = "\(number)" }
            }
        }
        try store.commitUpdate { $0["a"]?["text"] = "1" }
        subscription.cancel()
        return texts.withLock { $0 }
    }

    @Test func whatComesDuringACallbackIsToldInOrder() throws {
        #expect(try textsTold(writingUpTo: 9, limit: 8) == (1...9).map { "\($0)" })
    }

    @Test func beyondTheLimitTheNewestStandsForThoseBeforeIt() throws {
        // When the ninth comes to wait, it is the only one; seven more have room behind it.
        #expect(
            try textsTold(writingUpTo: 17, limit: 8) == ["1"] + (10...17).map { "\($0)" })
        #expect(try textsTold(writingUpTo: 18, limit: 8) == ["1", "18"])
    }

    @Test func everySubscriberIsToldOfTheNewest() throws {
        let store = Store.quiet { $0.waitingDeliveryLimit = 4 }
        for id in ["a", "b"] { try store.commit("One", ["id": id], response(id, "0")) }
        let first = Told()
        let second = Told()
        let tokens = try [
            store.subscribe(store.lookup(row("a"))) { [weak store] new in
                first.add(new)
                for number in 1...20 where first.count == 1 {
                    try? store?.commitUpdate { source in
                        for id in ["a", "b"] { source[DataID(id)]?["text"] = "\(number)" }
                    }
                }
            },
            store.subscribe(store.lookup(row("b"))) { second.add($0) },
        ]
        try store.commitUpdate { $0["a"]?["text"] = "begin" }
        #expect(first.last?.data?.json["text"] == "20")
        #expect(second.last?.data?.json["text"] == "20")
        #expect((2..<20).contains(first.count))
        for token in tokens { token.cancel() }
    }

    @Test func eventsThatAreDroppedAreCounted() throws {
        let store = Store.quiet { $0.waitingDeliveryLimit = 10 }
        let published = Lock(0)
        let dropped = Lock(0)
        let watching = store.observe { [weak store] event in
            switch event {
            case .published:
                let isFirst = published.withLock { count in
                    count += 1
                    return count == 1
                }
                for number in 0..<100 where isFirst {
                    try? store?.commitUpdate {
                        _ = $0.create(dataID: DataID("n\(number)"), typeName: "Todo")
                    }
                }
            case .dropped(let count): dropped.withLock { $0 += count }
            default: break
            }
        }
        try store.commitUpdate { _ = $0.create(dataID: "a", typeName: "Todo") }
        // Each commit is three events.
        #expect(published.withLock { $0 } < 20)
        #expect(dropped.withLock { $0 } > 3 * 80)
        watching.cancel()
    }
}
