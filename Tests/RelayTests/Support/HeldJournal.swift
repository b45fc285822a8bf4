@_spi(Rooms) import RelayStore
import Threads

/// A journal on a disk that a test plays: what is appended becomes durable, or is refused, when the test says.
final class HeldJournal: EventJournal {
    private struct State {
        var held: [(count: Int, completion: @Sendable (Result<UInt64, JournalError>) -> Void)] = []
        var last: UInt64 = 0
        var refusal: JournalError.Code?
        var events: [NewEvent] = []
    }

    let epoch: UInt64 = 0
    private let state = Lock(State())

    /// Events that are durable.
    var events: [NewEvent] { state.withLock { $0.events } }
    var heldCount: Int { state.withLock { $0.held.count } }

    /// Everything from here on is refused with this code; nil: held, as in the beginning.
    func refuse(_ code: JournalError.Code?) { state.withLock { $0.refusal = code } }

    func append(
        _ events: [NewEvent], expecting sequence: UInt64,
        completion: @escaping @Sendable (Result<UInt64, JournalError>) -> Void
    ) {
        let refusal = state.withLock { state -> JournalError.Code? in
            guard state.refusal == nil else { return state.refusal }
            state.held.append((events.count, completion))
            state.events += events
            return nil
        }
        if let refusal {
            completion(.failure(JournalError(code: refusal, message: "The disk says no.")))
        }
    }

    /// The oldest append that waits is on the disk now.
    func release() {
        let released = state.withLock { state in
            let released = state.held.removeFirst()
            state.last += UInt64(released.count)
            return (released.completion, state.last)
        }
        released.0(.success(released.1))
    }

    func events(from sequence: UInt64) -> AsyncThrowingStream<Event, any Error> {
        AsyncThrowingStream { $0.finish() }
    }
}
