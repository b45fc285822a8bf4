// The library's own two functions to the letter of what they do, compiled here, so that their call of
// swift_continuation_await goes to the one in tsan-swift.c. Inside the library it cannot be replaced.

@_silgen_name("$ss23withCheckedContinuation9isolation8function_xScA_pSgYi_SSyScCyxs5NeverOGXEtYalF")
public func checkedContinuation<Value>(
    isolation: isolated (any Actor)?, function: String,
    _ body: (CheckedContinuation<Value, Never>) -> Void
) async -> sending Value {
    await withUnsafeContinuation {
        body(CheckedContinuation(continuation: $0, function: function))
    }
}

@_silgen_name(
    "$ss31withCheckedThrowingContinuation9isolation8function_xScA_pSgYi_SSyScCyxs5Error_pGXEtYaKlF")
public func checkedThrowingContinuation<Value>(
    isolation: isolated (any Actor)?, function: String,
    _ body: (CheckedContinuation<Value, any Error>) -> Void
) async throws -> sending Value {
    try await withUnsafeThrowingContinuation {
        body(CheckedContinuation(continuation: $0, function: function))
    }
}
