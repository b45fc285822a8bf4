import Foundation
import RelayArtifacts

/// Responses by operation name and variables.
final class Mocks: @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    private struct Key: Hashable {
        let operation: String
        let variables: VariableData
    }

    private let lock = NSLock()
    private var responses: [Key: Data] = [:]

    func set(_ operation: String, _ variables: VariableData, _ response: Data) {
        lock.withLock { responses[Key(operation: operation, variables: variables)] = response }
    }

    func response(_ operation: String, _ variables: VariableData) -> Data? {
        lock.withLock { responses[Key(operation: operation, variables: variables)] }
    }
}
