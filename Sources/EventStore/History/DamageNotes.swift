package import EventLog
import Threads

/// What could not be read of a history so far, by any reader.
package final class DamageNotes: Sendable {
    private let damages = Lock<[LogDamage]>([])

    /// Each stretch of damage once, in the order in which they were met.
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
    /// How long a stretch is may be known or not.
    fileprivate func isSame(as other: LogDamage) -> Bool {
        file == other.file && offset == other.offset
    }
}
