import BoundedTesting
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

/// Writes one record and gives what changed, as `id.key`.
func write(
    _ draft: inout Draft, _ id: DataID, type: String = "Todo", _ fields: [(String, FieldValue)]
) -> [String] {
    let before = draft.changes.fields.count
    draft.write(id, type: type, fields: fields.map { (key: $0.0, value: $0.1) })
    let symbols = draft.snapshot.symbols
    return draft.changes.fields[before...].map {
        "\(symbols.idString($0.record)).\(symbols.nameString($0.key))"
    }
}

@Suite(.bounded) struct SnapshotTests {
    @Test func everyKindOfValueIsReadBack() throws {
        let fields: [(String, FieldValue)] = [
            ("null", .null), ("true", .bool(true)), ("false", .bool(false)), ("int", .int(.min)),
            ("double", .double(-0.5)), ("string", .string("Buy a 🦄")), ("empty", .string("")),
            ("json", .json(["a": [1, nil]])), ("link", .link("b")),
            ("links", .links(["b", nil, "c"])),
            ("failed", .failed([["message": "no"]])),
        ]
        var draft = Draft(on: Snapshot())
        draft.write("a", type: "T", fields: fields.map { (key: $0.0, value: $0.1) })
        let record = try #require(draft.snapshot.existing("a"))
        for (key, value) in fields {
            #expect(draft.snapshot.fieldValue(key, of: record) == value)
        }
        #expect(draft.snapshot.fieldValue("other", of: record) == nil)
    }

    @Test func anUnchangedValueIsNoChange() {
        var draft = Draft(on: Snapshot())
        #expect(write(&draft, "a", [("text", .string("x")), ("n", .int(1))]) == ["a.text", "a.n"])
        #expect(write(&draft, "a", [("text", .string("x")), ("n", .int(1))]) == [])
        #expect(write(&draft, "a", [("text", .string("y")), ("n", .int(1))]) == ["a.text"])
        #expect(write(&draft, "a", [("n", .double(1))]) == ["a.n"])
        #expect(write(&draft, "a", [("list", .links(["b"]))]) == ["a.list"])
        #expect(write(&draft, "a", [("list", .links(["b"]))]) == [])
        #expect(write(&draft, "a", [("gone", .unset)]) == [])
    }

    @Test func aSnapshotStaysAsItWasWhileTheDraftGoesOn() throws {
        var draft = Draft(on: Snapshot())
        for index in 0..<10_000 {
            _ = write(&draft, DataID("r\(index)"), [("n", .int(Int64(index)))])
        }
        let old = draft.snapshot
        for index in stride(from: 0, to: 10_000, by: 7) {
            _ = write(&draft, DataID("r\(index)"), [("n", .int(-1)), ("more", .string("x"))])
        }
        draft.delete("r9")
        for index in 0..<10_000 {
            let record = try #require(old.existing("r\(index)"))
            #expect(old.fieldValue("n", of: record) == .int(Int64(index)))
        }
        #expect(old.recordCount == 10_000)
        #expect(draft.snapshot.recordCount == 9_999)
    }

