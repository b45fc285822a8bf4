import RelayArtifacts
import RelayJSON
import Synchronization
import Testing

@testable import RelayStore

/// Which updaters run again when something below them changes.
@Suite(.bounded) struct RebaseTests {
    /// Counts the runs of updaters by a name.
    private final class Runs: Sendable {
        private let counts = Mutex<[String: Int]>([:])

        subscript(_ name: String) -> Int { counts.withLock { $0[name] ?? 0 } }
        var total: Int { counts.withLock { $0.values.reduce(0, +) } }

        func counting(_ name: String, _ updater: @escaping StoreUpdater) -> StoreUpdater {
            { [self] source in
                counts.withLock { $0[name, default: 0] += 1 }
                try updater(&source)
            }
        }
    }

    private func store(_ records: String..., journaled: Bool = true) throws -> Store {
        let store = Store.quiet { if journaled { $0.journal = InMemoryJournal() } }
        try store.commitUpdate { source in
            for id in records { source.create(dataID: DataID(id), typeName: "Todo")["text"] = id }
        }
        return store
    }

    /// Sets a text to another record's, with something behind it.
    private func copying(_ id: String, to other: String) -> StoreUpdater {
        { source in
            let text = source[DataID(id)]?["text"] as? String ?? "nothing"
            source[DataID(other)]?["text"] = "\(text)+"
        }
    }

    @Test func answersOfAQueueRunNoUpdaterThatTheyDoNotConcern() throws {
        let store = try store()
        let runs = Runs()
        let count = 50
        let queue = try (0..<count).map { number in
            try store.applyUpdate(
                runs.counting("each") { source in
                    source.create(dataID: DataID("t\(number)"), typeName: "Todo")["text"] = "shown"
                })
        }
        for (number, entry) in queue.enumerated() {
            let todo: JSONObject = ["id": .string("t\(number)"), "text": "said"]
            let response: JSONValue = ["data": ["change": ["todo": .object(todo)]]]
            try store.commitResponse(
                entry, TodoDocuments.operation("Change", ["id": "t\(number)"]), response.bytes)
            #expect(store.field("t\(number)", "text") == .string("said"))
            if number + 1 < count {
                #expect(store.field("t\(count - 1)", "text") == .string("shown"))
            }
        }
        #expect(runs.total == count)
    }

    @Test func anUpdaterRunsAgainWhenWhatItLookedAtChanges() throws {
        let store = try store("a", "b", "c", "d")
        let runs = Runs()
        _ = try store.applyUpdate(runs.counting("a to b", copying("a", to: "b")))
        _ = try store.applyUpdate(runs.counting("b to c", copying("b", to: "c")))
        _ = try store.applyUpdate(runs.counting("d") { $0["d"]?["text"] = "shown" })
        try store.commitUpdate { $0["a"]?["text"] = "new" }
        #expect(store.field("c", "text") == .string("new++"))
        #expect(store.field("d", "text") == .string("shown"))
        #expect(runs["a to b"] == 2)
        #expect(runs["b to c"] == 2)
        #expect(runs["d"] == 1)
    }

    @Test func oneThatWritesTheSameAsBeforeConcernsNobodyAboveIt() throws {
        let store = try store("a", "b", "c")
        let runs = Runs()
        _ = try store.applyUpdate(
            runs.counting("below") { source in
                let text = source["a"]?["text"] as? String ?? ""
                source["b"]?["text"] = text.isEmpty ? "empty" : "full"
            })
        _ = try store.applyUpdate(runs.counting("above", copying("b", to: "c")))
        try store.commitUpdate { $0["a"]?["text"] = "other" }
        #expect(runs["below"] == 2)
        #expect(runs["above"] == 1)
        try store.commitUpdate { $0["a"]?["text"] = "" }
        #expect(runs["above"] == 2)
        #expect(store.field("c", "text") == .string("empty+"))
    }

    @Test func theEndOfAnEntryConcernsThoseAboveItAlone() throws {
        let store = try store("a")
        let runs = Runs()
        func appending(_ text: String) -> StoreUpdater {
            runs.counting(text) { source in
                let old = source["a"]?["text"] as? String ?? ""
                source["a"]?["text"] = old + text
            }
        }
        _ = try store.applyUpdate(appending("1"))
        let second = try store.applyUpdate(appending("2"))
        _ = try store.applyUpdate(appending("3"))
        store.revert(second)
        #expect(store.field("a", "text") == .string("a13"))
        #expect(runs["1"] == 1)
        #expect(runs["3"] == 2)
    }

    @Test func aRecordThatNobodySpokeOfIsLookedForAgainWhenItComes() throws {
        let store = try store("a")
        _ = try store.applyUpdate(copying("unheard of", to: "a"))
        #expect(store.field("a", "text") == .string("nothing+"))
        try store.commitUpdate { source in
            source.create(dataID: "unheard of", typeName: "Todo")["text"] = "here"
        }
        #expect(store.field("a", "text") == .string("here+"))
        try store.commitUpdate { $0.delete(dataID: "unheard of") }
        #expect(store.field("a", "text") == .string("nothing+"))
    }

    @Test func oneThatThrewIsTriedWhenWhatItLookedAtChanges() throws {
        struct Missing: Error {}
        let store = try store("a", "b")
        let runs = Runs()
        _ = try store.applyUpdate(
            runs.counting("failing") { source in
                guard let record = source["a"] else { throw Missing() }
                record["text"] = "shown"
            })
        try store.commitUpdate { $0.delete(dataID: "a") }
        try store.commitUpdate { $0["b"]?["text"] = "other" }
        #expect(runs["failing"] == 2)
        try store.commitUpdate { _ = $0.create(dataID: "a", typeName: "Todo") }
        #expect(runs["failing"] == 3)
        #expect(store.field("a", "text") == .string("shown"))
    }

    @Test(arguments: [true, false])
    func anOptimisticResponseStaysWhenAnotherUpdaterRunsAgain(journaled: Bool) throws {
        let store = try store("a", "b", journaled: journaled)
        _ = try store.begin(
            "Change", ["id": "b"],
            expecting: ["data": ["change": ["todo": ["id": "b", "text": "shown"]]]])
        _ = try store.applyUpdate(copying("a", to: "a"))
        try store.commitUpdate { $0["a"]?["text"] = "new" }
        #expect(store.field("a", "text") == .string("new+"))
        #expect(store.field("b", "text") == .string("shown"))
        #expect(try store.read("One", ["id": "b"]).data != nil)
    }

    /// What is shown of a record goes with its entry, also where nothing else changes.
    @Test func aRecordThatOnlyAnEntryMadeGoesWithIt() throws {
        let store = try store("a")
        let shown = try store.applyUpdate {
            $0.create(dataID: "b", typeName: "Todo")["text"] = "shown"
            $0.delete(dataID: "a")
        }
        _ = try store.applyUpdate { _ = $0.create(dataID: "c", typeName: "Todo") }
        #expect(store.snapshot.recordCount == 2)
        store.revert(shown)
        #expect(store.ids().sorted() == ["a", "c"])
        #expect(store.snapshot.recordCount == 2)
    }
}
