import Testing

@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

@Suite(.bounded) struct JournalBacklogTests {
    private func batch(_ sequence: UInt64, size: Int = 0) -> JournalBacklog.Batch {
        let name = LocalUpdate(name: "update", writes: .empty)
        var response = MutationResponse(mutation: 1, writes: .empty, result: nil, rebased: [])
        response.answer = Array(repeating: 0, count: size)
        let bodies: [EventBody] = [size == 0 ? .update(name) : .response(response)]
        return JournalBacklog.Batch(
            bodies.map { NewEvent(timeMicroseconds: 0, body: $0) }, behind: sequence,
            confirmed: Snapshot())
    }

    /// Hands over all that may be: the sequences that they follow.
    private func handOver(_ backlog: inout JournalBacklog) -> [UInt64] {
        var sequences: [UInt64] = []
        while let batch = backlog.nextToHandOver(isContinuing: !sequences.isEmpty) {
            sequences.append(batch.sequence)
        }
        return sequences
    }

    private let busy = Result<UInt64, JournalError>.failure(
        JournalError(code: .busy, message: "busy"))
    private let behind = Result<UInt64, JournalError>.failure(
        JournalError(code: .overtaken(by: 1), message: "behind"))

    @Test func afterARefusalEverythingBehindItIsHandedOverAgainInOrder() {
        var backlog = JournalBacklog(limitBytes: 1 << 20)
        for sequence in 0..<4 as Range<UInt64> { backlog.add(batch(sequence)) }
        #expect(handOver(&backlog) == [0, 1, 2, 3])
        #expect(backlog.settle(.success(1)) == nil)
        #expect(backlog.settle(busy) == nil)
        backlog.add(batch(4))
        #expect(handOver(&backlog) == [])
        #expect(backlog.settle(behind) == nil)
        #expect(backlog.settle(behind) == 100)
        #expect(handOver(&backlog) == [])
        backlog.retry()
        #expect(handOver(&backlog) == [1, 2, 3, 4])
        for last in 2...5 as ClosedRange<UInt64> { #expect(backlog.settle(.success(last)) == nil) }
        #expect(backlog.waitingBytes == 0)
        guard case .keeping = backlog.status else {
            Issue.record("\(backlog.status)")
            return
        }
    }

    @Test func retriesComeFurtherApartUntilOneHelps() {
        var backlog = JournalBacklog(limitBytes: 1 << 20)
        backlog.add(batch(0))
        var delays: [Int] = []
        for _ in 0..<9 {
            #expect(handOver(&backlog) == [0])
            delays.append(backlog.settle(busy) ?? 0)
            backlog.retry()
        }
        #expect(delays == [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000])
        #expect(handOver(&backlog) == [0])
        #expect(backlog.settle(.success(1)) == nil)
        backlog.add(batch(1))
        #expect(handOver(&backlog) == [1])
        #expect(backlog.settle(busy) == 100)
    }

    @Test func oneThreadAtATimeHandsOver() {
        var backlog = JournalBacklog(limitBytes: 1 << 20)
        backlog.add(batch(0))
        backlog.add(batch(1))
        #expect(backlog.nextToHandOver(isContinuing: false)?.sequence == 0)
        #expect(backlog.nextToHandOver(isContinuing: false) == nil)
        #expect(backlog.nextToHandOver(isContinuing: true)?.sequence == 1)
        #expect(backlog.nextToHandOver(isContinuing: true) == nil)
        backlog.add(batch(2))
        #expect(backlog.nextToHandOver(isContinuing: false)?.sequence == 2)
    }

    @Test func beyondTheBoundItStopsAndDropsWhatWaits() {
        var backlog = JournalBacklog(limitBytes: 1_000)
        backlog.add(batch(0, size: 600))
        backlog.add(batch(1, size: 600))
        // On its way, which is for the journal to bound.
        #expect(handOver(&backlog) == [0, 1])
        #expect(backlog.settle(.success(1)) == nil)
        #expect(backlog.settle(busy) == 100)
        backlog.add(batch(2, size: 600))
        guard case .stopped = backlog.status else {
            Issue.record("\(backlog.status)")
            return
        }
        #expect(backlog.waitingBytes == 0)
        backlog.add(batch(3))
        #expect(handOver(&backlog) == [])
    }

    @Test func aLongLifeKeepsNothingThatIsDurable() {
        var backlog = JournalBacklog(limitBytes: 1_000)
        for sequence in 0..<10_000 as Range<UInt64> {
            backlog.add(batch(sequence))
            #expect(handOver(&backlog) == [sequence])
            #expect(backlog.settle(.success(sequence + 1)) == nil)
        }
        #expect(backlog.placeCount <= 130)
    }
}
