import RelayArtifacts
import Threads

/// Counts the executions in progress of each request.
final class OperationTracker: Sendable {
    private struct Executions {
        var count = 0
        /// How many of them have had a whole response, and go on.
        var answeredCount = 0
    }

    private let active = Lock<[RequestDescriptor: Executions]>([:])

    func begin(_ request: RequestDescriptor) {
        active.withLock { $0[request, default: Executions()].count += 1 }
    }

    /// One of them has had its first whole response.
    func noteAnswered(_ request: RequestDescriptor) {
        active.withLock { $0[request]?.answeredCount += 1 }
    }

    /// - Parameter wasAnswered: whether that was noted of it.
    func end(_ request: RequestDescriptor, wasAnswered: Bool = false) {
        active.withLock { active in
            guard var executions = active[request] else { return }
            executions.count -= 1
            if wasAnswered { executions.answeredCount -= 1 }
            active[request] = executions.count > 0 ? executions : nil
        }
    }

    func isActive(_ request: RequestDescriptor) -> Bool {
        active.withLock { $0[request] != nil }
    }

    /// Whether a live query has its own stream: it resumes or restarts. Of one whose text only the server has, that is
    /// known once it goes on after its answer.
    func isFollowed(_ request: RequestDescriptor) -> Bool {
        guard let executions = active.withLock({ $0[request] }) else { return false }
        return request.node.params.isLive ?? (executions.answeredCount > 0)
    }

    /// The request in progress that a network knows by these.
    func request(_ parameters: RequestParameters, _ variables: VariableData) -> RequestDescriptor? {
        active.withLock { active in
            active.keys.first { $0.variables == variables && $0.node.params == parameters }
        }
    }
}
