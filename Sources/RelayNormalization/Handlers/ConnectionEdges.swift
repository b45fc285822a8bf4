@_spi(Rooms) package import RelayRecords

/// The list of edges of a connection's record, in a draft.
struct ConnectionEdges {
    let connection: DraftRecordProxy
    private let source: DraftProxy

    init?(_ connection: any RecordProxy) {
        guard let connection = connection as? DraftRecordProxy else { return nil }
        self.connection = connection
        source = connection.source
    }

    var records: [RecordIndex?] { links?.records ?? [] }

    var links: LinkList? {
        guard let row = source.row(connection.dataID),
            let key = source.draft.snapshot.symbols.findName("edges"),
            let slot = row.slot(of: key), row.tag(slot) == .links
        else { return nil }
        return row.links(slot)
    }

    // MARK: Finding

    /// The node that an edge links to.
    func node(of edge: RecordIndex?) -> RecordIndex? {
        guard let edge else { return nil }
        source.look(at: edge)
        let snapshot = source.draft.snapshot
        return snapshot.symbols.findName("node").flatMap { snapshot.link($0, of: edge) }
    }

    func index(ofNode id: DataID) -> Int? {
        // Looked at even if the node is unknown: the connection reports it when it arrives, and the node's record
        // reports it when an existing edge starts to link to it.
        let edges = records
        guard let node = source.find(id) else { return nil }
        return edges.firstIndex { self.node(of: $0) == node }
    }

    func index(ofCursor cursor: String) -> Int? {
        records.firstIndex { edge in
            if let edge { source.look(at: edge) }
            return edge.map { source.draft.snapshot.fieldValue("cursor", of: $0) }
                == .string(cursor)
        }
    }

    // MARK: Changing

    /// Where to put an edge.
    enum Place {
        case start
        case end
        /// Before the edge with this index.
        case index(Int)
    }

    /// - Parameter place: called only if there is no edge to the node. At either end it depends on nothing in the
    ///   connection, and neither does what is written.
    func insert(_ edge: any RecordProxy, at place: () -> Place) {
        guard case .link(let node) = (edge as? DraftRecordProxy)?.value("node"), !hasNode(node)
        else { return }
        switch place() {
        case .start: extend(.splice(start: 0, deleted: 0, [edge.dataID]))
        case .end: extend(.append(edge.dataID))
        case .index(let index): write(.splice(start: index, deleted: 0, [edge.dataID]))
        }
    }

    /// Whether an edge links to a node. If none does, that fact is noted, rather than a look at all edges.
    func hasNode(_ id: DataID) -> Bool {
        let snapshot = source.draft.snapshot
        guard let node = snapshot.symbols.findRecord(id.rawValue),
            let (record, _) = source.notice(connection.dataID)
        else { return index(ofNode: id) != nil }
        if let key = snapshot.symbols.findName("node"),
            let edges = snapshot.links("edges", of: record)?.records,
            edges.contains(where: { $0.flatMap { snapshot.link(key, of: $0) } == node })
        {
            return index(ofNode: id) != nil
        }
        source.notice(AbsentNode(node: node, connection: record))
        return false
    }

    func delete(_ nodeID: DataID) {
        while let index = index(ofNode: nodeID) {
            write(.splice(start: index, deleted: 1, []))
        }
    }

    private func extend(_ edges: FieldValue) {
        source.extend(connection.dataID, ("edges", edges))
    }

    private func write(_ edges: FieldValue) {
        source.write(connection.dataID, [("edges", edges)])
    }
}

extension Snapshot {
    /// The record that another record's field links to.
    package func link(_ key: NameIndex, of record: RecordIndex) -> RecordIndex? {
        guard let row = row(record), let slot = row.slot(of: key), row.tag(slot) == .link
        else { return nil }
        return row.link(slot)
    }
}
