import RelayArtifacts
import Threads

/// Counts the executions in progress of each request.
final class OperationTracker: Sendable {
    private struct Executions {
        var count = 0
        /// One of them has had a whole response, and goes on.
        var isAnswered = false
    }

    private let active = Lock<[RequestDescriptor: Executions]>([:])

    func begin(_ request: RequestDescriptor) {
        active.withLock { $0[request, default: Executions()].count += 1 }
    }

    func noteAnswered(_ request: RequestDescriptor) {
        active.withLock { $0[request]?.isAnswered = true }
    }

    func end(_ request: RequestDescriptor) {
        active.withLock { active in
            guard let count = active[request]?.count else { return }
            if count > 1 { active[request]?.count = count - 1 } else { active[request] = nil }
        }
    }

    func isActive(_ request: RequestDescriptor) -> Bool {
        active.withLock { $0[request] != nil }
    }

    /// Whether a live query has its own stream: it resumes or restarts. Of one whose text only the server has, that is
    /// known once it goes on after its answer.
    func isFollowed(_ request: RequestDescriptor) -> Bool {
        guard let executions = active.withLock({ $0[request] }) else { return false }
        return request.node.params.isLive ?? executions.isAnswered
    }

    /// The request in progress that a network knows by these.
    func request(_ parameters: RequestParameters, _ variables: VariableData) -> RequestDescriptor? {
        active.withLock { active in
            active.keys.first { $0.variables == variables && $0.node.params == parameters }
        }
    }
}
