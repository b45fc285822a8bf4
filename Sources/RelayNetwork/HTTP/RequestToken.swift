import RelayLink

/// The token of one request, from attempt to attempt.
struct RequestToken {
    private(set) var value: String?
    private let calls: TokenCalls?
    private var isWanted = true
    private var wasRefused = false
    /// The provider is busy.
    private var call: TokenCall?

    /// - Parameter calls: nil: no token is sent.
    init(from calls: TokenCalls?) { self.calls = calls }

    /// The server rejected it.
    mutating func isRefused() {
        isWanted = true
        wasRefused = true
    }

    /// Gets the token for the next attempt.
    /// - Parameter limit: how long the provider may take. One that takes longer is not called again: its late answer
    ///   is used for the next attempt.
    /// - Returns: the error if there is none. Meaningless if the task is cancelled.
    mutating func fetch(within limit: Duration) async -> TransportError? {
        guard isWanted, let calls else { return nil }
        while true {
            let call = calls.goOn(with: call, isRefused: wasRefused)
            self.call = call
            guard let answer = await call.answer(within: limit) else {
                return TransportError.noTokenInTime(limit)
            }
            self.call = nil
            switch answer {
            // Those who had asked were cancelled, and the call with them.
            case .failure where call.isAbandoned && !Task.isCancelled: continue
            case .success(nil) where call.isAbandoned && !Task.isCancelled: continue
            // It was requested before this one was rejected.
            case .success(let token) where wasRefused && !call.isRefused && token == value: continue
            case .success(let token):
                value = token
                isWanted = false
                return nil
            case .failure(let error): return TransportError.noToken(error)
            }
        }
    }

    /// The request has ended.
    mutating func leave(isCancelled: Bool) {
        call?.leave(isCancelled: isCancelled)
        call = nil
    }
}
