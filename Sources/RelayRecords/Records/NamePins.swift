import Threads

/// The storage keys of a plan, which keep their numbers as long as the plan, or anything read with it, lives.
///
/// Plans are made on any thread and used long after. A key that no record has during a collection may still be what
/// the plan writes next.
package final class NamePins: Sendable {
    private let symbols: Symbols
    private let pinned = Lock<[UInt32]>([])

    package init(_ symbols: Symbols) { self.symbols = symbols }

    deinit {
        let numbers = pinned.withLock { $0 }
        if !numbers.isEmpty { symbols.unpin(numbers) }
    }

    package func name(_ name: String) -> NameIndex {
        // Others are never released.
        guard Symbols.hasArguments(name) else { return symbols.name(name) }
        let number = symbols.pin(name)
        pinned.withLock { $0.append(number.rawValue) }
        return number
    }
}
