import RelayArtifacts
@_spi(Rooms) import RelayRecords

/// The edges of a page, and their places in a connection: each after those of the page before it, whatever others have
/// inserted or removed in between.
final class PageEdges {
    private let page: PageOfConnection
    private let connection: DraftRecordProxy
    private let pages: ConnectionPages
    private let source: DraftProxy
    private let node: NameIndex?
    /// The page's edges; nil if it has no list.
    private let own: LinkList?
    /// The connection's edges, before anything is written.
    private let list: LinkList
    /// The same as an array: for uses that must look at all of them.
    private lazy var old = list.records
    /// What is known of these; empty until ``follow()``.
    private var known = KnownEdges()
    private let memory: ConnectionMemory?
    private var isFollowing = false

    init(of page: PageOfConnection, in connection: DraftRecordProxy, _ pages: ConnectionPages) {
        self.page = page
        self.connection = connection
        self.pages = pages
        source = connection.source
        node = source.draft.snapshot.symbols.findName("node")
        own = page.edges
        list = ConnectionEdges(connection)?.links ?? .empty
        memory = page.memory
    }

    var all: Range<Int> { 0..<(own?.count ?? 0) }

    // MARK: Joining

    /// Makes these edges the whole connection.
    func replaceAll(by range: Range<Int>) {
        guard hasList, let own else { return }
        var known: Set<RecordIndex> = []
        // An edge without a node is kept: the server counts it, and it does no harm.
        let new = own.records(range).filter { edge in
            edge.map { known.insert(content(of: $0, in: page.records)).inserted } ?? true
        }
        write(.links(kept(new)))
    }

    /// Adds a page that is new at its end of the connection: after or before everything there.
    /// - Parameter place: where to put it instead; see ``takeOut(of:)``.
    func append(_ range: Range<Int>, at place: Int? = nil) {
        guard hasList else { return }
        // Even a page without edges says that there are none.
        if !connection.has("edges") { write(.links([])) }
        insert(range, at: place ?? (page.side == .end ? list.count : 0))
    }

    /// Removes the edges of a page that occupies this one's place from the connection: those it names, including those
    /// from an earlier response. Edges that were moved elsewhere stay.
    /// - Returns: where the first of them was.
    func takeOut(of page: DataID) -> Int? {
        // A null belongs to the page of the edge before it: nothing else identifies it.
        var isOfPage = self.page.side == .start || cursorPlace != nil
        let places = reach.filter { place in
            if let edge = old[place] { isOfPage = isKept(edge, of: page) }
            return isOfPage
        }
        guard let first = places.first, let last = places.last else { return nil }
        if last - first < places.count {
            write(.splice(start: first, deleted: places.count, []))
        } else {
            let gone = Set(places)
            let left = old.indices.filter { !gone.contains($0) }
            write(.links(left.map { old[$0].map(id(of:)) }))
        }
        return first
    }

    /// Adds more edges of a page that the connection has.
    func add(_ range: Range<Int>) {
        guard hasList else { return }
        follow()
        insert(range, at: place(behind: range.lowerBound))
    }

    /// Whether the page has a list. If not, neither does a new connection.
    private var hasList: Bool {
        if own == nil, !connection.has("edges"), let none = page.record.value("edges") {
            write(none)
        }
        return own != nil
    }

    /// - Parameter place: where the first of them belongs.
    private func insert(_ range: Range<Int>, at place: Int) {
        guard let own else { return }
        follow()
        let brought = own.records(range)
        var places: [RecordIndex: Int] = [:]
        let wanted = Set(brought.compactMap { $0.map(content(ofOwn:)) })
        if !wanted.isDisjoint(with: known.contents) {
            for (place, edge) in old.enumerated() {
                if let content = edge.map(content(of:)), wanted.contains(content) {
                    places[content] = place
                }
            }
        }
        let reach = places.isEmpty ? 0..<0 : reach
        var (place, insertedCount) = (place, 0)
        var (told, new): (Set<RecordIndex>, [RecordIndex?]) = ([], [])
        func put() {
            if new.isEmpty { return }
            write(.splice(start: place + insertedCount, deleted: 0, kept(new)))
            insertedCount += new.count
            known.lastPlace = place + insertedCount - 1
            new = []
        }
        for edge in brought {
            guard let content = edge.map(content(ofOwn:)) else {
                new.append(nil)
                continue
            }
            guard told.insert(content).inserted else { continue }
            if let there = places[content] {
                // An edge elsewhere belongs to another page, or has been moved.
                if reach.contains(there), there >= place {
                    put()
                    place = there + 1
                }
            } else {
                new.append(edge)
            }
        }
        put()
        remember()
    }

