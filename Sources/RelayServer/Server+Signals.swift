import Logging
import Threads

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension Server {
    /// Serves until SIGTERM or SIGINT comes, then stops in order. For the `main` of a program.
    ///
    /// - Parameter whenReady: called once, when a signal stops the server in order and no longer ends the process at
    ///   once. Notify a supervisor that waits for the program, and may stop it again, here.
    public func stopOnSignal(whenReady: () -> Void = {}) async {
        let (signals, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingOldest(1))
        if !SignalWatch.begin([SIGTERM, SIGINT], { _ in continuation.yield() }) {
            logger.warning(
                "Signals end this process at once: no file descriptor is left to handle them.")
        }
        whenReady()
        for await _ in signals { break }
        await stop()
    }
}
