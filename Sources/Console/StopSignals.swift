import Threads

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Why a command that would run for ever ends: SIGTERM, SIGINT, or a failure after which it cannot continue.
package final class StopSignals: Sendable {
    package enum Reason: Sendable {
        case signal(String)
        case failure(String)
        case done
    }

    private let stream: AsyncStream<Reason>
    private let continuation: AsyncStream<Reason>.Continuation
    private let firstFailure = Lock<String?>(nil)

    /// From now on the signals no longer end the process.
    package init() {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Reason.self, bufferingPolicy: .bufferingOldest(1))
        self.stream = stream
        self.continuation = continuation
        Interruption.take { signal in
            continuation.yield(.signal(signal == SIGINT ? "SIGINT" : "SIGTERM"))
        }
    }

    /// Called, on any thread, when the command cannot continue.
    package var fail: @Sendable (String) -> Void {
        { [self] message in
            firstFailure.withLock { $0 = $0 ?? message }
            continuation.yield(.failure(message))
        }
    }

    /// Why the command could not have gone on, though it may have been told to stop before.
    package var failure: String? { firstFailure.withLock { $0 } }

    /// Something to be called, on any thread, when there is nothing left to be done.
    package var end: @Sendable () -> Void {
        { [continuation] in continuation.yield(.done) }
    }

    /// Waits for the first reason to stop.
    package func first() async -> Reason {
        for await reason in stream { return reason }
        return .signal("cancellation")
    }
}
