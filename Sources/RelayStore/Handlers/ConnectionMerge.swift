import RelayArtifacts
@_spi(Rooms) import RelayRecords

/// Joins a page that came from the server with what a connection's record has already.
///
/// | arguments of the page | it is |
/// |---|---|
/// | `after`: where the connection ends, or the page ends where it does | put behind |
/// | `before`: where the connection starts, or the page starts where it does | put before |
/// | `after` or `before` another place | left out: there would be a gap |
/// | neither | the whole connection now |
///
/// An edge whose node is in the list already is left out. Where parts of the page come later, each adds what it brings,
/// and what others have changed in the connection meanwhile stays.
struct ConnectionMerge {
    let id: DataID
    private let source: DraftProxy
    private let server: DraftRecordProxy
    private let after: String?
    private let before: String?
    /// A first page that is paged backwards from.
    private let isLast: Bool

    init(_ source: DraftProxy, server: DraftRecordProxy, id: DataID, args: VariableData) {
        func text(_ name: String) -> String? {
            if case .string(let text) = args[name] { text } else { nil }
        }
        self.source = source
        self.server = server
        self.id = id
        after = text("after")
        before = text("before")
        isLast = after == nil && before == nil && args["last"].map { $0 != .null } ?? false
    }

    /// - Parameter part: what has come of the page; nil: the page itself.
    mutating func run(_ part: FieldPart?) {
        let isNew = source.row(id) == nil
        if isNew { _ = source.create(dataID: id, typeName: server.typeName) }
        let connection = source.proxy(id)
        switch isNew ? nil : part {
        // Edges that have come before hold the page's place, wherever the connection ends by now.
        case .items(let range, of: "edges"?): return addEdges(range, to: connection)
        case .object(in: "edges", index: let index?): return renewEdge(index, of: connection)
        default: break
        }
        // A page behind a place where the connection does not end would leave a gap.
        if !isNew, !isContinuing(connection) { return }
        switch isNew ? nil : part {
        case nil:
            copyFields(to: connection)
            mergeEdges(of: connection)
            mergePageInfo(of: connection)
        case .members(let names):
            if !names.isSubset(of: ["edges", "pageInfo"]) { copyFields(to: connection) }
            if names.contains("edges") { mergeEdges(of: connection) }
            if names.contains("pageInfo") { mergeLatePageInfo(of: connection) }
        case .object(in: "pageInfo", _): mergeLatePageInfo(of: connection)
        case .items, .object: break
        }
    }

    private func isContinuing(_ connection: DraftRecordProxy) -> Bool {
        guard connection.value("edges") != nil, server.value("edges") != nil else { return true }
        if let after {
            let end = pageInfo(connection, "endCursor")
            return end == .string(after) || end == pageInfo(server, "endCursor")
        }
        if let before {
            let start = pageInfo(connection, "startCursor")
            return start == .string(before) || start == pageInfo(server, "startCursor")
        }
        return true
    }

    private func pageInfo(_ connection: DraftRecordProxy, _ field: String) -> FieldValue? {
        guard case .link(let id) = connection.value("pageInfo") else { return nil }
        return source.proxy(id).value(field)
    }

    /// Everything that the server said of the connection besides its edges and its page.
    private func copyFields(to connection: DraftRecordProxy) {
        guard let index = source.find(server.dataID),
            let fields = source.draft.snapshot.recordJSON(index, except: ["edges", "pageInfo"])
        else { return }
        if !fields.isEmpty { source.write(id, fields) }
    }

    // MARK: Edges

