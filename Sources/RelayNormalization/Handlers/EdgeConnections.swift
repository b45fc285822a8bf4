package import RelayArtifacts
@_spi(Rooms) package import RelayRecords

/// The client keeps a connection as a record `__KEY_connection` with a list of edge records.
package struct EdgeConnections: ConnectionStyle {
    package init() {}

    package func connection(
        of record: DraftRecordProxy, key: String, filters: (any VariableDataConvertible)?
    ) -> (any ConnectionProxy)? {
        ConnectionHandler.default.getConnection(record, key: key, filters: filters)
            .map { EdgeConnectionProxy($0, source: record.source) }
    }
}

/// A client-side connection, for shared mutations.
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
        guard ConnectionEdges(connection)?.hasNode(node.dataID) != true else { return }
        // A record from the server has an id without having been given one.
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
