import Foundation
import RelayArtifacts

/// Counts the executions of each request that have begun and not ended.
final class OperationTracker: @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    private let lock = NSLock()
    private var active: [RequestDescriptor: Int] = [:]

    func begin(_ request: RequestDescriptor) {
        lock.withLock { active[request, default: 0] += 1 }
    }

    func end(_ request: RequestDescriptor) {
        lock.withLock {
            let count = active[request, default: 0] - 1
            active[request] = count > 0 ? count : nil
        }
    }

    func isActive(_ request: RequestDescriptor) -> Bool {
        lock.withLock { active[request] != nil }
    }

    /// The request being executed that a network knows by these.
    func request(_ parameters: RequestParameters, _ variables: VariableData) -> RequestDescriptor? {
        lock.withLock {
            active.keys.first { $0.variables == variables && $0.node.params == parameters }
        }
    }
}
