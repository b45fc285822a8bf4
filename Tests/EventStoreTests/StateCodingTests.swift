import RelayStore
import Testing

@testable import EventStore

@Suite(.bounded) struct StateCodingTests {
    private func fold(_ events: some Sequence<Event>, onto base: Snapshot = Snapshot()) throws
        -> Snapshot
    {
        var snapshot = base
        var changes = ChangeSet()
        for event in events { try snapshot.fold(event, changes: &changes) }
        return snapshot
    }

    private func decode(
        _ bytes: [UInt8], indexes: [IndexDefinition] = []
    ) throws(MalformedEvent) -> Snapshot {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(MalformedEvent) in
                try StateDecoder.decode(bytes, indexes: indexes)
            }
        }
        return try result.get()
    }

    @Test func aSnapshotReadsBackWithEverythingItHolds() throws {
        let seed = UInt64.random(in: 0 ... .max)
        let snapshot = try RandomHistory(seed: seed, count: 600).snapshot
        let read = try decode(snapshot.stateBytes)
        #expect(read.stateBytes == snapshot.stateBytes, "seed \(seed)")
        #expect(read.sequence == snapshot.sequence)
        #expect(read.schema == snapshot.schema)
        #expect(read.recordCount == snapshot.recordCount)
        #expect(read.pending == snapshot.pending)
        #expect(read.deletedIDs() == snapshot.deletedIDs())
        let records = snapshot.recordsInCreationOrder()
        #expect(read.recordsInCreationOrder().count == records.count)
        for (record, readRecord) in zip(records, read.recordsInCreationOrder()) {
            #expect(read.recordJSON(readRecord) == snapshot.recordJSON(record), "seed \(seed)")
        }
        for client in snapshot.ledger.clientNames {
            for number: UInt64 in 0..<200 {
                let id = MutationID(client: client, number: number)
                #expect(read.ledger.status(of: id) == snapshot.ledger.status(of: id))
            }
        }
    }

    /// The heart of a checkpoint: nobody can tell later whether one was used.
    @Test func aCheckpointAtAnyPointPlusTheTailIsTheFullRefold() throws {
        let seed = UInt64.random(in: 0 ... .max)
        let history = try RandomHistory(seed: seed, count: 200)
        for point in 0...history.events.count {
            let checkpoint = try fold(history.events[..<point]).stateBytes
            let resumed = try fold(history.events[point...], onto: decode(checkpoint))
            #expect(
                resumed.stateBytes == history.snapshot.stateBytes, "seed \(seed), point \(point)")
        }
    }

    @Test func theBytesDoNotDependOnHowTheProcessNumbersIDsAndNames() throws {
        let seed = UInt64.random(in: 0 ... .max)
        let history = try RandomHistory(seed: seed, count: 300)
        let symbols = Symbols()
        for number in (0..<60).shuffled() { _ = symbols.record("r\(number)") }
        for number in (0..<7).shuffled() { _ = symbols.name("k\(number)") }
        let other = try fold(history.events, onto: Snapshot(symbols: symbols))
        #expect(other.stateBytes == history.snapshot.stateBytes, "seed \(seed)")
    }

    @Test func anUnsetFieldIsAsOneThatNeverWas() throws {
        func state(_ fields: [[(String, FieldValue)]]) -> [UInt8] {
            var draft = Draft(on: Snapshot())
            for fields in fields {
                draft.write("a", type: "T", fields: fields.map { (key: $0.0, value: $0.1) })
            }
            return draft.snapshot.stateBytes
        }
        let plain = state([[("x", .int(1))]])
        #expect(state([[("y", .int(2)), ("x", .int(1))], [("y", .unset)]]) == plain)
        #expect(state([[("y", .null), ("x", .int(1))]]) != plain)
    }

    @Test func aListKeepsItsHolesSoThatCursorsStayGood() throws {
        var draft = Draft(on: Snapshot())
        let links: [DataID?] = (0..<100).map { DataID("r\($0)") } + [nil]
        draft.write("a", type: "T", fields: [(key: "l", value: FieldValue.links(links))])
        for number in [0, 1, 50, 51, 52, 99] {
            let remove = FieldValue.remove(DataID("r\(number)"))
            draft.write("a", type: "T", fields: [(key: "l", value: remove)])
        }
        let read = try decode(draft.snapshot.stateBytes)
        func places(_ snapshot: Snapshot) throws -> [String?] {
            let row = try #require(snapshot.existing("a").flatMap { snapshot.row($0) })
            var places: [String?] = []
            row.links(0).forEachPosition { place in
                switch place {
                case .hole: places.append("hole")
                case .link(let record): places.append(record.map(snapshot.symbols.idString))
                }
            }
            return places
        }
        #expect(try places(read) == places(draft.snapshot))
        #expect(try places(read).count == 101)
    }

    /// Where a number of the bytes is put to an extreme, the state is refused, or is one that can be folded
    /// on from and written again.
    @Test func numbersAtTheirExtremesAreRefusedOrGoodToGoOnFrom() throws {
        let seed = UInt64.random(in: 0 ... .max)
        let bytes = try RandomHistory(seed: seed, count: 40).snapshot.stateBytes
        let extremes: [UInt64] = [
            0, 1, 127, 128, UInt64(UInt32.max) - 1, UInt64(UInt32.max), UInt64(Int64.max) - 1,
            UInt64(Int64.max), UInt64(Int64.max) + 1, .max - 1, .max,
        ]
        var accepted = 0
        for offset in bytes.indices {
            for extreme in extremes {
                var writer = ByteWriter()
                writer.write(number: extreme)
                let changed = bytes[..<offset] + writer.bytes + bytes[(offset + 1)...]
                guard
                    var snapshot = try? decode(
                        Array(changed), indexes: [.records(type: "T0"), .records(type: "T1")])
                else { continue }
                accepted += 1
                var draft = Draft(on: snapshot)
                draft.write(
                    "new", type: "T0", fields: [(key: "l", value: FieldValue.append("new"))])
                let writes = draft.writeSet
                let event = Event(
                    sequence: snapshot.sequence + 1, timeMicroseconds: 0,
                    body: .update(LocalUpdate(name: "commitUpdate", writes: writes)))
                var changes = ChangeSet()
                try snapshot.fold(event, changes: &changes)
                #expect(!snapshot.stateBytes.isEmpty, "seed \(seed), byte \(offset), \(extreme)")
            }
        }
        #expect(accepted > 0)
    }

    @Test func lookUpsAreThereAfterReading() throws {
        var draft = Draft(on: Snapshot())
        for (id, login) in [("u2", "eve"), ("u1", "ada")] {
            draft.write(
                DataID(id), type: "User", fields: [(key: "login", value: FieldValue.string(login))])
        }
        let read = try decode(
            draft.snapshot.stateBytes,
            indexes: [.records(type: "User"), .unique(type: "User", key: "login")])
        let user = try #require(read.symbols.findName("User"))
        let login = try #require(read.symbols.findName("login"))
        let ids = read.indexes.records(of: user)?.records.map { $0.map(read.symbols.idString) }
        #expect(ids == ["u2", "u1"])
        let ada = read.indexes.record(of: user, where: login, is: "ada")
        #expect(ada.map(read.symbols.idString) == "u1")
    }

    @Test func damagedBytesAreRefusedOrReadAndNeverTrap() throws {
        let seed = UInt64.random(in: 0 ... .max)
        let bytes = try RandomHistory(seed: seed, count: 25).snapshot.stateBytes
        for count in 0..<bytes.count {
            #expect(throws: MalformedEvent.self, "seed \(seed)") {
                try decode(Array(bytes[..<count]))
            }
        }
        var random = SplitMix64(state: seed)
        for _ in 0..<2_000 {
            var damaged = bytes
            damaged[Int.random(in: damaged.indices, using: &random)] =
                UInt8.random(in: 0 ... .max, using: &random)
            _ = try? decode(damaged)  // a trap ends the run
        }
    }
}

extension Snapshot {
    var stateBytes: [UInt8] {
        var bytes: [UInt8] = []
        StateEncoder.encode(self) { bytes += $0 }
        return bytes
    }
}
