import RelayJSON
import Threads

/// Mutations accepted but not answered, wherever they are: in the writer's queue, waiting for an event in
/// flight to the disk, with a handler that waits, or behind the first request with the same id.
///
/// Bounded by number and by bytes, so that a hanging disk or handler holds no more than that.
final class MutationsInProgress: Sendable {
    /// Why a mutation is refused.
    enum Refusal {
        /// There are too many, or they are too large in total.
        case full
        /// No more mutations are accepted.
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
    ///   - countLimit: on mutations in progress.
    ///   - byteLimit: on the bytes of their requests; once it is reached, no more are accepted.
    init(countLimit: Int, byteLimit: Int) {
        self.countLimit = countLimit
        self.byteLimit = byteLimit
    }

    var isEmpty: Bool { state.withLock { $0.count == 0 } }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Refuses new mutations from now on. Once it is empty after this, it stays empty.
    func close() { state.withLock { $0.isClosed = true } }

    /// Counts a mutation, unless it is refused.
    /// - Parameter byteCount: the approximate size of its request.
    func begin(_ byteCount: Int) -> Refusal? {
        state.withLock { state in
            if state.isClosed { return .closed }
            guard state.count < countLimit, state.byteCount < byteLimit else { return .full }
            state.count += 1
            state.byteCount += byteCount
            return nil
        }
    }

    /// An accepted mutation has been answered.
    func end(_ byteCount: Int) {
        state.withLock { state in
            assert(state.count > 0, "what is answered was taken")
            state.count -= 1
            state.byteCount -= byteCount
        }
    }
}

extension GraphQLRequest {
    /// Approximate size in memory. A document counts every time: one that is not requested again is not
    /// shared.
    var approximateByteCount: Int {
        1_024 + query.utf8.count + JSONValue.object(variables).approximateByteCount
            + JSONValue.object(extensions).approximateByteCount
    }
}

extension JSONValue {
    /// Approximate size in memory, which is much larger than the text if there are many small values.
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
