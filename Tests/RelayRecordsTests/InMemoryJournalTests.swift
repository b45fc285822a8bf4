@_spi(Rooms) import RelayRecords
import Testing

@Suite(.bounded) struct InMemoryJournalTests {
    private func journal(times: [Int64]) async throws -> InMemoryJournal {
        let journal = InMemoryJournal()
        let events = times.map {
            NewEvent(
                timeMicroseconds: $0, body: .update(LocalUpdate(name: "", writes: .empty)))
        }
        _ = try await journal.append(events, expecting: 0)
        return journal
    }

    @Test func theLastEventAtATimeIsFound() async throws {
        let journal = try await journal(times: [10, 20, 20, 30])
        for (time, last, found) in [
            (9, 4, nil), (10, 4, 1), (20, 4, 3), (29, 4, 3), (.max, 4, 4), (.max, 2, 2),
            (.max, .max, 4), (20, 0, nil), (.min, 4, nil),
        ] as [(Int64, UInt64, UInt64?)] {
            #expect(try await journal.lastEvent(at: time, through: last) == found)
        }
    }

    @Test(arguments: [0, 1, 3] as [UInt64])
    func eventsBeginWhereTheyAreAskedFor(_ first: UInt64) async throws {
        let journal = try await journal(times: [1, 2, 3])
        var sequences: [UInt64] = []
        for try await event in journal.events(from: first) {
            sequences.append(event.sequence)
            if event.sequence == 3 { break }
        }
        #expect(sequences == Array(max(first, 1)...3))
    }

    /// Whatever is appended meanwhile: nothing is taken out before it is asked for.
    @Test func aReaderThatIsBehindGetsEachEventWhenItAsksForIt() async throws {
        let journal = try await journal(times: [1, 2, 3])
        var slow = journal.events(from: 2).makeAsyncIterator()
        var times: [Int64] = []
        for number: Int64 in 4..<40 {
            let event = NewEvent(
                timeMicroseconds: number, body: .update(LocalUpdate(name: "", writes: .empty)))
            _ = try await journal.append([event], expecting: UInt64(number - 1))
            if number.isMultiple(of: 3), let next = try await slow.next() {
                times.append(next.timeMicroseconds)
            }
        }
        while times.last != 39, let next = try await slow.next() {
            times.append(next.timeMicroseconds)
        }
        #expect(times == Array(2..<40))
    }

    @Test func aReaderAtTheEndWaitsForWhatIsAppendedAndEndsWithItsTask() async throws {
        let journal = try await journal(times: [1])
        let reader = Task {
            var sequences: [UInt64] = []
            for try await event in journal.events(from: 1) { sequences.append(event.sequence) }
            return sequences
        }
        let event = NewEvent(
            timeMicroseconds: 2, body: .update(LocalUpdate(name: "", writes: .empty)))
        _ = try await journal.append([event], expecting: 1)
        let last = Task {
            for try await event in journal.events(from: 2) { return event.sequence }
            return 0
        }
        #expect(try await last.value == 2)
        reader.cancel()
        // How many it has seen by then is a matter of when it ran; it ends, and skips none.
        let seen = try await reader.value
        #expect(seen == Array([1, 2].prefix(seen.count)))
    }
}
