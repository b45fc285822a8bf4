import GraphQLExecution
@_spi(Rooms) import RelayRecords
@_spi(Rooms) import Threads

/// The newest state, durable or not, and who waits for which of its events to become durable: a state
/// machine without threads, locks or disk.
///
/// All are told in one order, whatever they are told: results, answers that are repeated, refusals that
/// were judged here. Each waits for the sequence that it was judged at. When that is durable, it is released;
/// when the state that it was judged on is discarded, it fails with all behind the durable head.
///
/// Invariants:
/// 1. `durable.sequence <= snapshot.sequence`, and everything that waits is behind `durable`.
/// 2. What waits is in the order of sequences.
/// 3. A turn that was made on a head that is discarded by now is not taken.
package struct PendingHead {
    /// What happens when an event is durable.
    enum Promise: Sendable {
        case answer(MutationRequest, Outcome)
        /// A mutation's handler starts, as its intent is in the log.
        case start(OngoingMutation)
        /// A repeated mutation is looked at again: the first has ended, whose handler waited.
        case retry(MutationRequest)
        /// A mutation that waited has ended, under this intent.
        case ended(UInt64)
    }

    /// What a turn is made on.
    struct Base: Sendable {
        let snapshot: Snapshot
        /// Intents that are not worked on any more, whose end could not be written.
        let abandoned: [UInt64]
        fileprivate let generation: Int
    }

    private(set) var snapshot: Snapshot
    private(set) var durable: Snapshot
    /// Rises when the head is discarded.
    private var generation = 0
    private var waiting = FIFO<(sequence: UInt64, promise: Promise)>()
    /// Repeated mutations whose first request waits for its handler, by the sequence of its intent.
    private var joined: [UInt64: [MutationRequest]] = [:]
    private var abandoned: [UInt64] = []
    /// Repeats that may wait for one handler: clients that come again and again leave room for others.
    package static let joinLimit = 16

    init(_ snapshot: Snapshot) {
        self.snapshot = snapshot
        durable = snapshot
    }

    var base: Base { Base(snapshot: snapshot, abandoned: abandoned, generation: generation) }

    /// Takes what a turn has done.
    /// - Returns: what needs no waiting; nil when the base is discarded, so that the turn is void and nothing
    ///   of it may be told.
    mutating func take(_ turn: WriterTurn, on base: Base) -> [Promise]? {
        guard base.generation == generation else { return nil }
        assert(turn.head.sequence >= snapshot.sequence, "a turn goes forward")
        snapshot = turn.head
        abandoned = []
        var released: [Promise] = []
        for note in turn.notes {
            switch note.what {
            case .join(let intent, let request):
                if joined[intent, default: []].count < Self.joinLimit {
                    joined[intent, default: []].append(request)
                } else {
                    hold(.answer(request, Self.tooManyRepeats), for: note, &released)
                }
            case .promise(let promise):
                hold(promise, for: note, &released)
                guard case .ended(let intent) = promise else { continue }
                for request in joined.removeValue(forKey: intent) ?? [] {
                    hold(.retry(request), for: note, &released)
                }
            }
        }
        return released
    }

    private static let tooManyRepeats = Outcome.refused([
        ExecutionError(
            "Too many requests are waiting for the answer to this mutation; send it again later.",
            code: .overloaded)
    ])

    private mutating func hold(
        _ promise: Promise, for note: WriterTurn.Note, _ released: inout [Promise]
    ) {
        if note.needs <= durable.sequence {
            released.append(promise)
        } else {
            assert(waiting.last.map { $0.sequence <= note.sequence } ?? true, "invariant 2")
            waiting.append((note.sequence, promise))
        }
    }

    /// Everything up to a state is durable.
    /// - Returns: what has waited for it, in order.
    mutating func reach(_ snapshot: Snapshot) -> [Promise] {
        assert(snapshot.sequence >= durable.sequence, "what is durable stays so")
        durable = snapshot
        var released: [Promise] = []
        while let first = waiting.first, first.sequence <= snapshot.sequence {
            released.append(first.promise)
            _ = waiting.popFirst()
        }
        return released
    }

    /// What was appended on a base could not be made durable: the head is the durable one again.
    /// - Returns: those whose mutations failed with it. Empty when it was discarded before.
    mutating func discard(_ base: Base) -> [MutationRequest] {
        guard base.generation == generation else { return [] }
        generation += 1
        snapshot = durable
        var failed: [MutationRequest] = []
        while let promise = waiting.popFirst()?.promise {
            switch promise {
            case .answer(let request, _), .retry(let request): failed.append(request)
            case .start(let ongoing): failed.append(ongoing.request)
            case .ended(let intent): abandoned.append(intent)
            }
        }
        // With an intent that never came to be, those that have joined it fail, too.
        for intent in joined.keys.sorted() where intent > durable.sequence {
            failed += joined.removeValue(forKey: intent) ?? []
        }
        return failed
    }
}
