import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Signals to this process, heard on a queue of their own.
///
/// A handler of the operating system, set at once, writes the signal's number into a pipe. Dispatch's own signal
/// sources are registered some time later, and what comes in between is lost or ends the process.
package enum SignalWatch {
    package typealias Handler = @Sendable (_ signal: Int32) -> Void

    private struct State {
        var handlers: [Int32: [Handler]] = [:]
        /// Reads the pipe. Nil before the first watch begins.
        var source: (any DispatchSourceRead)?
    }

    private static let state = Lock(State())

    /// From when this returns the signals no longer do what they do by default, and `handler` is called for each,
    /// after those that were given earlier. Signals of one number that come at the same time may be told once.
    ///
    /// Returns false, and changes nothing, when there is no descriptor left for it.
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
            // Only what may be done in a signal handler: signal-safety(7).
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
            // What a full pipe does not take has been told often enough.
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

/// Where signals are written to. Set once, before there is a handler that could read it.
nonisolated(unsafe) private var signalPipe: Int32 = -1
