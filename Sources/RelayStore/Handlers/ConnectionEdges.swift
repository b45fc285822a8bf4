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

    var count: Int { links?.count ?? 0 }

    private var links: LinkList? {
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
        guard let row = snapshot.row(edge),
            let key = snapshot.symbols.findName("node"),
            let slot = row.slot(of: key), row.tag(slot) == .link
        else { return nil }
        return row.link(slot)
    }

    func index(ofNode id: DataID) -> Int? {
        guard let node = source.draft.snapshot.symbols.findRecord(id.rawValue) else { return nil }
        return records.firstIndex { self.node(of: $0) == node }
    }

    func index(ofCursor cursor: String) -> Int? {
        records.firstIndex { edge in
            if let edge { source.look(at: edge) }
            return edge.map { source.draft.snapshot.fieldValue("cursor", of: $0) }
                == .string(cursor)
        }
    }

    // MARK: Changing

    func insert(_ edge: any RecordProxy, at index: (ConnectionEdges) -> Int) {
        guard case .link(let node) = (edge as? DraftRecordProxy)?.value("node"),
            self.index(ofNode: node) == nil
        else { return }
        let place = index(self)
        write(.splice(start: place, deleted: 0, [edge.dataID]))
    }

    func delete(_ nodeID: DataID) {
        while let index = index(ofNode: nodeID) {
            write(.splice(start: index, deleted: 1, []))
        }
    }

    private func write(_ edges: FieldValue) {
        source.write(connection.dataID, [("edges", edges)])
    }
}

/// A connection of the client, for shared mutations.
final class EdgeConnectionProxy: ConnectionProxy {
    private let connection: any RecordProxy
    private var source: any RecordSourceProxy

    init(_ connection: any RecordProxy, source: any RecordSourceProxy) {
        self.connection = connection
        self.source = source
    }

    var nodes: [any RecordProxy] {
        connection.getLinkedRecords("edges")?.compactMap { $0?.getLinkedRecord("node") } ?? []
    }

    func insert(_ node: any RecordProxy, edgeType: String, at place: ConnectionPlace) {
        let handler = ConnectionHandler.default
        guard ConnectionEdges(connection)?.index(ofNode: node.dataID) == nil else { return }
        // A server's record has its id without being given it.
        if node["id"] == nil { node["id"] = node.dataID.rawValue }
        let edge = handler.createEdge(
            &source, connection: connection, node: node, type: edgeType)
        handler.insert(edge, into: connection, at: place)
    }

    func delete(nodeID: DataID) {
        ConnectionHandler.default.delete(connection: connection, nodeID: nodeID)
    }

    func move(nodeID: DataID, to place: ConnectionPlace) {
        guard place.neighbour != nodeID, let edges = ConnectionEdges(connection),
            let index = edges.index(ofNode: nodeID),
            let edge = connection.getLinkedRecords("edges")?[index]
        else { return }
        delete(nodeID: nodeID)
        ConnectionHandler.default.insert(edge, into: connection, at: place)
    }
}
