import Testing

@_spi(Rooms) @testable import RelayRecords

@Suite struct MutationLedgerTests {
    private func answer(_ sequence: UInt64, size: Int = 2) -> MutationLedger.Answer {
        .init(sequence: sequence, bytes: Array(repeating: 0x7B, count: size))
    }

    private func id(_ client: String, _ number: UInt64) -> MutationID {
        MutationID(client: client, number: number)
    }

    @Test func oneThatWasNeverAppliedIsNewHoweverFarBehind() {
        var ledger = MutationLedger()
        for number: UInt64 in 1...2_000 where number != 5 {
            ledger.record(id("c", number), answer(number))
        }
        #expect(ledger.status(of: id("c", 5)) == .new)
        #expect(ledger.status(of: id("c", 4)) == .applied)
        #expect(ledger.status(of: id("c", 1_000)) == .applied)
        #expect(ledger.status(of: id("c", 1_001)) == .answered(answer(1_001)))
        ledger.record(id("c", 5), answer(2_001))
        #expect(ledger.status(of: id("c", 5)) == .answered(answer(2_001)), "it is the newest")
        #expect(ledger.status(of: id("c", 1_001)) == .applied)
    }

    @Test func viewersDoNotMeet() {
        var ledger = MutationLedger()
        ledger.record(id("c", 1), by: "ann", answer(1))
        #expect(ledger.status(of: id("c", 1), by: "ann") == .answered(answer(1)))
        #expect(ledger.status(of: id("c", 1), by: "bob") == .new)
        #expect(ledger.status(of: id("c", 1)) == .new)
        #expect(ledger.status(of: id("ann/c", 1)) == .new)
    }

