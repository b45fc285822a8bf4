@_spi(Rooms) import RelayRecords

/// What an optimistic entry of an earlier process does to the records below it.
///
/// Its updater is gone with that process; what it wrote is in the log. List indices are valid only on the state that
/// they were written on. On any other, a list is changed by what was added, removed and moved there, and by the
/// neighbours of each.
struct RestoredUpdate: Sendable {
    private let writes: WriteSet
    private var lists: [ListChange] = []

    /// - Parameter state: what the writes were made on.
    init(_ writes: WriteSet, on state: Snapshot) {
        self.writes = writes
        var draft = Draft(on: state)
        draft.apply(writes)
        // In order: what is written goes to the log.
        var seen: Set<ChangeSet.Field> = []
        for field in draft.changes.fields where seen.insert(field).inserted {
            // Additions to a missing list are added to the one that arrives.
            guard let new = draft.snapshot.list(field),
                let old = state.list(field) ?? (state.isWithout(field) ? .empty : nil)
            else { continue }
            let change = ListChange(field, from: old, to: new.records, state, draft.snapshot)
            // What cannot be expressed this way, such as nulls, is written as it was.
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

/// What is inserted into a list of links, what is removed, and what is moved.
///
/// It is kept by id: record numbers may differ next time. Lists are walked by number, however long they are.
private struct ListChange: Sendable {
    fileprivate typealias Element = ListElement<RecordIndex>

    private struct Insertion<ID: Hashable & Sendable>: Sendable {
        let element: ListElement<ID>
        /// The element it follows; nil at the beginning.
        let previous: ListElement<ID>?
        /// The next element after it that has not moved; nil for an element put at the end.
        let next: ListElement<ID>?
        /// It was elsewhere in the list. If the list no longer has it, it stays out; if the list has none of its
        /// neighbours, it stays where it is.
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

    /// The elements of both lists that have moved. As few as possible: the others are the longest sequence that has
    /// kept its order.
    private static func moved(from old: [Element?], to new: [Element?]) -> Set<Element> {
        var places: [Element: Int] = [:]
        for (place, element) in old.enumerated() { if let element { places[element] = place } }
        let common = new.compactMap { element in
            element.flatMap { element in places[element].map { (element: element, place: $0) } }
        }
        // For each length, the sequence of that length that ends earliest in the old list: its end in the new one.
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

    /// The list that results from applying the change to another one.
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

    /// Corrects what the writes, with their indices, have made of the list.
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

/// An element of a list; for an edge, also what it links to: the server's edge to a node is a different record from the
/// client's.
private struct ListElement<ID: Hashable & Sendable>: Hashable, Sendable {
    let id: ID
    let node: ID?

    func map<Other>(_ id: (ID) -> Other) -> ListElement<Other> {
        ListElement<Other>(id: id(self.id), node: node.map(id))
    }
}

/// Finds elements by what they are, or link to.
private struct ElementIndex {
    private var ids: [RecordIndex: Int] = [:]
    private var nodes: [RecordIndex: Int] = [:]

    func number(of element: ListChange.Element) -> Int? {
        ids[element.id] ?? element.node.flatMap { nodes[$0] }
    }

    /// Among equal elements, the first counts.
    mutating func insert(_ element: ListChange.Element, _ number: Int) {
        if ids[element.id] == nil { ids[element.id] = number }
        if let node = element.node, nodes[node] == nil { nodes[node] = number }
    }
}

/// A list that inserts elements next to others: the cost of each does not depend on the length.
private struct LinkedElements {
    /// The elements whose places are tracked.
    private let asked: ElementIndex
    /// The first place is before the first element and after the last one.
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
    /// nil if the field has no list.
    fileprivate func list(_ field: ChangeSet.Field) -> LinkList? {
        guard let row = row(field.record), let slot = row.slot(of: field.key),
            row.tag(slot) == .links
        else { return nil }
        return row.links(slot)
    }

    /// Whether a record exists and the field is missing or null.
    fileprivate func isWithout(_ field: ChangeSet.Field) -> Bool {
        guard let row = row(field.record) else { return false }
        guard let slot = row.slot(of: field.key) else { return true }
        return row.tag(slot) == .absent || row.tag(slot) == .null
    }
}
