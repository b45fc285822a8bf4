import RelayArtifacts
import Threads

/// Counts the executions in progress of each request.
final class OperationTracker: Sendable {
    private let active = Lock<[RequestDescriptor: Int]>([:])

    func begin(_ request: RequestDescriptor) {
        active.withLock { $0[request, default: 0] += 1 }
    }

    func end(_ request: RequestDescriptor) {
        active.withLock { active in
            let count = active[request, default: 0] - 1
            active[request] = count > 0 ? count : nil
        }
    }

    func isActive(_ request: RequestDescriptor) -> Bool {
        active.withLock { $0[request] != nil }
    }

    /// The request in progress that a network knows by these.
    func request(_ parameters: RequestParameters, _ variables: VariableData) -> RequestDescriptor? {
        active.withLock { active in
            active.keys.first { $0.variables == variables && $0.node.params == parameters }
        }
    }
}
