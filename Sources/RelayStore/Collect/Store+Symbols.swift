@_spi(Rooms) import RelayRecords
import Threads

extension Store {
    /// What is searched for numbers.
    struct SymbolSearch {
        var uses: SymbolCollection.Uses
        let states: [Snapshot]
    }

    /// Reclaims the numbers of ids and storage keys that are no longer in use; see ``SymbolCollection``. Drops no
    /// record.
    ///
    /// The search blocks nobody. If an old snapshot is still held, it continues once that is released.
    func collectSymbols() {
        if let search = beginSymbols() { endSymbols(consume search) }
        while advanceSymbols() {}
    }

    /// After a commit: starts a search if there are many more texts than before.
    func noteGrowth(_ writer: inout Writer, _ outcome: inout Outcome) {
        switch writer.symbols.noteGrowth(symbols) {
        case .nothing: return
        case .search: options.schedule { [weak self] in self?.collectSymbols() }
        case .patience:
            // From now on, further parts are read together with what others have written.
            outcome.held += writer.outstanding.letGo(butOf: writer.state.confirmed.epoch)
            if observers.isEmpty { return }
            outcome.deliveries.append(.event(.snapshotKept(symbols: symbols.liveCount)))
        }
    }

    /// - Returns: nil if one is in progress.
    func beginSymbols() -> SymbolSearch? {
        let begun = try? write { writer, _ -> SymbolSearch? in
            guard let uses = writer.symbols.begin(symbols) else { return nil }
            return SymbolSearch(uses: uses, states: [writer.state.confirmed, writer.state.head])
        }
        return begun ?? nil
    }

    func endSymbols(_ search: consuming SymbolSearch) {
        var uses = search.uses
        for state in search.states { state.noteSymbols(in: &uses) }
        // Release it before waiting for them to fall out of use.
        _ = consume search
        try? write { [uses] writer, _ in
            writer.symbols.retire(uses, writer.state.confirmed.epoch)
            beginEpoch(&writer)
        }
    }

    /// - Returns: whether there may be more to do at once.
    func advanceSymbols() -> Bool {
        (try? write { writer, _ in advanceSymbols(&writer) }) ?? false
    }

    private func advanceSymbols(_ writer: inout Writer) -> Bool {
        let epoch = writer.state.confirmed.epoch
        let goesOn = writer.symbols.advance(symbols, epoch) { held in
            writer.subscriptions.index.forEachRecord { held.ids.insert($0.rawValue) }
            for entry in writer.state.entries {
                for record in entry.looked { held.ids.insert(record.rawValue) }
                for record in entry.touched { held.ids.insert(record.rawValue) }
            }
            for field in writer.ownFields {
                held.ids.insert(field.record.rawValue)
                held.names.insert(field.key.rawValue)
            }
        }
        if goesOn { beginEpoch(&writer) }
        return goesOn
    }

    /// Publishes the same state in another epoch. Once this one has ended, the step that waits for that is tried.
    private func beginEpoch(_ writer: inout Writer) {
        writer.state.confirmed.epoch.end.then { [weak self, schedule = options.schedule] in
            schedule { [weak self] in self?.collectSymbolsFurther() }
        }
        writer.state.begin(SymbolEpoch())
        let next = PublishedSnapshot(writer.state.head)
        publication.withLock { $0 = next }
    }

    private func collectSymbolsFurther() { while advanceSymbols() {} }
}
