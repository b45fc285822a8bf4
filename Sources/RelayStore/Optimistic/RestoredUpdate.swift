@_spi(Rooms) import RelayRecords

/// What an optimistic entry of an earlier process does to the records below it.
///
/// Its updater is gone with that process; what it wrote is in the log. Places in lists are right on the state that they
/// were written on only. On any other, a list is changed by what has come and gone there, and next to which others.
struct RestoredUpdate: Sendable {
    private let writes: WriteSet
    private var lists: [ListChange] = []

    /// - Parameter state: what the writes were made on.
    init(_ writes: WriteSet, on state: Snapshot) {
        self.writes = writes
        var draft = Draft(on: state)
        draft.apply(writes)
        // In their order: what is written goes to the log.
        var seen: Set<ChangeSet.Field> = []
        for field in draft.changes.fields where seen.insert(field).inserted {
            guard let old = state.list(field), let new = draft.snapshot.list(field) else {
                continue
            }
            let change = ListChange(field, from: old, to: new, state, draft.snapshot)
            // A list that was put into another order is written as it was.
            if change.list(from: old, in: draft.snapshot) == new { lists.append(change) }
        }
    }

    func run(_ draft: inout Draft) {
        let before = draft.snapshot
        draft.apply(writes)
        for change in lists { change.write(on: before, &draft) }
    }
}

/// What comes into a list of links, and what goes.
private struct ListChange: Sendable {
    /// An element of a list; of an edge, what it leads to: the server's edge to a node is another than the client's.
    private struct Element: Hashable {
        let id: DataID
        let node: DataID?

        func isSame(as other: Element) -> Bool {
            id == other.id || (node != nil && node == other.node)
        }
    }

    private struct Insertion {
        let element: Element
        /// What it stands behind and before; nil at either end.
        let previous: Element?
        let next: Element?
    }

    private let record: DataID
    private let key: String
    private let removed: [Element]
    private let inserted: [Insertion]

    init(
        _ field: ChangeSet.Field, from old: [RecordIndex?], to new: [RecordIndex?],
        _ before: Snapshot, _ after: Snapshot
    ) {
        record = DataID(after.symbols.idString(field.record))
        key = after.symbols.nameString(field.key)
        let (old, new) = (
            Self.elements(old, key, before), Self.elements(new, key, after)
        )
        let (had, has) = (Set(old), Set(new))
        removed = old.compactMap { $0.flatMap { has.contains($0) ? nil : $0 } }
        inserted = new.indices.compactMap { place in
            guard let element = new[place], !had.contains(element) else { return nil }
            return Insertion(
                element: element, previous: place == 0 ? nil : new[place - 1],
                next: place + 1 == new.count ? nil : new[place + 1])
        }
    }

    private static func elements(
        _ list: [RecordIndex?], _ key: String, _ state: Snapshot
    ) -> [Element?] {
        let node = key == "edges" ? state.symbols.findName("node") : nil
        return list.map { record in
            record.map { record in
                Element(
                    id: DataID(state.symbols.idString(record)),
                    node: node.flatMap { state.link($0, of: record) }
                        .map { DataID(state.symbols.idString($0)) })
            }
        }
    }

    /// The list that the change makes of another one.
    func list(from old: [RecordIndex?], in state: Snapshot) -> [RecordIndex?] {
        var list = Self.elements(old, key, state)
        let (ids, nodes) = (Set(removed.map(\.id)), Set(removed.compactMap(\.node)))
        list.removeAll { element in
            guard let element else { return false }
            return ids.contains(element.id) || element.node.map(nodes.contains) ?? false
        }
        for insertion in inserted {
            func place(of element: Element?) -> Int? {
                guard let element else { return nil }
                return list.firstIndex { $0?.isSame(as: element) ?? false }
            }
            if place(of: insertion.element) != nil { continue }
            let place =
                switch (insertion.previous, insertion.next) {
                case (_, nil): list.count
                case (nil, _): 0
                case (let previous, let next):
                    place(of: previous).map { $0 + 1 } ?? place(of: next) ?? list.count
                }
            list.insert(insertion.element, at: place)
        }
        return list.map { $0.map { state.symbols.record($0.id.rawValue) } }
    }

    /// Puts right what the writes, with their places, have made of the list.
    func write(on before: Snapshot, _ draft: inout Draft) {
        guard let record = draft.snapshot.existing(record.rawValue),
            let type = draft.snapshot.type(of: record),
            let key = draft.snapshot.symbols.findName(key)
        else { return }
        let field = ChangeSet.Field(record: record, key: key)
        let wanted = list(from: before.list(field) ?? [], in: draft.snapshot)
        let written = LinkList(draft.snapshot.list(field) ?? [])
        guard let splice = LinkList(wanted).splice(from: written) else { return }
        let symbols = draft.snapshot.symbols
        draft.write(
            self.record, type: symbols.nameString(type),
            fields: [
                (
                    self.key,
                    .splice(
                        start: splice.start, deleted: splice.removed.count,
                        splice.inserted.map { $0.map { DataID(symbols.idString($0)) } })
                )
            ])
    }
}

extension Snapshot {
    /// nil where the field has no list.
    fileprivate func list(_ field: ChangeSet.Field) -> [RecordIndex?]? {
        guard let row = row(field.record), let slot = row.slot(of: field.key),
            row.tag(slot) == .links
        else { return nil }
        return row.links(slot).records
    }
}
