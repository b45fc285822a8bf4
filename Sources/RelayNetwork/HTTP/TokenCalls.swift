import Threads

/// Asks a provider of tokens for all requests of a network: one call is under way at a time, and whoever needs a token
/// meanwhile shares it. So a provider that never answers has one call, not one for each request.
final class TokenCalls: Sendable {
    private struct State {
        /// Until the provider has returned, whether or not anybody waits for it.
        var underWay: TokenCall?
        /// Somebody's token was refused while a call was under way that may bring the same one.
        var nextIsRefused = false
    }

    private let state = Lock(State())
    private let provider: TokenProvider

    init(_ provider: TokenProvider) { self.provider = provider }

    /// The call that is under way, or else a new one. Whoever joins it leaves it, or has its answer.
    func join(isRefused: Bool) -> TokenCall {
        state.withLock { state in
            if let call = state.underWay {
                if isRefused, !call.isRefused { state.nextIsRefused = true }
                call.join()
                return call
            }
            let call = TokenCall(isRefused: isRefused || state.nextIsRefused)
            state.nextIsRefused = false
            state.underWay = call
            call.begin(provider) { self.state.withLock { $0.underWay = nil } }
            return call
        }
    }
}

/// One call of a provider of tokens.
final class TokenCall: Sendable {
    typealias Answer = Result<String?, any Error>

    private struct State {
        var answer: Answer?
        var task: Task<Void, Never>?
        /// Requests that wait for the answer, or will use it at their next try.
        var interestedCount = 1
        var isAbandoned = false
        var waiters: [ObjectIdentifier: FirstValue<Answer?>] = [:]
    }

    /// Whether the provider was told that the last token was refused.
    let isRefused: Bool
    private let state = Lock(State())

    fileprivate init(isRefused: Bool) { self.isRefused = isRefused }

    /// Whether the call was cancelled, because all who wanted its answer were.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// - Parameter onReturn: called before anybody has the answer.
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

    fileprivate func join() { state.withLock { $0.interestedCount += 1 } }

    /// Waits for the answer, as often as one likes.
    /// - Returns: nil when there is none in time, or the task is cancelled.
    func answer(within limit: Duration) async -> Answer? {
        let waiter = FirstValue<Answer?>()
        let answer = state.withLock { state in
            if state.answer == nil { state.waiters[ObjectIdentifier(waiter)] = waiter }
            return state.answer
        }
        if let answer { return answer }
        let timer = Task {
            // Cancelled when the answer has come.
            if (try? await Task.sleep(for: limit)) != nil { waiter.give(nil) }
        }
        defer {
            timer.cancel()
            state.withLock { _ = $0.waiters.removeValue(forKey: ObjectIdentifier(waiter)) }
        }
        return await waiter.value(ifCancelled: nil)
    }

    /// A request does not want the answer any more.
    /// - Parameter isCancelled: it was cancelled. If it was the last one, so is the call; one that nobody waited for
    ///   long enough goes on, for those to come.
    func leave(isCancelled: Bool) {
        let task = state.withLock { state -> Task<Void, Never>? in
            state.interestedCount -= 1
            guard isCancelled, state.interestedCount == 0, state.answer == nil else { return nil }
            state.isAbandoned = true
            return state.task
        }
        task?.cancel()
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
