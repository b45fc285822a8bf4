@_spi(Rooms) import RelayRecords

/// What an optimistic entry of an earlier process does to the records below it.
///
/// Its updater is gone with that process; what it wrote is in the log. Places in lists are right on the state that they
/// were written on only. On any other, a list is changed by what has come, gone and been moved there, and next to which others.
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
            // What is added to a list that is not there is added to the one that comes.
            guard let new = draft.snapshot.list(field),
                let old = state.list(field) ?? (state.isWithout(field) ? .empty : nil)
            else { continue }
            let change = ListChange(field, from: old, to: new.records, state, draft.snapshot)
            // What cannot be told so, as nulls, is written as it was.
            if change.list(from: old.records, in: draft.snapshot) == new.records {
                lists.append(change)
            }
        }
    }

    func run(_ draft: inout Draft) {
        let before = draft.snapshot
        draft.apply(writes)
        for change in lists { change.write(on: before, &draft) }
    }
}

/// What comes into a list of links, what goes, and what comes to stand elsewhere.
///
/// It is kept by ids: numbers of records may be others the next time. Lists are walked by numbers, however long they are.
private struct ListChange: Sendable {
    fileprivate typealias Element = ListElement<RecordIndex>

    private struct Insertion<ID: Hashable & Sendable>: Sendable {
        let element: ListElement<ID>
        /// What it stands behind; nil at the beginning.
        let previous: ListElement<ID>?
        /// The next one after it that has stayed where it was; nil in what was put at the end.
        let next: ListElement<ID>?
        /// It stood elsewhere in the list. It stays away where the list has not got it any more, and where it is where the
        /// list has none of its neighbours.
        let isMoved: Bool

        func map<Other>(_ id: (ID) -> Other) -> Insertion<Other> {
            Insertion<Other>(
                element: element.map(id), previous: previous?.map(id), next: next?.map(id),
                isMoved: isMoved)
        }
    }

    private let record: DataID
    private let key: String
    private let removed: [ListElement<DataID>]
    private let inserted: [Insertion<DataID>]
    /// The list that the writes were made on.
    private let base: LinkList

    init(
        _ field: ChangeSet.Field, from base: LinkList, to new: [RecordIndex?],
        _ before: Snapshot, _ after: Snapshot
    ) {
        func id(_ record: RecordIndex) -> DataID { DataID(after.symbols.idString(record)) }
        self.base = base
        record = id(field.record)
        key = after.symbols.nameString(field.key)
        let (old, new) = (
            Self.elements(base.records, key, before), Self.elements(new, key, after)
        )
        let (had, has) = (Set(old), Set(new))
        let moved = Self.moved(from: old, to: new)
        removed = old.compactMap { element in
            guard let element, !has.contains(element) else { return nil }
            return element.map(id)
        }
        var inserted: [Insertion<RecordIndex>] = []
        var next: Element?
        for place in new.indices.reversed() {
            guard let element = new[place] else { continue }
            if had.contains(element), !moved.contains(element) {
                next = element
                continue
            }
            inserted.append(
                Insertion(
                    element: element, previous: place == 0 ? nil : new[place - 1], next: next,
                    isMoved: moved.contains(element)))
        }
        self.inserted = inserted.reversed().map { $0.map(id) }
    }

    /// Those of both lists that have come to stand elsewhere. As few as possible: the others are the longest row of
    /// elements that has kept its order.
    private static func moved(from old: [Element?], to new: [Element?]) -> Set<Element> {
        var places: [Element: Int] = [:]
        for (place, element) in old.enumerated() { if let element { places[element] = place } }
        let common = new.compactMap { element in
            element.flatMap { element in places[element].map { (element: element, place: $0) } }
        }
        // For each length, the row of that length which ends first in the old list: its end in the new one.
        var ends: [Int] = []
        var previous: [Int?] = []
        for (index, one) in common.enumerated() {
            let longer = (0..<ends.count).firstIndex(whereNot: {
                common[ends[$0]].place < one.place
            })
            previous.append(longer > 0 ? ends[longer - 1] : nil)
            if longer == ends.count { ends.append(index) } else { ends[longer] = index }
        }
        var moved = Set(common.map(\.element))
        var kept = ends.last
        while let index = kept {
            moved.remove(common[index].element)
            kept = previous[index]
        }
        return moved
    }

    private static func elements(
        _ list: [RecordIndex?], _ key: String, _ state: Snapshot
    ) -> [Element?] {
        let node = key == "edges" ? state.symbols.findName("node") : nil
        return list.map { record in
            record.map { record in
                Element(id: record, node: node.flatMap { state.link($0, of: record) })
            }
        }
    }

