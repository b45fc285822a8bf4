import RelayLink
import Threads

/// Calls a token provider for all requests of a network: one call is in flight at a time, and a request that needs a
/// token meanwhile shares it. So a provider that never answers has one call, not one for each request. A call that
/// takes longer than `patience` is given up, and the provider is called again.
final class TokenCalls: Sendable {
    private struct State {
        /// Until the provider has returned, even if nothing waits for it any more.
        var underWay: TokenCall?
    }

    private let state = Lock(State())
    private let provider: TokenProvider
    private let patience: Duration

    /// - Parameter patience: how long a call may take before the next request starts another.
    init(_ provider: TokenProvider, patience: Duration = .seconds(300)) {
        self.provider = provider
        self.patience = patience
    }

    /// The call that a request is waiting for, unless it was given up or takes too long; otherwise one to join.
    func goOn(with call: TokenCall?, isRefused: Bool) -> TokenCall {
        if let call, !call.isAbandoned, !call.isOlder(than: patience) { return call }
        return join(isRefused: isRefused)
    }

    /// The call in flight, or a new one. A request that joins it either leaves it or gets its answer.
    func join(isRefused: Bool) -> TokenCall {
        let (call, late) = state.withLock { state -> (TokenCall, TokenCall?) in
            let late = state.underWay.flatMap { $0.isOlder(than: patience) ? $0 : nil }
            if let call = state.underWay, late == nil {
                call.join()
                return (call, nil)
            }
            let call = TokenCall(isRefused: isRefused)
            state.underWay = call
            call.begin(provider) { [unowned call] in
                self.state.withLock { if $0.underWay === call { $0.underWay = nil } }
            }
            return (call, late)
        }
        late?.abandon()
        return call
    }
}

/// One call of a token provider.
final class TokenCall: Sendable {
    typealias Answer = Result<String?, any Error>

    private struct State {
        var answer: Answer?
        var task: Task<Void, Never>?
        /// Requests that wait for the answer, or will use it for their next attempt.
        var interestedCount = 1
        var isAbandoned = false
        var waiters: [ObjectIdentifier: FirstValue<Answer?>] = [:]
    }

    /// Whether the provider was told that the last token was refused.
    let isRefused: Bool
    private let began = ContinuousClock.now
    private let state = Lock(State())

    fileprivate init(isRefused: Bool) { self.isRefused = isRefused }

    /// Whether the call was cancelled, because everyone who wanted its answer was, or because it took too long.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// - Parameter onReturn: called before the answer is given.
    fileprivate func begin(_ provider: TokenProvider, onReturn: @escaping @Sendable () -> Void) {
        let task = Task {
            let answer: Answer
            do {
                answer = .success(try await provider.token(isRefused))
            } catch {
                answer = .failure(error)
            }
            onReturn()
            end(answer)
        }
        state.withLock { if $0.answer == nil { $0.task = task } }
    }

    fileprivate func isOlder(than age: Duration) -> Bool { ContinuousClock.now - began > age }

    /// Nothing waits for it any longer, even if the provider ignores the cancellation.
    fileprivate func abandon() {
        let task = state.withLock { state in
            state.isAbandoned = true
            return state.task
        }
        task?.cancel()
    }

    fileprivate func join() { state.withLock { $0.interestedCount += 1 } }

    /// Waits for the answer; may be called any number of times.
    /// - Returns: nil if there is none in time, or the task is cancelled.
    func answer(within limit: Duration) async -> Answer? {
        let waiter = FirstValue<Answer?>()
        let answer = state.withLock { state in
            if state.answer == nil { state.waiters[ObjectIdentifier(waiter)] = waiter }
            return state.answer
        }
        if let answer { return answer }
        let timer = Task {
            // Cancelled once the answer is there.
            if (try? await Task.sleep(for: limit)) != nil { waiter.give(nil) }
        }
        defer {
            timer.cancel()
            state.withLock { _ = $0.waiters.removeValue(forKey: ObjectIdentifier(waiter)) }
        }
        return await waiter.value(ifCancelled: nil)
    }

    /// A request no longer wants the answer.
    /// - Parameter isCancelled: it was cancelled. If it was the last one, the call is cancelled too; a call that its
    ///   waiters timed out on goes on, for requests to come.
    func leave(isCancelled: Bool) {
        let isLast = state.withLock { state in
            state.interestedCount -= 1
            return state.interestedCount == 0 && state.answer == nil
        }
        if isLast, isCancelled { abandon() }
    }

    private func end(_ answer: Answer) {
        let waiters = state.withLock { state in
            state.answer = answer
            state.task = nil
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.give(answer) }
    }
}
