import Threads

/// What the loops of one server have in common: how many connections each of them has, and the limits on all of them.
final class ServerLoad: Sendable {
    /// Where a new connection goes.
    struct Place: Equatable {
        let loop: Int
        /// There are too many: whatever it asks for, it is told so.
        let isRefused: Bool
    }

    private struct Counts {
        var connections: [Int]
        var total = 0
        var compressed = 0
    }

    private let limits: HTTPServer.Limits
    private let counts: Lock<Counts>

    init(loops: Int, _ limits: HTTPServer.Limits) {
        self.limits = limits
        counts = Lock(Counts(connections: Array(repeating: 0, count: loops)))
    }

    /// A place for one more connection, on the loop that has the fewest; nil when it can't even be refused.
    func take() -> Place? {
        counts.withLock { counts in
            guard counts.total < limits.connections + limits.refusals,
                let loop = counts.connections.indices.min(by: {
                    counts.connections[$0] < counts.connections[$1]
                })
            else { return nil }
            defer {
                counts.connections[loop] += 1
                counts.total += 1
            }
            return Place(loop: loop, isRefused: counts.total >= limits.connections)
        }
    }

    /// A connection of that loop is gone.
    func leave(loop: Int) {
        counts.withLock { counts in
            counts.connections[loop] -= 1
            counts.total -= 1
        }
    }

    /// Whether one more connection may use compression; it is counted if so.
    func takeCompression() -> Bool {
        counts.withLock { counts in
            if counts.compressed >= limits.compressedConnections { return false }
            counts.compressed += 1
            return true
        }
    }

    func leaveCompression() { counts.withLock { $0.compressed -= 1 } }
}
