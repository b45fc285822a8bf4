import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

@Suite(.bounded) struct FoldTests {
    private func writes(_ id: DataID, _ key: String, _ value: FieldValue) -> WriteSet {
        var writer = WriteSetWriter()
        writer.write(id, type: "Todo", fields: [(key: key, value: value)])
        return writer.writeSet
    }

    private func fold(_ bodies: [EventBody]) throws -> Snapshot {
        var snapshot = Snapshot()
        var changes = ChangeSet()
        for (index, body) in bodies.enumerated() {
            try snapshot.fold(
                Event(sequence: UInt64(index) + 1, timeMicroseconds: 0, body: body),
                changes: &changes)
        }
        return snapshot
    }

    private func intent(_ id: String? = nil) -> EventBody {
        .mutation(
            MutationIntent(
                field: "addTodo", arguments: ["input": ["text": "x"]],
                mutationID: id.flatMap(MutationID.init)))
    }

    @Test func valuesOfDifferentKindsHaveHashesOfTheirOwn() {
        let values: [FieldValue] = [
            .null, .bool(false), .int(0), .double(0), .string(""), .json(.null), .link("a"),
            .links([]), .failed(.null), .unset, .append("a"), .remove("a"),
            .splice(start: 0, deleted: 0, []),
        ]
        #expect(Set(values.map(\.hashValue)).count == values.count)
    }

    @Test func everyEventReadsBackFromItsBytes() throws {
        let bodies: [EventBody] = [
            .genesis(schema: "type Query { a: Int }", seed: writes("a", "text", .string("é"))),
            .schema("type Query { b: Int }"),
            .mutation(
                MutationIntent(
                    operationName: "Add", field: "addTodo", arguments: ["input": ["n": 1.5]],
                    mutationID: MutationID("client:with:colons:7"), viewer: "ada",
                    optimistic: writes("b", "text", .null))),
            .mutation(MutationIntent(field: "addTodo", arguments: [:])),
            .response(
                MutationResponse(
                    mutation: 3, writes: writes("a", "l", .links(["b"])), result: "a",
                    answer: Array("{}".utf8))),
            .response(MutationResponse(mutation: 300, writes: .empty, result: nil)),
            .response(
                MutationResponse(mutation: 3, writes: .empty, result: nil, isByProgram: true)),
            .revocation(Revocation(mutation: 4, reason: "timed out")),
            .update(LocalUpdate(name: "commitUpdate", writes: writes("c", "x", .unset))),
            .unknown(kind: 99, payload: [1, 2, 3]),
        ]
        for body in bodies {
            let payload = body.payload
            let read = try payload.withUnsafeBytes { bytes in
                try EventBody(kind: body.kind, payload: bytes)
            }
            #expect(read == body)
        }
    }

    @Test func partsOfANewerMinorVersionArePassedOver() throws {
        let payload = EventBody.schema("x").payload + [200, 2, 0, 0]
        let read = try payload.withUnsafeBytes { try EventBody(kind: 2, payload: $0) }
        #expect(read == .schema("x"))
    }

    @Test func aResponseAppliesItsWritesAndEndsItsMutation() throws {
        let snapshot = try fold([
            .genesis(schema: "s", seed: writes("a", "text", .string("old"))),
            intent(),
            .response(
                MutationResponse(
                    mutation: 2, writes: writes("a", "text", .string("new")), result: "a")),
        ])
        let record = try #require(snapshot.existing("a"))
        #expect(snapshot.fieldValue("text", of: record) == .string("new"))
        #expect(snapshot.sequence == 3)
        #expect(snapshot.pending.isEmpty)
    }

    @Test func anEventThatCannotFollowIsRefused() throws {
        let genesis = EventBody.genesis(schema: "s", seed: .empty)
        #expect(throws: FoldError(sequence: 2, reason: .genesisNotFirst)) {
            try fold([genesis, genesis])
        }
        let end = FoldError(sequence: 2, reason: .endsUnknownMutation(sequence: 7))
        #expect(throws: end) {
            try fold([genesis, .revocation(Revocation(mutation: 7, reason: ""))])
        }
        var snapshot = try fold([genesis])
        var changes = ChangeSet()
        #expect(throws: FoldError(sequence: 3, reason: .gap(after: 1))) {
            try snapshot.fold(
                Event(sequence: 3, timeMicroseconds: 0, body: intent()), changes: &changes)
        }
    }

    @Test func aRepeatedMutationIsKnownByItsNumber() throws {
        var bodies: [EventBody] = [.genesis(schema: "s", seed: .empty)]
        for number in 1...1_001 {
            bodies.append(intent("c:\(number)"))
            bodies.append(
                .response(
                    MutationResponse(
                        mutation: UInt64(bodies.count), writes: .empty, result: nil,
                        answer: Array("\(number)".utf8))))
        }
        let ledger = try fold(bodies).ledger
        func status(_ id: String) throws -> MutationLedger.Status {
            ledger.status(of: try #require(MutationID(id)))
        }
        #expect(try status("c:1") == .applied)
        #expect(
            try status("c:2") == .answered(.init(sequence: 5, bytes: Array("2".utf8))))
        #expect(try status("c:1002") == .new)
        #expect(try status("d:1") == .new)
    }
}
