import GraphQLExecution
@_spi(Rooms) import RelayRecords
@_spi(Rooms) import Threads

/// The newest state, durable or not, and everything waiting for its events to become durable: a state machine
/// without threads, locks or disk.
///
/// All outcomes are released in one order: results, repeated answers, and refusals decided here. Each waits
/// for the sequence at which it was decided. When that is durable, it is released. When the state it was
/// decided on is discarded, it fails along with everything after the durable head.
///
/// Invariants:
/// 1. `durable.sequence <= snapshot.sequence`, and everything that waits is after `durable`.
/// 2. What waits is ordered by sequence.
/// 3. A turn made on a head that has since been discarded is not accepted.
package struct PendingHead {
    /// What happens once an event is durable.
    enum Promise: Sendable {
        case answer(MutationRequest, Outcome)
        /// A mutation's handler starts, because its intent is in the log.
        case start(OngoingMutation)
        /// A repeated mutation is tried again, because the first one, whose handler waited, has ended.
        case retry(MutationRequest)
        /// A mutation that waited has ended; this is the sequence of its intent.
        case ended(UInt64)
    }

    /// The base of a turn.
    struct Base: Sendable {
        let snapshot: Snapshot
        let abandoned: [Abandoned]
        fileprivate let generation: Int
    }

    /// A mutation that nobody works on, and that is not ended.
    struct Abandoned: Sendable {
        let intent: UInt64
        /// Why it is revoked.
        let reason: String

        fileprivate static func unwritten(_ intent: UInt64) -> Abandoned {
            Abandoned(intent: intent, reason: "The response could not be written.")
        }

        fileprivate static func leftBehind(_ intent: UInt64) -> Abandoned {
            Abandoned(
                intent: intent, reason: "Another server took over while its handler waited.")
        }
    }

    private(set) var snapshot: Snapshot
    private(set) var durable: Snapshot
    /// Incremented when the head is discarded.
    private var generation = 0
    private var waiting = FIFO<(sequence: UInt64, promise: Promise)>()
    /// Repeated mutations whose first request is waiting for its handler, by the sequence of its intent.
    private var joined: [UInt64: [MutationRequest]] = [:]
    private var abandoned: [Abandoned] = []
    /// The number of repeats that may wait for one handler, so that clients that keep repeating leave room
    /// for others.
    package static let joinLimit = 16

    init(_ snapshot: Snapshot) {
        self.snapshot = snapshot
        durable = snapshot
    }

    var base: Base { Base(snapshot: snapshot, abandoned: abandoned, generation: generation) }

    /// Whether a base has not been discarded.
    func isCurrent(_ base: Base) -> Bool { base.generation == generation }

    /// Accepts a turn.
    /// - Returns: what need not wait; nil if the base was discarded, so that the turn is void and none of it
    ///   may be reported.
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
                    var request = request
                    request.isRepeat = true
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

    /// Everything up to a state is now durable.
    /// - Returns: what was waiting for it, in order.
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

    /// This server appends from now on, behind what others have appended.
    /// - Parameter working: intents whose handlers work here. The others are abandoned.
    /// - Returns: the requests that were made on another state, which fail; there are none if nothing was on its way.
    mutating func takeOver(
        from snapshot: Snapshot, working: Set<UInt64>
    ) -> [MutationRequest] {
        let failed = discard(base)
        (self.snapshot, durable) = (snapshot, snapshot)
        abandoned = snapshot.pending.map(\.sequence).filter { !working.contains($0) }
            .map(Abandoned.leftBehind)
        return failed
    }

    /// - Returns: the repeated mutations that wait for a handler; they no longer do.
    mutating func releaseJoined() -> [MutationRequest] {
        defer { joined = [:] }
        return joined.sorted { $0.key < $1.key }.flatMap(\.value)
    }

    /// An append on this base could not be made durable: the head goes back to the durable state.
    /// - Returns: the requests that failed with it; empty if the base was already discarded.
    mutating func discard(_ base: Base) -> [MutationRequest] {
        guard base.generation == generation else { return [] }
        generation += 1
        snapshot = durable
        var failed: [MutationRequest] = []
        while let promise = waiting.popFirst()?.promise {
            switch promise {
            case .answer(let request, _), .retry(let request): failed.append(request)
            case .start(let ongoing): failed.append(ongoing.request)
            case .ended(let intent): abandoned.append(.unwritten(intent))
            }
        }
        // If an intent never became durable, the requests that joined it fail too.
        for intent in joined.keys.sorted() where intent > durable.sequence {
            failed += joined.removeValue(forKey: intent) ?? []
        }
        return failed
    }
}
