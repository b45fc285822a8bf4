import RelayJSON
import Threads

/// Mutations that were taken and are not answered, wherever they are: in the writer's queue, behind an event
/// that is on its way to the disk, at a handler that waits, behind the first request of the same id.
///
/// Bounded by number and by bytes, so that a disk or a handler that hangs holds no more than that.
final class MutationsInProgress: Sendable {
    /// Why a mutation is not taken.
    enum Refusal {
        /// There are too many, or they are too large.
        case full
        /// None is taken any more.
        case closed
    }

    private struct State {
        var count = 0
        var byteCount = 0
        var isClosed = false
    }

    private let countLimit: Int
    private let byteLimit: Int
    private let state = Lock(State())

    /// - Parameters:
    ///   - countLimit: mutations that may be in progress.
    ///   - byteLimit: bytes of requests at which no other is taken.
    init(countLimit: Int, byteLimit: Int) {
        self.countLimit = countLimit
        self.byteLimit = byteLimit
    }

    var isEmpty: Bool { state.withLock { $0.count == 0 } }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Takes no others. When there are none then, there will be none.
    func close() { state.withLock { $0.isClosed = true } }

    /// Counts a mutation, unless it is refused.
    /// - Parameter byteCount: what its request takes, about.
    func begin(_ byteCount: Int) -> Refusal? {
        state.withLock { state in
            if state.isClosed { return .closed }
            guard state.count < countLimit, state.byteCount < byteLimit else { return .full }
            state.count += 1
            state.byteCount += byteCount
            return nil
        }
    }

    /// A mutation that was taken has been answered.
    func end(_ byteCount: Int) {
        state.withLock { state in
            assert(state.count > 0, "what is answered was taken")
            state.count -= 1
            state.byteCount -= byteCount
        }
    }
}

extension GraphQLRequest {
    /// About what it takes in memory. A document counts each time: those that are not asked for again are
    /// not shared.
    var approximateByteCount: Int {
        1_024 + query.utf8.count + JSONValue.object(variables).approximateByteCount
            + JSONValue.object(extensions).approximateByteCount
    }
}

extension JSONValue {
    /// About what it takes in memory, which is much more than its text where there are many small values.
    private static let valueBytes = 32

    var approximateByteCount: Int {
        switch self {
        case .null, .bool, .int, .double: Self.valueBytes
        case .string(let text): Self.valueBytes + text.utf8.count
        case .array(let elements):
            elements.reduce(Self.valueBytes) { $0 + $1.approximateByteCount }
        case .object(let object):
            object.members.reduce(Self.valueBytes) {
                $0 + Self.valueBytes + $1.key.utf8.count + $1.value.approximateByteCount
            }
        }
    }
}
