import Synchronization

/// The token of one request, from try to try.
struct RequestToken {
    private(set) var value: String?
    private var isWanted = true
    private var wasRefused = false
    /// The provider is busy.
    private var asking: TokenAsking?

    /// The server does not take it.
    mutating func isRefused() {
        isWanted = true
        wasRefused = true
    }

    /// Has the token that the next try needs.
    /// - Parameter limit: how long the provider may take. One that takes longer is not asked again: its late answer is
    ///   used at the next try.
    /// - Returns: why there is none.
    mutating func fetch(
        from provider: TokenProvider?, within limit: Duration
    ) async -> TransportError? {
        guard isWanted, let provider else { return nil }
        let asking = asking ?? TokenAsking(provider, isRefused: wasRefused)
        self.asking = asking
        guard let answer = await asking.answer(within: limit) else {
            return LinkMachine.noTokenInTime(limit)
        }
        self.asking = nil
        switch answer {
        case .success(let token):
            value = token
            isWanted = false
            return nil
        case .failure(let error):
            return LinkMachine.noToken(error)
        }
    }
}

/// One call of a provider of tokens, whose answer is waited for by one at a time.
private final class TokenAsking: Sendable {
    typealias Answer = Result<String?, any Error>

    private struct State {
        var answer: Answer?
        var waiter: CheckedContinuation<Answer?, Never>?
        var timer: Task<Void, Never>?
    }

    private let state = Mutex(State())

    init(_ provider: TokenProvider, isRefused: Bool) {
        Task {
            do {
                end(.success(try await provider.token(isRefused)))
            } catch {
                end(.failure(error))
            }
        }
    }

    /// - Returns: nil when there is no answer in time.
    func answer(within limit: Duration) async -> Answer? {
        await withCheckedContinuation { waiter in
            let answer = state.withLock { state -> Answer? in
                guard state.answer == nil else { return state.answer }
                state.waiter = waiter
                state.timer = Task {
                    // Cancelled when the answer has come.
                    guard (try? await Task.sleep(for: limit)) != nil else { return }
                    self.giveUp()
                }
                return nil
            }
            if let answer { waiter.resume(returning: answer) }
        }
    }

    private func end(_ answer: Answer) {
        let (waiter, timer) = state.withLock { state in
            state.answer = answer
            defer { (state.waiter, state.timer) = (nil, nil) }
            return (state.waiter, state.timer)
        }
        timer?.cancel()
        waiter?.resume(returning: answer)
    }

    private func giveUp() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: nil)
    }
}
