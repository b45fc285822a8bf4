import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Signals to this process, delivered on a dedicated queue.
///
/// A system signal handler, installed at once, writes the signal's number into a pipe. Dispatch's own signal
/// sources are registered some time later, and signals that arrive in between are lost or end the process.
package enum SignalWatch {
    package typealias Handler = @Sendable (_ signal: Int32) -> Void

    private struct State {
        var handlers: [Int32: [Handler]] = [:]
        /// Reads the pipe. nil before the first watch begins.
        var source: (any DispatchSourceRead)?
    }

    private static let state = Lock(State())

    /// Once this returns, the signals no longer have their default effect, and `handler` is called for each,
    /// after handlers registered earlier. Simultaneous signals of the same number may be reported once.
    ///
    /// Returns false, and changes nothing, if no descriptor is available.
    package static func begin(_ signals: [Int32], _ handler: @escaping Handler) -> Bool {
        state.withLock { state in
            if state.source == nil { state.source = makeSource() }
            if state.source == nil { return false }
            for signal in signals {
                state.handlers[signal, default: []].append(handler)
                install(signal)
            }
            return true
        }
    }

    private static func install(_ signal: Int32) {
        var action = sigaction()
        let handler: @convention(c) (Int32) -> Void = { number in
            // Only what a signal handler may do: signal-safety(7).
            let error = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = write(signalPipe, &byte, 1)
            errno = error
        }
        #if canImport(Darwin)
            action.__sigaction_u.__sa_handler = handler
        #elseif canImport(Musl)
            action.__sa_handler.sa_handler = handler
        #else
            action.__sigaction_handler.sa_handler = handler
        #endif
        action.sa_flags = Int32(SA_RESTART)
        sigemptyset(&action.sa_mask)
        sigaction(signal, &action, nil)
    }

    private static func makeSource() -> (any DispatchSourceRead)? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            // What does not fit a full pipe has been reported often enough.
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        let input = ends[0]
        signalPipe = ends[1]
        let source = DispatchSource.makeReadSource(
            fileDescriptor: input, queue: DispatchQueue(label: "relay.signals"))
        source.setEventHandler { tell(from: input) }
        source.resume()
        return source
    }

    private static func tell(from input: Int32) {
        var byte: UInt8 = 0
        while read(input, &byte, 1) == 1 {
            let signal = Int32(byte)
            for handler in state.withLock({ $0.handlers[signal] ?? [] }) { handler(signal) }
        }
    }
}

/// Where signals are written. Set once, before there is a handler that could read it.
nonisolated(unsafe) private var signalPipe: Int32 = -1
