import Dispatch

/// Runs what blocks, for as long as a disk takes, on a thread of its own, not on one of the few that everything
/// else of the process shares.
/// - Throws: what the body throws.
package func onThreadOfItsOwn<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { done in
        DispatchQueue(label: "relay.blocking").async { done.resume(with: Result { try body() }) }
    }
}
