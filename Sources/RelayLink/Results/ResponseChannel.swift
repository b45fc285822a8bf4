@_spi(Rooms) import Threads

/// Responses on their way from the network to their reader: a bounded buffer between the network's
/// thread and one task.
package final class ResponseChannel: Sendable {
    private struct State {
        var responses = FIFO<[UInt8]>()
        /// Of those.
        var byteCount = 0
        var end: Result<Void, TransportError>?
        var waiting: CheckedContinuation<[UInt8]?, any Error>?
        var isFull = false
        /// Called for each response and for the end, in order.
        var listener: (@Sendable () -> Void)?
    }

    /// What is available to the reader.
    package enum Next: Sendable {
        case response([UInt8], wasFull: Bool)
        case end(Result<Void, TransportError>)
        case waits
    }

    private let capacity: Int
    private let byteCapacity: Int
    private let state = Lock(State())
    /// Called when there is room again.
    private let onDrained: @Sendable () -> Void

    /// - Parameters:
    ///   - capacity: how many responses may wait, and how many bytes they may have, until it is full.
    package init(
        capacity: Int, byteCapacity: Int = .max, onDrained: @escaping @Sendable () -> Void
    ) {
        self.capacity = max(1, capacity)
        self.byteCapacity = max(1, byteCapacity)
        self.onDrained = onDrained
    }

    // MARK: The network's side

    /// Adds a response, even beyond the capacity, because it has already arrived.
    /// - Returns: whether the channel is full.
    package func push(_ response: [UInt8]) -> Bool {
        let (waiting, isFull, listener) = state.withLock {
            state -> (
                CheckedContinuation<[UInt8]?, any Error>?, Bool, (@Sendable () -> Void)?
            ) in
            if state.end != nil { return (nil, false, nil) }
            if let waiting = state.waiting {
                state.waiting = nil
                return (waiting, false, nil)
            }
            state.responses.append(response)
            state.byteCount += response.count
            state.isFull = state.responses.count >= capacity || state.byteCount >= byteCapacity
            return (nil, state.isFull, state.listener)
        }
        waiting?.resume(returning: response)
        listener?()
        return isFull
    }

    /// No response follows. Those that have not been read still can be.
    package func finish(_ error: TransportError?) {
        let (waiting, listener) = state.withLock {
            state -> (CheckedContinuation<[UInt8]?, any Error>?, (@Sendable () -> Void)?) in
            if state.end != nil { return (nil, nil) }
            // An error is reported once: to the waiting reader, or else to the next one.
            if let error, state.waiting == nil {
                state.end = .failure(error)
            } else {
                state.end = .success(())
            }
            defer {
                state.waiting = nil
                state.listener = nil
            }
            return (state.waiting, state.listener)
        }
        if let error { waiting?.resume(throwing: error) } else { waiting?.resume(returning: nil) }
        listener?()
    }

    // MARK: The reader's side

    /// The next response; nil at the end, or after `finish`.
    package func next() async throws -> [UInt8]? {
        try await withCheckedThrowingContinuation { continuation in
            let next = state.withLock { state in
                let next = take(&state)
                if case .waits = next { state.waiting = continuation }
                return next
            }
            switch next {
            case .response(let response, let wasFull):
                if wasFull { onDrained() }
                continuation.resume(returning: response)
            case .end(let end): continuation.resume(with: end.map { nil })
            case .waits: break
            }
        }
    }

    /// What is available now, without waiting.
    package func poll() -> Next {
        let next = state.withLock { take(&$0) }
        if case .response(_, wasFull: true) = next { onDrained() }
        return next
    }

    /// The end, if there is nothing left to read before it.
    package func pollEnd() -> Next {
        state.withLock { state in
            state.responses.count > 0 || state.end == nil ? .waits : take(&state)
        }
    }

    /// Calls the listener for each response and for the end, including those that are already there.
    package func listen(_ listener: @escaping @Sendable () -> Void) {
        let waitingCount = state.withLock { state in
            if state.end == nil { state.listener = listener }
            return state.responses.count + (state.end == nil ? 0 : 1)
        }
        for _ in 0..<waitingCount { listener() }
    }

    private func take(_ state: inout State) -> Next {
        if let response = state.responses.popFirst() {
            state.byteCount -= response.count
            let wasFull =
                state.isFull && state.responses.count <= capacity / 2
                && state.byteCount <= byteCapacity / 2
            if wasFull { state.isFull = false }
            return .response(response, wasFull: wasFull)
        }
        guard let end = state.end else { return .waits }
        state.end = .success(())
        return .end(end)
    }
}
