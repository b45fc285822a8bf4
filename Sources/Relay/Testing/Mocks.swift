import Foundation
import RelayArtifacts
import Threads

/// Responses by operation name and variables.
final class Mocks: Sendable {
    private struct Key: Hashable {
        let operation: String
        let variables: VariableData
    }

    private let responses = Lock<[Key: Data]>([:])

    func set(_ operation: String, _ variables: VariableData, _ response: Data) {
        responses.withLock { $0[Key(operation: operation, variables: variables)] = response }
    }

    func response(_ operation: String, _ variables: VariableData) -> Data? {
        responses.withLock { $0[Key(operation: operation, variables: variables)] }
    }
}
