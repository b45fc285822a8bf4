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
        case .items(let range, of: "edges"?): addEdges(range, to: connection)
        case .object(in: "edges", index: let index?): renewEdge(index)
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
        let isWhole = last == nil && range.lowerBound > 0
        let brought = page.prefix(range.upperBound).dropFirst(isWhole ? 0 : range.lowerBound)
        var missing = Set(brought.compactMap { serverEdges.node(of: $0) })
        let snapshot = source.draft.snapshot
        if let key = snapshot.symbols.findName("node") {
            for edge in old {
                if let node = edge.flatMap({ snapshot.link(key, of: $0) }) { missing.remove(node) }
            }
        }
        let new = brought.filter { edge in
            serverEdges.node(of: edge).map { missing.remove($0) != nil } ?? true
        }
        if !new.isEmpty {
            // The edges of other pages stand behind those of the first one.
            let start = last.map { $0 + 1 } ?? (after != nil || isLast ? old.count : 0)
            source.write(
                id, [("edges", .splice(start: start, deleted: 0, ownEdges(Array(new))))])
        }
        if isWhole { mergePageInfo(of: connection) }
    }

    /// Where the last of these edges stands that the connection still has.
    private func placeOfLast(
        _ page: ArraySlice<RecordIndex?>, in edges: [RecordIndex?]
    ) -> Int? {
        guard let edge = page.last else { return nil }
        // Nearly always the one before.
        if let kept = keptEdge(edge), let place = edges.lastIndex(of: kept) { return place }
        var places: [RecordIndex: Int] = [:]
        for (place, edge) in edges.enumerated() { if let edge { places[edge] = place } }
        return page.reversed().lazy
            .compactMap { edge in
                edge.flatMap { places[$0] } ?? self.keptEdge(edge).flatMap { places[$0] }
            }.first
    }

    /// The record under which the connection keeps an edge of the page, if it does.
    private func keptEdge(_ edge: RecordIndex?) -> RecordIndex? {
        guard let edge, let node = ConnectionEdges(server)?.node(of: edge) else { return edge }
        let symbols = source.draft.snapshot.symbols
        let (edgeID, nodeID) = (DataID(symbols.idString(edge)), symbols.idString(node))
        return isNamedByNode(edgeID, nodeID)
            ? edge : symbols.findRecord(id.clientID(storageKey: nodeID).rawValue)
    }

    private func isNamedByNode(_ edgeID: DataID, _ nodeID: String) -> Bool {
        edgeID == server.dataID.clientID(storageKey: "edges", place: nodeID)
    }

    /// An edge of the page has got fields: the connection's copy gets them, too.
    private func renewEdge(_ index: Int) {
        guard let page = ConnectionEdges(server)?.records, page.indices.contains(index)
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
            let nodes = Set(edges.records.compactMap { edges.node(of: $0) })
            let isJoined = page.records.contains { edge in
                page.node(of: edge).map(nodes.contains) ?? edges.records.contains(edge)
            }
            if !isJoined { return }
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
