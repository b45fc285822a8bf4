#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Ends the waits of connections, from any thread and for good.
///
/// Connections that were opened with it fail with `abandoned` from then on, at once where they wait.
package final class Abandonment: Sendable {
    /// Readable once it is abandoned.
    let descriptor: Int32
    private let end: Int32

    /// - Throws: `notConnected` if the process has no descriptors left.
    package init() throws(PostgreSQLError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw PostgreSQLError(
                .notConnected,
                "Could not make a pipe: \(String(cString: strerror(errno))). Nothing was connected."
            )
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        descriptor = ends[0]
        end = ends[1]
    }

    deinit {
        close(descriptor)
        close(end)
    }

    package func abandon() {
        var byte: UInt8 = 1
        // A full pipe has been written to often enough. Nobody reads it: it stays readable.
        _ = write(end, &byte, 1)
    }

    package var isAbandoned: Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&wanted, 1, 0) == 1
    }

    /// Waits for a time, or until it is abandoned.
    /// - Returns: false if it is abandoned.
    package func sleep(for time: Duration) -> Bool {
        let end = ContinuousClock.now + time
        while !isAbandoned {
            let left = end - .now
            guard left > .zero else { return true }
            var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&wanted, 1, left.pollMilliseconds)
        }
        return false
    }
}

extension Duration {
    /// For poll(2): whole milliseconds, at least one, so that a wait does not spin.
    var pollMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
        guard !milliseconds.overflow else { return .max }
        let whole = milliseconds.partialValue + attoseconds / 1_000_000_000_000_000
        return Int32(clamping: max(1, whole))
    }
}
