@_spi(Rooms) import RelayRecords
import Threads

/// What one execution's response was read from so far, when more parts of it are to come (`@defer`, `@stream`): the
/// next one is read with that, and not with what others have written in between.
package final class ResponseParts: Sendable {
    private let held = Lock<Snapshot?>(nil)

    package init() {}

    var state: Snapshot? { held.withLock { $0 } }

    /// - Parameter state: nil where no part is to come.
    package func note(_ state: Snapshot?) {
        // What was held goes when the lock is free again.
        let former = held.withLock { held in
            defer { held = state }
            return held
        }
        withExtendedLifetime(former) {}
    }
}

/// The executions of which parts are outstanding. Each holds a whole state of the store, with all its numbers; they let go
/// of these when the store has to wait for them (``SymbolCollection/Growth/patience``).
struct OutstandingParts {
    private struct Entry { weak var parts: ResponseParts? }

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// With more, those that hold nothing any more are taken out.
    private var looksAt = fewEntries
    private static let fewEntries = 64

    mutating func insert(_ parts: ResponseParts) {
        entries[ObjectIdentifier(parts)] = Entry(parts: parts)
        if entries.count <= looksAt { return }
        entries = entries.filter { $0.value.parts?.state != nil }
        looksAt = max(2 * entries.count, Self.fewEntries)
    }

    mutating func takeAll() -> [ResponseParts] {
        defer { entries = [:] }
        return entries.values.compactMap(\.parts)
    }
}
