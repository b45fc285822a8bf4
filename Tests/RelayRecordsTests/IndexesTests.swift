import BoundedTesting
import RelayJSON
import Testing

@_spi(Rooms) @testable import RelayRecords

/// The look-ups beside the records, kept up to date write by write, against what the records say.
@Suite(.bounded)
struct IndexesTests {
    private static let count = CountDefinition(
        type: "List", field: "items", conditions: [.init(key: "done", value: true)])
    private static let definitions: [IndexDefinition] = [
        .records(type: "Item"), .places(type: "List", key: "items"), .count(count),
        .count(CountDefinition(type: "List", field: "items", conditions: [])),
    ]

    @Test func aUniqueValueIsItsBytes() {
        var draft = Draft(on: Snapshot(indexes: [.unique(type: "T", key: "name")]))
        let names = ["one": "\u{e9}", "two": "e\u{301}"]
        for (id, name) in names {
            draft.write(DataID(id), type: "T", fields: [("name", .string(name))])
        }
        let snapshot = draft.snapshot
        let (type, key) = (snapshot.symbols.name("T"), snapshot.symbols.name("name"))
        for (id, name) in names {
            let found = snapshot.indexes.record(of: type, where: key, is: name)
            #expect(found.map(snapshot.symbols.idString) == id)
        }
    }

    /// Random writes; after each of them the look-ups are those of a snapshot that is indexed anew.
    @Test func everyLookUpFollowsFromTheRecords() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        func item() -> DataID { DataID("i\(random.below(30))") }
        func list() -> DataID { DataID("l\(random.below(3))") }
        var snapshot = Snapshot(indexes: Self.definitions)
        for step in 0..<1_500 {
            var draft = Draft(on: snapshot)
            let links: FieldValue =
                switch random.below(8) {
                case 0...3: .append(item())
                case 4...5: .remove(item())
                case 6: .splice(start: random.below(6), deleted: random.below(3), [item(), nil])
                default: .links((0..<random.below(5)).map { _ in item() })
                }
            switch random.below(10) {
            case 0: draft.delete(item())
            case 1: draft.delete(list())
            case 2...5: draft.write(list(), type: "List", fields: [("items", links)])
            case 6: draft.write(item(), type: "Other", fields: [("done", .bool(true))])
            default:
                draft.write(item(), type: "Item", fields: [("done", .bool(random.below(2) == 0))])
            }
            check(draft, since: snapshot, "seed \(seed), step \(step)")
            snapshot = draft.snapshot
        }
    }

    /// Within a draft two records may have one unique value for a moment; whoever has it in the end is found.
    @Test func aRecordIsFoundByItsUniqueValueThoughAnotherHadItMeanwhile() throws {
        let definitions: [IndexDefinition] = [.unique(type: "T", key: "name")]
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        var draft = Draft(on: Snapshot(indexes: definitions))
        for step in 0..<3_000 {
            let id = DataID("t\(random.below(5))")
            switch random.below(8) {
            case 0: draft.delete(id)
            case 1: draft.write(id, type: "T", fields: [("name", .unset)])
            case 2: draft.write(id, type: "T", fields: [("other", .int(Int64(step)))])
            default: draft.write(id, type: "T", fields: [("name", .string("n\(random.below(4))"))])
            }
            let snapshot = draft.snapshot
            let (type, key) = (snapshot.symbols.name("T"), snapshot.symbols.name("name"))
            for number in 0..<4 {
                let holders = (0..<5).compactMap { snapshot.existing("t\($0)") }.filter {
                    snapshot.fieldValue("name", of: $0) == .string("n\(number)")
                }
                let found = snapshot.indexes.record(of: type, where: key, is: "n\(number)")
                let isRight = found.map(holders.contains) ?? holders.isEmpty
                #expect(isRight, "seed \(seed), step \(step)")
                if !isRight { return }
            }
        }
    }

    private func check(_ draft: Draft, since before: Snapshot, _ place: String) {
        let now = draft.snapshot
        let anew = now.indexed(by: Self.definitions)
        guard let type = now.symbols.findName("Item"), let key = now.symbols.findName("items")
        else { return }
        #expect(
            now.indexes.records(of: type).map(positions)
                == anew.indexes.records(of: type).map(positions), "\(place)")
        for number in 0..<3 {
            guard let owner = now.symbols.findRecord("l\(number)") else { continue }
            for case .count(let definition) in Self.definitions {
                guard let name = now.symbols.findName(definition.name) else { continue }
                let count = now.indexes.count(name, of: owner)
                #expect(count == matching(definition, owner, now), "\(place)")
                #expect(count == anew.indexes.count(name, of: owner), "\(place)")
                let isChanged = before.indexes.count(name, of: owner) != count
                let isTold = draft.changes.derived.contains { $0.record == owner && $0.key == name }
                #expect(!isChanged || isTold, "a changed count is told: \(place)")
            }
            for number in 0..<30 {
                guard let record = now.symbols.findRecord("i\(number)") else { continue }
                #expect(
                    now.indexes.position(of: record, in: key, of: owner)
                        == links(owner, now).position(of: record), "\(place)")
            }
        }
    }

    private func positions(_ list: LinkList) -> [String] {
        var positions: [String] = []
        list.forEachLink { positions.append("\($0) \($1?.rawValue ?? 0)") }
        return positions
    }

    private func links(_ owner: RecordIndex, _ snapshot: Snapshot) -> LinkList {
        guard let row = snapshot.row(owner), let key = snapshot.symbols.findName("items"),
            let slot = row.slot(of: key), row.tag(slot) == .links
        else { return .empty }
        return row.links(slot)
    }

    private func matching(
        _ definition: CountDefinition, _ owner: RecordIndex, _ snapshot: Snapshot
    ) -> Int {
        links(owner, snapshot).records.count { record in
            guard let row = record.flatMap(snapshot.row) else { return false }
            return definition.conditions.allSatisfy { condition in
                snapshot.symbols.findName(condition.key)
                    .map { row.holds(condition.value, under: $0) } ?? false
            }
        }
    }
}
