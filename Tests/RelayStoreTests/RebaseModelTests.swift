import BoundedTesting
import Foundation
import RelayArtifacts
import RelayJSON
import Testing

@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

/// The store, which runs only those updaters again that a change can concern, beside one that runs all of them again at
/// every change: random updaters, answers, failures, responses and local changes.
///
/// The rounds of the suite are the same every time. `RELAY_REBASE_ROUNDS` makes them more, those at random;
/// `RELAY_REBASE_SEED` repeats one round, which a failure prints.
@Suite(.bounded) struct RebaseModelTests {
    private static let variables = ProcessInfo.processInfo.environment
    private static let fixedCount = 100
    private static let count = variables["RELAY_REBASE_ROUNDS"].flatMap(Int.init) ?? fixedCount
    private static let seed = variables["RELAY_REBASE_SEED"].flatMap(UInt64.init)

    @Test func whatIsShownIsWhatAllUpdatersMakeAnew() throws {
        if let seed = Self.seed { return try run(seed) }
        for round in 0..<Self.count {
            try run(round < Self.fixedCount ? UInt64(14_000 + round) : .random(in: 0 ... .max))
        }
    }

    private func run(_ seed: UInt64) throws {
        let round = try RebaseRound(seed: seed)
        for _ in 0..<40 {
            try round.step()
            if let difference = try round.difference() {
                Issue.record(
                    "RELAY_REBASE_SEED=\(seed)\n\(difference)\n\(round.told.joined(separator: "\n"))"
                )
                throw Different()
            }
        }
    }

    private struct Different: Error {}
}

/// A store and what happens to it.
private final class RebaseRound {
    private let store: Store
    private var random: SeededGenerator
    private var entries: [OptimisticEntryID] = []
    /// What was done so far.
    private(set) var told: [String] = []

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        store = Store.quiet()
        try store.commitUpdate { source in
            for id in ["a", "b", "c"] { _ = source.create(dataID: DataID(id), typeName: "Todo") }
        }
        try fetch(["a", "b"])
    }

    // MARK: Steps

    func step() throws {
        switch random.below(14) {
        case 0, 1, 2, 3, 4: begin()
        case 5, 6: beginAppending()
        case 7, 8:
            guard let entry = takeEntry() else { return }
            told.append("revoke \(entry.rawValue)")
            store.revoke(entry, reason: "failed")
        case 9, 10:
            guard let entry = takeEntry() else { return }
            respond(to: entry)
        case 11:
            let ids = RebaseProgram.ids
            try fetch((0..<random.below(4)).map { _ in random.pick(ids) })
        default:
            let program = RebaseProgram(&random)
            told.append("commit: \(program)")
            try? store.commitUpdate { try program.run(&$0) }
        }
    }

    private func takeEntry() -> OptimisticEntryID? {
        entries.isEmpty ? nil : entries.remove(at: random.below(entries.count))
    }

    private func begin() {
        let program = RebaseProgram(&random)
        // One that throws at once shows nothing and is none.
        guard let entry = try? store.applyUpdate({ try program.run(&$0) }) else { return }
        told.append("begin \(entry.rawValue): \(program)")
        entries.append(entry)
    }

    private func beginAppending() {
        let program = RebaseProgram(&random)
        let id = random.pick(RebaseProgram.ids)
        guard
            let entry = try? store.applyMutation(
                appending(),
                optimistic: OptimisticMutation(
                    response: added(id).bytes,
                    updater: { source, _ in
                        var records: any RecordSourceProxy = source
                        try program.run(&records)
                    }))
        else { return }
        told.append("begin \(entry.rawValue): append \(id); \(program)")
        entries.append(entry)
    }

    private func appending() throws -> OperationDescriptor {
        let connections: VariableData = [
            "connections": [RebaseAction.connection.rawValue]
        ]
        return try TodoDocuments.operation("Append", connections)
    }

    private func added(_ id: String) -> JSONValue {
        let todo: JSONObject = ["id": .string(id), "text": "said", "__typename": "Todo"]
        return ["data": ["add": ["edge": ["cursor": .string("c-\(id)"), "node": .object(todo)]]]]
    }

    private func respond(to entry: OptimisticEntryID) {
        let program = RebaseProgram(&random)
        let id = random.pick(RebaseProgram.ids)
        let isAnswered = (try? appending()).flatMap { operation in
            try? store.commitResponse(entry, operation, added(id).bytes) { source, _ in
                var records: any RecordSourceProxy = source
                try program.run(&records)
            }
        }
        told.append("answer \(entry.rawValue): append \(id); \(program)")
        if isAnswered != nil { return }
        told.append("which throws")
        store.revoke(entry, reason: "the answer cannot be taken in")
    }

    /// The whole connection.
    private func fetch(_ ids: [String]) throws {
        told.append("fetch \(ids)")
        let edges: [JSONValue] = ids.map { id in
            let todo: JSONObject = ["id": .string(id), "__typename": "Todo"]
            return ["cursor": .string("c-\(id)"), "node": .object(todo)]
        }
        let me: JSONObject = ["id": "u1", "name": "Me", "todos": ["edges": .array(edges)]]
        try store.commit("Me", [:], ["data": ["me": .object(me)]])
    }

    // MARK: What ought to be

    /// What is wrong now; nil: nothing.
    func difference() throws -> String? {
        let (head, anew, kept) = try store.write { writer, _ in
            let state = writer.state
            var (anew, kept) = (state.confirmed, state.confirmed)
            for entry in state.entries {
                var draft = Draft(on: anew)
                if (try? entry.update.run(&draft)) != nil { anew = draft.snapshot }
            }
            // What a log would show after a restart.
            var changes = ChangeSet()
            for mutation in state.confirmed.pending {
                kept.apply(mutation.intent.optimistic ?? .empty, changes: &changes)
            }
            return (state.head, anew, kept)
        }
        if head.recordCount != head.recordsInCreationOrder().count { return "recordCount is wrong" }
        if let text = Self.difference(head, anew) { return "anew: \(text)" }
        return Self.difference(head, kept).map { "from the log: \($0)" }
    }

    private static func difference(_ head: Snapshot, _ right: Snapshot) -> String? {
        if head.deletedIDs() != right.deletedIDs() {
            return "deleted are \(head.deletedIDs()), not \(right.deletedIDs())"
        }
        return difference(head.typedRecords, right.typedRecords)
    }

    private static func difference(
        _ shown: StoreModel.Records, _ right: StoreModel.Records
    ) -> String? {
        let ids = Set(shown.keys).union(right.keys).filter { shown[$0] != right[$0] }
        guard let id = ids.min() else { return nil }
        func text(_ fields: [String: FieldValue]?) -> String { fields.map { "\($0)" } ?? "nothing" }
        return "\(id) is \(text(shown[id])), not \(text(right[id]))"
    }
}

extension Snapshot {
    /// The records with their types.
    fileprivate var typedRecords: StoreModel.Records {
        var records = modelRecords
        for record in recordsInCreationOrder() {
            let type = type(of: record).map { symbols.nameString($0) } ?? ""
            records[symbols.idString(record)]?["type of the record"] = .string(type)
        }
        return records
    }
}