    /// The list that the change makes of another one.
    func list(from old: [RecordIndex?], in state: Snapshot) -> [RecordIndex?] {
        func number(_ id: DataID) -> RecordIndex { state.symbols.record(id.rawValue) }
        let inserted = inserted.map { $0.map(number) }
        var (gone, asked) = (ElementIndex(), ElementIndex())
        for element in removed { gone.insert(element.map(number), 0) }
        for insertion in inserted {
            for case let element? in [insertion.element, insertion.previous, insertion.next] {
                asked.insert(element, 0)
            }
        }
        var list = LinkedElements(asked: asked)
        for element in Self.elements(old, key, state) {
            if let element, gone.number(of: element) != nil { continue }
            list.insert(element, behind: list.last)
        }
        for insertion in inserted {
            let former = list.place(of: insertion.element)
            if insertion.isMoved != (former != nil) { continue }
            let place: Int
            switch (insertion.previous, insertion.next) {
            case (_, nil): place = list.last
            case (nil, _): place = list.beforeFirst
            case (let previous?, let next?):
                place =
                    list.place(of: previous) ?? list.place(of: next).map(list.place(before:))
                    ?? former ?? list.last
            }
            if let former {
                list.move(former, behind: place)
            } else {
                list.insert(insertion.element, behind: place)
            }
        }
        return list.records
    }

    /// Puts right what the writes, with their places, have made of the list.
    func write(on before: Snapshot, _ draft: inout Draft) {
        guard let record = draft.snapshot.existing(record.rawValue),
            let type = draft.snapshot.type(of: record),
            let key = draft.snapshot.symbols.findName(key)
        else { return }
        let field = ChangeSet.Field(record: record, key: key)
        let old = before.list(field) ?? .empty
        if old === base { return }
        let wanted = list(from: old.records, in: draft.snapshot)
        let written = draft.snapshot.list(field) ?? .empty
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

/// An element of a list; of an edge, what it leads to: the server's edge to a node is another than the client's.
private struct ListElement<ID: Hashable & Sendable>: Hashable, Sendable {
    let id: ID
    let node: ID?

    func map<Other>(_ id: (ID) -> Other) -> ListElement<Other> {
        ListElement<Other>(id: id(self.id), node: node.map(id))
    }
}

/// Finds elements by what they are, or lead to.
private struct ElementIndex {
    private var ids: [RecordIndex: Int] = [:]
    private var nodes: [RecordIndex: Int] = [:]

    func number(of element: ListChange.Element) -> Int? {
        ids[element.id] ?? element.node.flatMap { nodes[$0] }
    }

    /// Of those that are the same, the first counts.
    mutating func insert(_ element: ListChange.Element, _ number: Int) {
        if ids[element.id] == nil { ids[element.id] = number }
        if let node = element.node, nodes[node] == nil { nodes[node] = number }
    }
}

/// A list into which elements are put next to others: what one costs does not follow from how many there are.
private struct LinkedElements {
    /// Of these the places are known.
    private let asked: ElementIndex
    /// The first place is before the first element and behind the last one.
    private var contents: [RecordIndex?] = [nil]
    private var following = [0]
    private var preceding = [0]
    private var index = ElementIndex()

    init(asked: ElementIndex) { self.asked = asked }

    var beforeFirst: Int { 0 }
    var last: Int { preceding[0] }

    func place(of element: ListChange.Element) -> Int? { index.number(of: element) }
    func place(before place: Int) -> Int { preceding[place] }

    mutating func insert(_ element: ListChange.Element?, behind place: Int) {
        let new = contents.count
        contents.append(element?.id)
        preceding.append(new)
        following.append(new)
        move(new, behind: place)
        if let element, asked.number(of: element) != nil { index.insert(element, new) }
    }

    mutating func move(_ moved: Int, behind place: Int) {
        if moved == place { return }
        following[preceding[moved]] = following[moved]
        preceding[following[moved]] = preceding[moved]
        (preceding[moved], following[moved]) = (place, following[place])
        preceding[following[place]] = moved
        following[place] = moved
    }

    var records: [RecordIndex?] {
        var (records, place): ([RecordIndex?], Int) = ([], following[0])
        while place != 0 {
            records.append(contents[place])
            place = following[place]
        }
        return records
    }
}

extension Snapshot {
    /// nil where the field has no list.
    fileprivate func list(_ field: ChangeSet.Field) -> LinkList? {
        guard let row = row(field.record), let slot = row.slot(of: field.key),
            row.tag(slot) == .links
        else { return nil }
        return row.links(slot)
    }

    /// Whether a record is there without the field, or with null in it.
    fileprivate func isWithout(_ field: ChangeSet.Field) -> Bool {
        guard let row = row(field.record) else { return false }
        guard let slot = row.slot(of: field.key) else { return true }
        return row.tag(slot) == .absent || row.tag(slot) == .null
    }
}
