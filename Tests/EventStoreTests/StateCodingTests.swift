import BoundedTesting
import RelayJSON
@_spi(Rooms) import RelayRecords
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
        for scope in snapshot.ledger.scopes {
            for number: UInt64 in 0..<200 {
                let id = MutationID(client: scope.client, number: number)
                #expect(
                    read.ledger.status(of: id, by: scope.viewer)
                        == snapshot.ledger.status(of: id, by: scope.viewer))
            }
        }
    }

    /// Made by hand, as only thousands of events would lead to it.
    private func ledger(_ random: inout SeededGenerator) throws -> MutationLedger {
        let bytes = (0..<16).map { UInt8($0) }
        let prints: [MutationFingerprint?] = [
            nil, MutationFingerprint(bytes), MutationFingerprint(bytes, claims: bytes.reversed()),
        ]
        var sequence: UInt64 = 0
        return MutationLedger(
            try [(nil, "a"), (nil, "b"), ("ada", "a"), ("", "b")].map { viewer, client in
                let ranges = (0..<Int.random(in: 0..<4, using: &random)).map {
                    let first = UInt64($0) * 100
                    return first...first + UInt64.random(in: 0..<50, using: &random)
                }
                let answers = (0..<Int.random(in: 1..<4, using: &random)).map { number in
                    sequence += 1
                    return (
                        number: UInt64(1_000 + number),
                        answer: MutationLedger.Answer(
                            sequence: sequence, bytes: Array("{}".utf8),
                            fingerprint: prints.randomElement(using: &random) ?? nil)
                    )
                }
                let unknown = Bool.random(using: &random) ? UInt64.max : nil
                return MutationLedger.Entry(
                    scope: MutationScope(viewer: viewer, client: client), lastSequence: sequence,
                    applied: try #require(NumberRanges(ranges, unknownThrough: unknown)),
                    answers: answers)
            })
    }

    @Test func whatIsKnownOfMutationIDsReadsBack() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            var restorer = SnapshotRestorer(indexes: [])
            restorer.begin(sequence: 1_000, schema: "", creationCount: 0)
            restorer.setLedger(try ledger(&random))
            let bytes = restorer.snapshot.stateBytes
            #expect(bytes[0] == 2, "the ledger needs the second version")
            #expect(try decode(bytes).stateBytes == bytes, "seed \(seed)")
            for count in 0..<bytes.count {
                #expect(throws: MalformedEvent.self, "seed \(seed)") {
                    try decode(Array(bytes[..<count]))
                }
            }
        }
    }

    /// A history without fingerprints has the very bytes that the first version gave it.
    @Test func whatTheFirstVersionCanSayKeepsItsBytes() throws {
        let seed = UInt64.random(in: 0 ... .max)
        let history = try RandomHistory(seed: seed, count: 200)
        #expect(history.snapshot.stateBytes[0] == 1, "seed \(seed)")
        let newer = try RandomHistory(seed: seed, count: 200, hasFingerprints: true)
        #expect(newer.snapshot.stateBytes[0] == 2, "seed \(seed)")
        for point in stride(from: 0, through: 200, by: 10) {
            let checkpoint = try fold(newer.events[..<point]).stateBytes
            let resumed = try fold(newer.events[point...], onto: decode(checkpoint))
            #expect(
                resumed.stateBytes == newer.snapshot.stateBytes, "seed \(seed), point \(point)")
        }
    }

    /// The first fold kept the highest number that was let go. What lies below it is not known any more; it
    /// is taken where there is nothing else.
    @Test func aStateOfTheFirstFoldThatHasLetAnswersGoIsTakenOnlyInNeed() throws {
        let state: [UInt8] = [1, 9, 0, 0, 0, 0, 0, 1, 1, 0x41, 8, 1, 9, 9, 2, 0x7B, 0x7D]
        let error = #expect(throws: MalformedEvent.self) { try decode(state) }
        #expect(error?.message.contains("older version") == true)
        let taken = try state.withUnsafeBytes { bytes in
            Result { () throws(MalformedEvent) in
                try StateDecoder.decode(bytes, indexes: [], takesOlderFold: true)
            }
        }.get()
        #expect(taken.ledger.status(of: MutationID(client: "A", number: 7)) == .unknown)
        #expect(taken.ledger.status(of: MutationID(client: "A", number: 8)) == .new)
        guard case .answered = taken.ledger.status(of: MutationID(client: "A", number: 9)) else {
            return #expect(Bool(false), "the answer that was kept is there")
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
            let links = try #require(snapshot.existing("a").flatMap { snapshot.row($0) }).links(0)
            var places = [String?](repeating: "hole", count: links.end)
            links.forEachLink { position, record in
                places[position] = record.map(snapshot.symbols.idString)
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

    @Test(arguments: [UInt64(1) << 62, .max])
    func aWaitingMutationThatNoHistoryReachesIsRefused(_ sequence: UInt64) throws {
        var restorer = SnapshotRestorer(indexes: [])
        restorer.begin(sequence: 1_000, schema: "", creationCount: 0)
        restorer.addPending(sequence, MutationIntent(field: "f", arguments: [:]))
        let error = #expect(throws: MalformedEvent.self) {
            try decode(restorer.snapshot.stateBytes)
        }
        #expect(error?.message == "the sequence of a waiting mutation is too high: \(sequence)")
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
        var random = SeededGenerator(seed: seed)
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
