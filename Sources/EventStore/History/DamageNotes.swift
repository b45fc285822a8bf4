package import EventLog
import Threads

/// The damage found in a history so far, by any reader.
package final class DamageNotes: Sendable {
    private let damages = Lock<[LogDamage]>([])

    /// Each damaged part once, in the order in which they were found.
    package var all: [LogDamage] { damages.withLock { $0 } }

    func note(_ found: some Sequence<LogDamage>) {
        damages.withLock { known in
            for damage in found where !known.contains(where: { $0.isSame(as: damage) }) {
                known.append(damage)
            }
        }
    }
}

extension LogDamage {
    /// Ignores the length, which may be unknown.
    fileprivate func isSame(as other: LogDamage) -> Bool {
        file == other.file && offset == other.offset
    }
}
