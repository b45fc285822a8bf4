import Threads

/// A journal that lives as long as the process: tests, previews, `relay serve --memory`.
package final class InMemoryJournal: EventJournal {
    package let epoch: UInt64
    /// The whole history: it is the log, and has no other bound.
    private let history = Lock<[Event]>([])
    private let head = DurableSequence(0)

    package init(epoch: UInt64 = 0) { self.epoch = epoch }

    package func append(
        _ events: [NewEvent], expecting sequence: UInt64,
        completion: @escaping @Sendable (Result<UInt64, JournalError>) -> Void
    ) {
        // Completed inside the lock, so that completions keep the order of the appends.
        let last = history.withLock { history in
            let last = UInt64(history.count)
            guard last == sequence else {
                let message = """
                    Could not append \(events.count) events after \(sequence): the journal is already at \
                    \(last).
                    """
                completion(.failure(JournalError(code: .overtaken(by: last), message: message)))
                return last
            }
            for event in events {
                history.append(
                    Event(
                        sequence: UInt64(history.count) + 1,
                        timeMicroseconds: event.timeMicroseconds, body: event.body))
            }
            completion(.success(UInt64(history.count)))
            return UInt64(history.count)
        }
        head.advance(to: last)
    }

    /// Each event is taken from the history when it is requested: readers buffer nothing, however far behind they are.
    package func events(from sequence: UInt64) -> AsyncThrowingStream<Event, any Error> {
        let next = Lock(max(sequence, 1))
        return AsyncThrowingStream { [self] in
            let sequence = next.withLock { next in
                defer { next &+= 1 }
                return next
            }
            guard await head.passes(sequence - 1) else { return nil }
            return history.withLock { $0[Int(sequence - 1)] }
        }
    }

    /// The last event; 0 if there is none.
    package var last: UInt64 { head.sequence }

    /// Those events of a range that there are.
    package func kept(in range: ClosedRange<UInt64>) -> ArraySlice<Event> {
        history.withLock { history in
            guard let first = Int(exactly: range.lowerBound), first >= 1, first <= history.count
            else { return [] }
            let end = min(Int(clamping: range.upperBound), history.count)
            return ArraySlice(Array(history[first - 1..<end]))
        }
    }

    /// Assumes that event times increase; if a clock was set back, it searches as if they did.
    package func lastEvent(
        at timeMicroseconds: Int64, through last: UInt64
    ) async throws -> UInt64? {
        history.withLock { history in
            let next = (0..<min(history.count, Int(clamping: last))).firstIndex(whereNot: {
                history[$0].timeMicroseconds <= timeMicroseconds
            })
            return next == 0 ? nil : history[next - 1].sequence
        }
    }
}