    // MARK: From part to part

    /// Looks at the edges that have arrived since the last part.
    private func follow() {
        if isFollowing { return }
        isFollowing = true
        if let known = memory?.take(connection.dataID, page) { self.known = known }
        follow(to: list)
    }

    private func follow(to list: LinkList) {
        list.forEachLinkAdded(since: known.list) { edge in
            guard let edge else { return }
            let content = content(of: edge)
            known.insert(edge, content: content)
        }
        known.list = list
    }

    /// Keeps what is known for the parts to come.
    private func remember() {
        guard let memory else { return }
        follow(to: ConnectionEdges(connection)?.links ?? .empty)
        memory.keep(known, connection.dataID, page)
    }

    // MARK: Places

    /// After the last of the page's first edges that the connection has, and after the nulls that follow it; if it has
    /// none, where the page starts.
    private func place(behind count: Int) -> Int {
        guard let own else { return 0 }
        // Nearly always the previous edge, where the last part put it.
        if let edge = own.record(at: Int64(count) - 1), let place = known.lastPlace,
            let last = list.record(at: Int64(place)), content(of: last) == content(ofOwn: edge)
        {
            return place + 1
        }
        let edges = own.records.prefix(count)
        let (index, place) = last(of: edges) ?? (edges.startIndex - 1, start - 1)
        var next = place + 1
        // Nothing identifies a null.
        for _ in edges.dropFirst(index + 1 - edges.startIndex).filter({ $0 == nil }) {
            if next < old.count, old[next] == nil { next += 1 }
        }
        return next
    }

    /// The last of these edges that the connection has, under any record: its index in the page, and its place.
    private func last(of edges: ArraySlice<RecordIndex?>) -> (index: Int, place: Int)? {
        guard let index = edges.lastIndex(where: { $0 != nil }), let edge = edges[index]
        else { return nil }
        let wanted = content(ofOwn: edge)
        let reach = reach
        if let place = old[reach].lastIndex(where: { $0.map(content(of:)) == wanted }) {
            return (index, place)
        }
        var places: [RecordIndex: Int] = [:]
        for place in reach { if let edge = old[place] { places[content(of: edge)] = place } }
        for index in edges.indices.reversed() {
            if let edge = edges[index], let place = places[content(ofOwn: edge)] {
                return (index, place)
            }
        }
        return nil
    }

    /// Where the page's first edge belongs: next to the edge with its cursor, or after the pages before it.
    private var start: Int {
        if let place = cursorPlace { return page.side == .end ? place + 1 : place }
        for former in pages.pages(before: page) {
            // The connection may have them from an earlier response than the one now bringing that page.
            if let last = old.lastIndex(where: { $0.map { isKept($0, of: former.id) } ?? false }) {
                return last + 1
            }
            let contents = Set(former.edges.compactMap { $0.map(content(of:)) })
            if let last = old.lastIndex(where: {
                $0.map { contents.contains(content(of: $0)) } ?? false
            }) {
                return last + 1
            }
        }
        return pages.isAt(.end, page) && page.side == .end ? old.count : 0
    }

    /// The places that edges of the page may occupy: on its side of its cursor. An edge on the other side belongs to
    /// another page that has the same node.
    private var reach: Range<Int> {
        switch page.side {
        case .whole: 0..<old.count
        case .end: (cursorPlace.map { $0 + 1 } ?? 0)..<old.count
        case .start: 0..<(cursorPlace ?? old.count)
        }
    }

    private var cursorPlace: Int? {
        guard let cursor = page.cursor else { return nil }
        let snapshot = source.draft.snapshot
        return old.firstIndex { edge in
            if let edge { look(at: edge) }
            return edge.map { snapshot.fieldValue("cursor", of: $0) } == .string(cursor)
        }
    }

    // MARK: Edges

    /// The identity of an edge of the connection: its node, or the edge itself if it has none.
    private func content(of edge: RecordIndex) -> RecordIndex {
        look(at: edge)
        return content(of: edge, in: source.draft.snapshot)
    }