    private func mergeEdges(of connection: DraftRecordProxy) {
        guard let serverEdges = ConnectionEdges(server), let edges = ConnectionEdges(connection),
            case .links? = server.value("edges")
        else {
            if connection.value("edges") == nil, let none = server.value("edges") {
                source.write(id, [("edges", none)])
            }
            return
        }
        let old = edges.records
        let hasPages = after != nil || before != nil
        var known: Set<RecordIndex> = []
        if hasPages { known.formUnion(old.compactMap { edges.node(of: $0) }) }
        var new: [RecordIndex?] = []
        for edge in serverEdges.records {
            // An edge without a node is kept: the server counts it, and it says nothing wrong.
            if let node = serverEdges.node(of: edge), !known.insert(node).inserted { continue }
            new.append(edge)
        }
        let ids = ownEdges(new)
        if before != nil {
            source.write(id, [("edges", .splice(start: 0, deleted: 0, ids))])
        } else if after != nil {
            source.write(id, [("edges", .splice(start: old.count, deleted: 0, ids))])
        } else {
            source.write(id, [("edges", .links(ids))])
        }
    }

    /// Adds edges of the page that have been streamed, behind those of the page that came before them. Where none of those
    /// is left, because the connection was fetched anew meanwhile, the page is joined with it whole: its later edges alone
    /// would leave a gap. If they were all deleted instead, they come back, as with Relay.
    private func addEdges(_ range: Range<Int>, to connection: DraftRecordProxy) {
        guard let serverEdges = ConnectionEdges(server), let edges = ConnectionEdges(connection)
        else { return }
        let page = serverEdges.records
        let old = edges.records
        let last = placeOfLast(page.prefix(range.lowerBound), in: old)
        let isContinuing = isContinuing(connection)
        if last == nil, !isContinuing { return }
        let isWhole = last == nil && range.lowerBound > 0
        // What is missing of a page that is not at the end was left out; of others it was deleted.
        let start = isContinuing ? (isWhole ? 0 : range.lowerBound) : last.map { $0.index + 1 } ?? 0
        let brought = page.prefix(range.upperBound).dropFirst(start)
        var missing = Set(brought.compactMap { serverEdges.node(of: $0) })
        for edge in old { if let edge { missing.remove(content(of: edge)) } }
        let new = brought.filter { edge in
            serverEdges.node(of: edge).map { missing.remove($0) != nil } ?? !old.contains(edge)
        }
        if !new.isEmpty {
            // The edges of other pages stand behind those of the first one.
            let place = last.map { $0.place + 1 } ?? (after != nil || isLast ? old.count : 0)
            source.write(
                id, [("edges", .splice(start: place, deleted: 0, ownEdges(Array(new))))])
        }
        if isWhole { mergePageInfo(of: connection) }
    }

    /// The last of these edges that the connection still has, under whatever record: its index in the page, and its place.
    /// One on the other side of the page's cursor is of another page, which has the same node.
    private func placeOfLast(
        _ page: ArraySlice<RecordIndex?>, in edges: [RecordIndex?]
    ) -> (index: Int, place: Int)? {
        guard let edge = page.last else { return nil }
        // Nearly always the one before, and the last of all.
        let wanted = edge.map { content(of: $0) }
        let isLast = after != nil && edges.last?.map { content(of: $0) } == wanted
        let range = isLast ? 0..<edges.count : reach(edges)
        if let place = edges[range].lastIndex(where: { $0.map { content(of: $0) } == wanted }) {
            return (page.endIndex - 1, place)
        }
        var places: [RecordIndex: Int] = [:]
        for place in range { if let edge = edges[place] { places[content(of: edge)] = place } }
        for index in page.indices.reversed() {
            if let place = page[index].flatMap({ places[content(of: $0)] }) {
                return (index, place)
            }
        }
        return nil
    }

    /// The places in which the edges of the page may stand: on its side of its cursor.
    private func reach(_ edges: [RecordIndex?]) -> Range<Int> {
        func place(_ cursor: String) -> Int? {
            let snapshot = source.draft.snapshot
            return edges.firstIndex { edge in
                edge.map { snapshot.fieldValue("cursor", of: $0) } == .string(cursor)
            }
        }
        if let after { return (place(after).map { $0 + 1 } ?? 0)..<edges.count }
        if let before { return 0..<(place(before) ?? edges.count) }
        return 0..<edges.count
    }

