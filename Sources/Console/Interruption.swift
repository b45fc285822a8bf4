import Threads

#if canImport(Glibc)
    package import Glibc
#elseif canImport(Musl)
    package import Musl
#else
    package import Darwin
#endif

/// SIGINT and SIGTERM. A command that only reads ends at once, whatever it is at, with the exit status that
/// shells give the signal (130, 143), and leaves nothing behind; one that has to shut down gracefully takes
/// the signals itself.
package enum Interruption {
    private struct State {
        var isArmed = false
        var taker: (@Sendable (_ signal: Int32) -> Void)?
        /// Signals wait for a taker.
        var isHolding = false
        var held: Int32?
        var cleanups: [UInt64: @Sendable () -> Void] = [:]
        var nextKey: UInt64 = 0
    }

    private static let state = Lock(State())

    /// From now on the signals come here.
    package static func arm() {
        let isFirst = state.withLock { state in
            defer { state.isArmed = true }
            return !state.isArmed
        }
        if isFirst, !SignalWatch.begin([SIGINT, SIGTERM], raise) {
            complain(
                "warning: no file descriptor is left to handle signals; a signal ends this at once")
        }
    }

    /// From now on the signals wait until they are taken. For a command that has to shut down gracefully, as
    /// soon as it runs; what comes before `main` ends the process all the same.
    package static func hold() {
        state.withLock { $0.isHolding = true }
        arm()
    }

    /// From now on the signals end nothing by themselves.
    package static func take(by taker: @escaping @Sendable (_ signal: Int32) -> Void) {
        arm()
        let held = state.withLock { state in
            state.taker = taker
            state.isHolding = false
            defer { state.held = nil }
            return state.held
        }
        if let held { taker(held) }
    }

    /// Has something done if a signal ends the process before the scope is left.
    package static func cleaning<Result>(
        _ cleanup: @escaping @Sendable () -> Void, _ body: () throws -> Result
    ) rethrows -> Result {
        let key = state.withLock { state in
            state.nextKey += 1
            state.cleanups[state.nextKey] = cleanup
            return state.nextKey
        }
        defer { state.withLock { $0.cleanups[key] = nil } }
        return try body()
    }

    /// Starts a process that has to be ended if a signal ends this one before the scope is left. No signal is
    /// heard between the start and the moment from which it would end the process.
    package static func ending<Result>(
        _ end: @escaping @Sendable (pid_t) -> Void, start: () throws -> pid_t,
        _ body: (pid_t) throws -> Result
    ) throws -> Result {
        let (process, key) = try state.withLock { state in
            let process = try start()
            state.nextKey += 1
            state.cleanups[state.nextKey] = { end(process) }
            return (process, state.nextKey)
        }
        defer { state.withLock { $0.cleanups[key] = nil } }
        return try body(process)
    }

    /// Does what the signal does.
    package static func raise(_ signal: Int32) {
        let taker: @Sendable (Int32) -> Void = state.withLock { state in
            if state.isHolding {
                state.held = state.held ?? signal
                return { _ in }
            }
            if let taker = state.taker { return taker }
            // The newest first: what was begun last ends first.
            for (_, cleanup) in state.cleanups.sorted(by: { $0.key > $1.key }) { cleanup() }
            ProgressBar.clear()
            _exit(128 + signal)
        }
        taker(signal)
    }
}
