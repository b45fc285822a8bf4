import Threads

/// A journal that lives as long as the process: tests, previews, `relay serve --memory`.
package final class InMemoryJournal: EventJournal {
    private struct State {
        var events: [Event] = []
        var followers: [Int: AsyncThrowingStream<Event, any Error>.Continuation] = [:]
        var nextFollower = 0
    }

    package let epoch: UInt64
    private let state = Lock(State())

    package init(epoch: UInt64 = 0) { self.epoch = epoch }

    package func append(
        _ events: [NewEvent], expecting sequence: UInt64,
        completion: @escaping @Sendable (Result<UInt64, JournalError>) -> Void
    ) {
        // Completed inside the lock, so that completions keep the order of the appends.
        state.withLock { state in
            let last = UInt64(state.events.count)
            guard last == sequence else {
                let message = """
                    Could not append \(events.count) events behind \(sequence): the journal is at \
                    \(last) already.
                    """
                completion(.failure(JournalError(code: .overtaken(by: last), message: message)))
                return
            }
            for event in events {
                let new = Event(
                    sequence: UInt64(state.events.count) + 1,
                    timeMicroseconds: event.timeMicroseconds, body: event.body)
                state.events.append(new)
                for follower in state.followers.values { follower.yield(new) }
            }
            completion(.success(UInt64(state.events.count)))
        }
    }

    package func events(from sequence: UInt64) -> AsyncThrowingStream<Event, any Error> {
        AsyncThrowingStream { continuation in
            let follower = state.withLock { state in
                for event in state.events.dropFirst(Int(clamping: max(sequence, 1) - 1)) {
                    continuation.yield(event)
                }
                let follower = state.nextFollower
                state.nextFollower += 1
                state.followers[follower] = continuation
                return follower
            }
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.followers.removeValue(forKey: follower) }
            }
        }
    }
    /// Times of events are taken to rise; where a clock was set back they are searched as if they did.
    package func lastEvent(
        at timeMicroseconds: Int64, through last: UInt64
    ) async throws -> UInt64? {
        state.withLock { state in
            var low = 0
            var high = min(state.events.count, Int(clamping: last))
            while low < high {
                let middle = (low + high) / 2
                if state.events[middle].timeMicroseconds <= timeMicroseconds {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            return low == 0 ? nil : state.events[low - 1].sequence
        }
    }
}