    /// A client without a token can make up as many names as it likes.
    @Test func clientsOfNobodyPushNobodyElseOut() throws {
        var limits = MutationLedger.Limits()
        limits.clients = 30
        limits.bytes = 80_000
        var ledger = MutationLedger(limits: limits)
        ledger.record(id("c", 1), by: "ann", answer(1, size: 1_000))
        ledger.record(id("c", 1), answer(2, size: 1_000))
        for number: UInt64 in 3..<200 {
            ledger.record(id("made up \(number)", 1), by: "", answer(number, size: 4_000))
        }
        #expect(ledger.status(of: id("c", 1), by: "ann") == .answered(answer(1, size: 1_000)))
        #expect(ledger.status(of: id("c", 1)) == .answered(answer(2, size: 1_000)))
        #expect(ledger.clientCount == 5)
        #expect(
            ledger.status(of: id("made up 199", 1), by: "") == .answered(answer(199, size: 4_000)))
        #expect(
            ledger.status(of: id("made up 198", 1), by: "") == .answered(answer(198, size: 4_000)))
        #expect(ledger.status(of: id("made up 197", 1), by: "") == .applied)
        #expect(ledger.status(of: id("made up 196", 1), by: "") == .new)
        #expect(ledger.lastSequence == 199)
        #expect(ledger.isWithinLimits)
        // A restored one is the same.
        let restored = MutationLedger(
            ledger.scopes.compactMap(ledger.entry), limits: limits)
        #expect(restored.clientCount == 5)
        #expect(restored.status(of: id("made up 197", 1), by: "") == .applied)
        #expect(restored.byteCount == ledger.byteCount)
        // Nor do others push out those, but silence does.
        for number: UInt64 in 200..<300 { ledger.record(id("v\(number)", 1), answer(number)) }
        #expect(ledger.status(of: id("made up 199", 1), by: "") != .new)
    }

    @Test func beyondItsRangesNothingIsClaimed() {
        var limits = MutationLedger.Limits()
        limits.answers = 1
        limits.ranges = 3
        var ledger = MutationLedger(limits: limits)
        for number: UInt64 in [10, 20, 30, 40, 50] {
            ledger.record(id("c", number), answer(number))
        }
        #expect(ledger.status(of: id("c", 50)) == .answered(answer(50)))
        #expect(ledger.status(of: id("c", 40)) == .applied)
        #expect(ledger.status(of: id("c", 21)) == .new)
        #expect(ledger.status(of: id("c", 20)) == .applied)
        #expect(ledger.status(of: id("c", 10)) == .unknown)
        #expect(ledger.status(of: id("c", 9)) == .unknown)
        #expect(ledger.status(of: id("c", 11)) == .new)
    }

    @Test func answersOfTheClientIdleLongestAreDroppedFirst() {
        var limits = MutationLedger.Limits()
        limits.bytes = 8_000
        var ledger = MutationLedger(limits: limits)
        for number: UInt64 in 1...3 { ledger.record(id("a", number), answer(number, size: 1_000)) }
        for number: UInt64 in 1...3 {
            ledger.record(id("b", number), answer(number + 3, size: 1_000))
        }
        ledger.record(id("c", 1), answer(7, size: 1_000))
        #expect(ledger.byteCount <= limits.bytes)
        #expect(ledger.status(of: id("a", 1)) == .applied)
        #expect(ledger.status(of: id("b", 1)) == .answered(answer(4, size: 1_000)))
        ledger.record(id("c", 2), answer(8, size: 100_000))
        #expect(ledger.status(of: id("c", 2)) == .answered(answer(8, size: 100_000)))
        #expect(ledger.status(of: id("c", 1)) == .applied)
        #expect(ledger.clientCount == 1, "one answer alone may be larger than the bound")
    }

    @Test func clientsThatWereSilentLongestAreForgotten() {
        var limits = MutationLedger.Limits()
        limits.clients = 2
        var ledger = MutationLedger(limits: limits)
        ledger.record(id("a", 1), answer(1))
        ledger.record(id("b", 1), answer(2))
        ledger.record(id("a", 2), answer(3))
        ledger.record(id("c", 1), answer(4))
        #expect(ledger.clientCount == 2)
        #expect(ledger.status(of: id("b", 1)) == .new)
        #expect(ledger.status(of: id("a", 1)) == .answered(answer(1)))
        limits.clients = 10
        limits.silentEvents = 100
        ledger = MutationLedger(limits: limits)
        ledger.record(id("a", 1), answer(1))
        ledger.record(id("b", 1), answer(101))
        #expect(ledger.clientCount == 2)
        ledger.record(id("b", 2), answer(102))
        #expect(ledger.clientCount == 1)
    }

    /// What is taken apart and put together behaves the same from then on.
    @Test func aRestoredLedgerBehavesLikeTheOriginal() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = Numbers(state: seed)
        var limits = MutationLedger.Limits()
        limits.answers = 5
        limits.ranges = 4
        limits.clients = 4
        limits.bytes = 6_000
        limits.silentEvents = 60
        var ledger = MutationLedger(limits: limits)
        for sequence: UInt64 in 1...3_000 {
            let client = ["a", "b", "c", "d", "e", "f"][Int(random.next() % 6)]
            let viewer = random.next() % 3 == 0 ? "ann" : nil
            let id = id(client, random.next() % 40)
            let size = Int(random.next() % 300)
            ledger.record(id, by: viewer, answer(sequence, size: size))
            #expect(ledger.byteCount <= limits.bytes, "seed \(seed)")
            guard sequence.isMultiple(of: 7) else { continue }
            let restored = MutationLedger(
                try ledger.scopes.map { try #require(ledger.entry(of: $0)) }, limits: limits)
            #expect(restored.byteCount == ledger.byteCount, "seed \(seed)")
            #expect(restored.state == ledger.state, "seed \(seed), sequence \(sequence)")
            ledger = restored
        }
    }

    @Test func rangesAreASet() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = Numbers(state: seed)
        var ranges = NumberRanges()
        var model: Set<UInt64> = []
        for _ in 0..<500 {
            let number = random.next() % 300
            ranges.insert(number, limit: .max)
            model.insert(number)
            for probe in [number, number + 1, random.next() % 300] {
                let expected: NumberRanges.Answer = model.contains(probe) ? .contained : .missing
                #expect(ranges.answer(probe) == expected, "seed \(seed)")
            }
            #expect(NumberRanges(ranges.ranges, unknownThrough: nil) == ranges, "seed \(seed)")
        }
        ranges.insert(.max, limit: .max)
        ranges.insert(.max - 1, limit: .max)
        ranges.insert(0, limit: .max)
        #expect(ranges.answer(.max) == .contained && ranges.answer(0) == .contained)
    }
}

extension MutationLedger {
    fileprivate var state: [String] {
        scopes.map { scope in
            guard let entry = entry(of: scope) else { return "" }
            return "\(scope) \(entry.lastSequence) \(entry.applied) \(entry.answers)"
        }
    }
}

private struct Numbers {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}