    /// What tells an edge from others: its node, or itself where it has none.
    private func content(of edge: RecordIndex) -> RecordIndex {
        let snapshot = source.draft.snapshot
        return snapshot.symbols.findName("node").flatMap { snapshot.link($0, of: edge) } ?? edge
    }

    private func isNamedByNode(_ edgeID: DataID, _ nodeID: String) -> Bool {
        edgeID == server.dataID.clientID(storageKey: "edges", place: nodeID)
    }

    /// An edge of the page has got fields: the connection's copy gets them, too.
    private func renewEdge(_ index: Int, of connection: DraftRecordProxy) {
        guard let page = ConnectionEdges(server)?.records, page.indices.contains(index),
            let old = ConnectionEdges(connection)?.records,
            isContinuing(connection) || placeOfLast(page[index...index], in: old) != nil
        else { return }
        _ = ownEdges([page[index]])
    }

    /// The edges as the connection keeps them. One that is named by its node is shared with the page: it
    /// means the same there for ever. One that is named by its place is copied, because the next fetch
    /// of the same page may put another there.
    private func ownEdges(_ edges: [RecordIndex?]) -> [DataID?] {
        let symbols = source.draft.snapshot.symbols
        let finder = ConnectionEdges(server)
        return edges.map { edge -> DataID? in
            guard let edge else { return nil }
            let edgeID = DataID(symbols.idString(edge))
            guard let node = finder?.node(of: edge) else { return edgeID }
            let nodeID = symbols.idString(node)
            if isNamedByNode(edgeID, nodeID) { return edgeID }
            let own = id.clientID(storageKey: nodeID)
            let proxy = source.proxy(edgeID)
            _ = source.create(dataID: own, typeName: proxy.typeName)
            source.proxy(own).copyFields(from: proxy)
            return own
        }
    }

    // MARK: Page info

    /// What comes behind the edges of a page is left out where these have gone with a newer first page: it would lead on
    /// behind a gap.
    private func mergeLatePageInfo(of connection: DraftRecordProxy) {
        if after != nil || before != nil, let page = ConnectionEdges(server), !page.records.isEmpty,
            let edges = ConnectionEdges(connection)
        {
            if placeOfLast(page.records[...], in: edges.records) == nil { return }
        }
        mergePageInfo(of: connection)
    }

    private func mergePageInfo(of connection: DraftRecordProxy) {
        let infoID = id.clientID(storageKey: "pageInfo")
        var fields: [(key: String, value: FieldValue)] = []
        let isNew = source.row(infoID) == nil
        let hasPages = after != nil || before != nil
        if isNew {
            _ = source.create(dataID: infoID, typeName: "PageInfo")
            fields = [
                ("hasNextPage", .bool(false)), ("hasPreviousPage", .bool(false)),
                ("endCursor", .null), ("startCursor", .null),
            ]
        }
        func take(_ names: [String]) {
            for name in names {
                guard let value = pageInfo(server, name) else { continue }
                // A page that is empty has no cursors; the connection ends where it did.
                if value == .null, hasPages, !isNew { continue }
                fields.append((name, value))
            }
        }
        if isNew || !hasPages {
            take(["hasNextPage", "hasPreviousPage", "endCursor", "startCursor"])
        } else if before != nil {
            take(["hasPreviousPage", "startCursor"])
        } else {
            take(["hasNextPage", "endCursor"])
        }
        if !fields.isEmpty { source.write(infoID, fields) }
        if connection.value("pageInfo") != .link(infoID) {
            source.write(id, [("pageInfo", .link(infoID))])
        }
    }
}

extension Snapshot {
    /// The fields of a record but for some; nil when it does not exist.
    func recordJSON(
        _ record: RecordIndex, except keys: Set<String>
    ) -> [(key: String, value: FieldValue)]? {
        guard let row = row(record) else { return nil }
        return row.shape.keys.compactMap { key in
            let name = symbols.nameString(key)
            guard !keys.contains(name), let value = fieldValue(name, of: record) else { return nil }
            return (name, value)
        }
    }
}
