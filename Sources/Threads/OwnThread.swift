import Dispatch

/// Runs blocking work, such as disk access, on a dedicated thread instead of one of the few that the rest of
/// the process shares.
/// - Throws: what the body throws.
package func onThreadOfItsOwn<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { done in
        DispatchQueue(label: "relay.blocking").async { done.resume(with: Result { try body() }) }
    }
}