    @Test func unknownNonexistentAndExistentAreThreeStates() throws {
        var draft = Draft(on: Snapshot())
        _ = write(&draft, "a", [("link", .link("b"))])
        let b = try #require(draft.snapshot.symbols.findRecord("b"))
        guard case .unknown = draft.snapshot[b] else { return #expect(Bool(false)) }
        draft.delete("b")
        guard case .nonexistent = draft.snapshot[b] else { return #expect(Bool(false)) }
        _ = write(&draft, "b", [])
        guard case .existent = draft.snapshot[b] else { return #expect(Bool(false)) }
    }

    @Test func recordsKeepTheOrderInWhichTheyCameToBe() {
        var draft = Draft(on: Snapshot(indexes: [.records(type: "Todo")]))
        for id in ["c", "a", "b"] { _ = write(&draft, DataID(id), [("n", .int(0))]) }
        draft.delete("c")
        _ = write(&draft, "a", [("n", .int(1))])
        _ = write(&draft, "c", [("n", .int(1))])
        let snapshot = draft.snapshot
        #expect(
            snapshot.recordsInCreationOrder().map(snapshot.symbols.idString) == ["a", "b", "c"])
        let type = snapshot.symbols.findName("Todo").flatMap { snapshot.indexes.records(of: $0) }
        #expect(type?.records.compactMap { $0.map(snapshot.symbols.idString) } == ["a", "b", "c"])
    }

    @Test func aUniqueIndexFollowsItsField() throws {
        var draft = Draft(on: Snapshot(indexes: [.unique(type: "User", key: "login")]))
        func find(_ login: String) -> String? {
            let symbols = draft.snapshot.symbols
            return draft.snapshot.indexes.record(
                of: symbols.name("User"), where: symbols.name("login"), is: login
            ).map(symbols.idString)
        }
        _ = write(&draft, "u1", type: "User", [("login", .string("ada"))])
        #expect(find("ada") == "u1")
        _ = write(&draft, "u1", type: "User", [("login", .string("eve"))])
        #expect(find("ada") == nil)
        #expect(find("eve") == "u1")
        draft.delete("u1")
        #expect(find("eve") == nil)
    }

    @Test func randomHistoriesReplayToTheSameRecords() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        var live = Draft(on: Snapshot())
        for _ in 0..<2_000 {
            let id = DataID("r\(Int.random(in: 0..<40, using: &random))")
            let other = DataID("r\(Int.random(in: 0..<40, using: &random))")
            let key = "k\(Int.random(in: 0..<6, using: &random))"
            let values: [FieldValue] = [
                .null, .bool(true), .int(Int64.random(in: -3...3, using: &random)), .unset,
                .string(String(repeating: "é", count: Int.random(in: 0..<5, using: &random))),
                .link(other), .links([other, nil, id]), .append(other), .remove(other),
                .splice(
                    start: Int.random(in: 0..<4, using: &random),
                    deleted: Int.random(in: 0..<3, using: &random), [other]),
                .json([1, "x"]),
            ]
            switch Int.random(in: 0..<12, using: &random) {
            case 0: live.delete(id)
            default:
                let value = values[Int.random(in: values.indices, using: &random)]
                _ = write(&live, id, type: "T\(id.rawValue.utf8.count)", [(key, value)])
            }
        }
        let checked = try WriteSet(checking: live.writeSet.bytes)
        var replayed = Snapshot()
        var changes = ChangeSet()
        replayed.apply(checked, changes: &changes)
        func lines(_ snapshot: Snapshot) -> [String] {
            snapshot.recordsInCreationOrder().compactMap { snapshot.recordJSON($0)?.json.text }
        }
        #expect(lines(replayed) == lines(live.snapshot), "seed \(seed)")
        #expect(replayed.deletedIDs() == live.snapshot.deletedIDs(), "seed \(seed)")
    }

    @Test func damagedWriteSetsAreRefusedAndNeverTrap() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        var draft = Draft(on: Snapshot())
        _ = write(
            &draft, "a",
            [("s", .string("text")), ("l", .links(["b", nil])), ("i", .int(7)), ("d", .double(1))])
        draft.delete("b")
        let bytes = draft.writeSet.bytes
        #expect(throws: MalformedEvent.self) { try WriteSet(checking: Array(bytes.dropLast())) }
        for _ in 0..<20_000 {
            var damaged = bytes
            damaged[Int.random(in: damaged.indices, using: &random)] =
                UInt8.random(in: 0 ... .max, using: &random)
            guard let writes = try? WriteSet(checking: damaged) else { continue }
            var snapshot = Snapshot()
            var changes = ChangeSet()
            snapshot.apply(writes, changes: &changes)  // seed printed by the runner if this traps
        }
    }
}
