@_spi(Rooms) import RelayRecords

/// Reclaims the numbers of ids and of storage keys with arguments that are no longer in use.
///
/// States. *idle*. *looking*: lookups of texts are noted, while the records as they were are searched for numbers under
/// no lock. *retired*: what was not found waits until no snapshot taken before is left. *withdrawn*: what has not been
/// looked up since can no longer be found, and waits until no thread is left that may be looking. Then its numbers are
/// reused.
///
/// Why no number in use is reclaimed: 1. Whatever was in a record at the beginning was found. 2. Whatever enters a
/// record later was looked up by its text at that time, and so noted; or it belongs to a plan, and so is pinned, or has
/// been released since, and so noted. 3. Snapshots taken before hold the epoch. 4. What was read pins its numbers
/// (``SeenRecords``); readers, watchers and entries are known to the store; all of these are checked again at each
/// step.
///
/// Bound: a search begins when twice as many texts have a number as the last one left. As long as a program keeps an
/// old snapshot no number is reused, and the store's observers are told whenever the texts have doubled.
struct SymbolCollection {
    /// What the search found, and how many numbers there were.
    struct Uses: Sendable {
        var ids = SymbolSet()
        var names = SymbolSet()
        let idLimit: Int
        let nameLimit: Int
    }

    /// What further texts call for.
    enum Growth {
        case nothing
        case search
        /// A collection is waiting for an old snapshot to be released.
        case patience
    }

    private enum State {
        case idle
        case looking
        case retired(Uses, SymbolEpoch.End)
        case withdrawn(
            ids: [UInt32], names: [UInt32], replaced: (ids: Int, names: Int), SymbolEpoch.End)
    }

    private var state = State.idle
    /// Ids that were found while they were about to go: each collection tries them again.
    private var late: [UInt32] = []
    /// Above this many texts, the end of a garbage collection starts a search.
    private var dueCount: Int
    /// Above this many texts, a search starts without one.
    private var urgentCount: Int
    private let leastCount: Int

    private static let leastUrgentCount = 2_048

    /// - Parameter liveCount: the current number of texts.
    /// - Parameter leastCount: the number of texts below which there is no search; 0: search after every garbage
    ///   collection.
    init(liveCount: Int, leastCount: Int) {
        self.leastCount = leastCount
        (dueCount, urgentCount) = Self.limits(liveCount, leastCount)
    }

    private static func limits(_ liveCount: Int, _ leastCount: Int) -> (due: Int, urgent: Int) {
        let due = leastCount == 0 ? 0 : liveCount + max(leastCount, liveCount)
        return (due, max(leastUrgentCount, 2 * (liveCount + max(leastCount, liveCount))))
    }

    /// Whether there may be many unused texts.
    func isDue(_ symbols: Symbols) -> Bool { symbols.liveCount > dueCount }

    /// Called after each commit. Gives a new answer only once the texts have doubled.
    mutating func noteGrowth(_ symbols: Symbols) -> Growth {
        let live = symbols.liveCount
        if live <= urgentCount { return .nothing }
        urgentCount = 2 * live
        switch state {
        case .idle: return .search
        case .looking: return .nothing
        case .retired, .withdrawn: return .patience
        }
    }
}

extension Snapshot {
    /// Notes all numbers in the records.
    func noteSymbols(in uses: inout SymbolCollection.Uses) {
        var last: Shape?
        rows.forEach { record, slot in
            guard case .existent(let row) = slot else {
                if case .nonexistent = slot { uses.ids.insert(record.rawValue) }
                return
            }
            uses.ids.insert(record.rawValue)
            if row.shape !== last {
                last = row.shape
                uses.names.insert(row.type.rawValue)
                for key in row.shape.keys { uses.names.insert(key.rawValue) }
            }
            for slot in 0..<row.slotCount {
                switch row.tag(slot) {
                case .link: uses.ids.insert(row.link(slot).rawValue)
                case .links:
                    row.links(slot).forEachRecord {
                        if let record = $0 { uses.ids.insert(record.rawValue) }
                    }
                default: break
                }
            }
        }
    }
}

extension SymbolCollection {
    /// The numbers that the store knows to be in use.
    struct Held {
        var ids = SymbolSet()
        var names = SymbolSet()
    }

    /// Begins, unless one is in progress.
    mutating func begin(_ symbols: Symbols) -> Uses? {
        guard case .idle = state else { return nil }
        state = .looking
        return Uses(idLimit: symbols.ids.watch(), nameLimit: symbols.names.watch())
    }

    /// The search is over.
    /// - Parameter epoch: the epoch of the store's state; another begins now.
    mutating func retire(_ uses: Uses, _ epoch: SymbolEpoch) {
        state = .retired(uses, epoch.end)
    }

    /// Takes the next step if nothing is in the way any more.
    /// - Parameter epoch: the epoch of the store's state.
    /// - Returns: whether another epoch begins now.
    mutating func advance(
        _ symbols: Symbols, _ epoch: SymbolEpoch, held: (inout Held) -> Void
    ) -> Bool {
        switch state {
        case .idle, .looking: return false
        case .retired(let uses, let old):
            guard old.isOver else { return false }
            withdraw(uses, symbols, epoch, Self.held(held))
            return true
        case .withdrawn(let ids, let names, let replaced, let old):
            guard old.isOver else { return false }
            let held = Self.held(held)
            var vacant: [UInt32] = []
            for number in ids {
                if held.ids.contains(number) || symbols.ids.isHeld(number) {
                    late.append(number)
                } else {
                    vacant.append(number)
                }
            }
            symbols.ids.vacate(vacant)
            symbols.names.vacate(names)
            symbols.ids.freeReplaced(replaced.ids)
            symbols.names.freeReplaced(replaced.names)
            (dueCount, urgentCount) = Self.limits(symbols.liveCount, leastCount)
            state = .idle
            return false
        }
    }

    private mutating func withdraw(
        _ uses: Uses, _ symbols: Symbols, _ epoch: SymbolEpoch, _ held: Held
    ) {
        symbols.shapes.letGoOfUnused()
        let ids = symbols.ids.withdraw(below: uses.idLimit) { number, _ in
            uses.ids.contains(number) || held.ids.contains(number)
        }
        let names = symbols.names.withdraw(below: uses.nameLimit) { number, text in
            uses.names.contains(number) || held.names.contains(number)
                || !text.contains(UInt8(ascii: "("))
        }
        state = .withdrawn(
            ids: late + ids, names: names,
            replaced: (symbols.ids.replacedCount, symbols.names.replacedCount),
            epoch.end)
        late = []
    }

    private static func held(_ held: (inout Held) -> Void) -> Held {
        var all = Held()
        held(&all)
        return all
    }
}