    private func look(at edge: RecordIndex) {
        known.lookCount += 1
        source.look(at: edge)
    }

    private func content(of edge: RecordIndex, in records: Snapshot) -> RecordIndex {
        node.flatMap { records.link($0, of: edge) } ?? edge
    }

    /// The same for an edge of the page. If its node arrived later, the connection still knows it by its former
    /// identity.
    private func content(ofOwn edge: RecordIndex) -> RecordIndex {
        let content = content(of: edge, in: page.records)
        if content != edge, known.withoutNode.isEmpty { return content }
        guard let former = source.find(idWithoutNode(edge)) else { return content }
        return content == edge || known.withoutNode.contains(former) ? former : content
    }

    /// An edge of the page has got more fields: the connection's copy gets them too.
    func renew(_ index: Int) {
        guard let edge = own?.record(at: Int64(index)) else { return }
        follow()
        defer { remember() }
        let content = content(of: edge, in: page.records)
        let isKnown = known.contents.contains(content)
        if content != edge, case let former = self.content(ofOwn: edge), former != content,
            let place = old.firstIndex(of: former)
        {
            // Its node has arrived. The known edges may include some that have left.
            let isThere = isKnown && old.contains { $0.map { self.content(of: $0) } == content }
            known.forget(former)
            write(.splice(start: place, deleted: 1, isThere ? [] : kept([edge])))
        } else if isKnown || content == edge {
            // It may belong to another page, or to none; that does not change.
            _ = kept([edge], isPutIn: false)
        }
    }

    /// The edges as the connection keeps them. An edge named by its node is shared with the page: it means the same
    /// there forever. An edge named by its index is copied, because the next fetch of the same page may put another one
    /// there.
    /// - Parameter isPutIn: whether they go into the connection as edges of this page.
    private func kept(_ edges: [RecordIndex?], isPutIn: Bool = true) -> [DataID?] {
        edges.map { edge -> DataID? in
            guard let edge else { return nil }
            let node = content(of: edge, in: page.records)
            if isNamed(edge, by: page.record.dataID, node) { return id(of: edge) }
            let keptID =
                node == edge
                ? idWithoutNode(edge)
                : connection.dataID.clientID(storageKey: id(of: node).rawValue)
            if var edge = page.records.recordJSON(edge) {
                if isPutIn { edge.fields.append((Self.pageKey, .link(page.record.dataID))) }
                _ = source.create(dataID: keptID, typeName: edge.type)
                source.proxy(keptID).copyFields(from: edge)
            }
            return keptID
        }
    }

    private func idWithoutNode(_ edge: RecordIndex) -> DataID {
        connection.dataID.clientID(storageKey: id(of: edge).rawValue)
    }

    /// Field of the connection's copy of an edge: the page it belongs to.
    private static let pageKey = "__page"

    /// Whether an edge of the connection came from a page: the page's own edge, or a copy.
    private func isKept(_ edge: RecordIndex, of page: DataID) -> Bool {
        isNamed(edge, by: page, content(of: edge))
            || source.draft.snapshot.fieldValue(Self.pageKey, of: edge) == .link(page)
    }

    private func isNamed(_ edge: RecordIndex, by page: DataID, _ node: RecordIndex) -> Bool {
        node != edge
            && id(of: edge) == page.clientID(storageKey: "edges", place: id(of: node).rawValue)
    }

    private func id(of record: RecordIndex) -> DataID {
        DataID(source.draft.snapshot.symbols.idString(record))
    }

    private func write(_ edges: FieldValue) {
        source.write(connection.dataID, [("edges", edges)])
    }
}

extension DraftRecordProxy {
    /// Whether a field has been set, even to null. Its value may be a long list.
    func has(_ key: String) -> Bool {
        guard let row = source.row(dataID),
            let slot = source.draft.snapshot.symbols.findName(key).flatMap({ row.slot(of: $0) })
        else { return false }
        return row.tag(slot) != .absent
    }
}

extension LinkList {
    /// The records at these indices that exist.
    fileprivate func records(_ range: Range<Int>) -> [RecordIndex?] {
        let range = range.clamped(to: 0..<count)
        if count != end { return Array(records[range]) }
        var (links, records) = (links(from: range.lowerBound), [RecordIndex?]())
        while records.count < range.count, let link = links.next() { records.append(link.record) }
        return records
    }
}
