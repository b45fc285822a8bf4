public import RelayArtifacts
@_spi(Rooms) public import RelayRecords

/// Keeps the pages of a connection as one list: the record that `@connection(key:)` names.
///
/// That record is linked from the parent as `__KEY_connection`, has an id of its own and survives fetches with other
/// paging arguments. Its edges are identified by their nodes.
public final class ConnectionHandler: Handler {
    /// The handler. It is stateless, so one is enough.
    public static let `default` = ConnectionHandler()

    private init() {}

    /// The connection's record; nil if it was never fetched or is null.
    public func getConnection(
        _ record: any RecordProxy, key: String,
        filters: (any VariableDataConvertible)? = nil
    ) -> (any RecordProxy)? {
        record.getLinkedRecord("__\(key)_connection", args: filters)
    }

    /// The id of the connection's record.
    public func getConnectionID(
        parentID: DataID, key: String, filters: (any VariableDataConvertible)? = nil
    ) -> DataID {
        parentID.clientID(storageKey: storageKey("__\(key)_connection", filters) { _ in false })
    }

    // MARK: Edges

    /// An edge of the connection to a node. Creating it twice for one node gives the same edge.
    public func createEdge(
        _ store: inout any RecordSourceProxy, connection: any RecordProxy,
        node: any RecordProxy, type: String
    ) -> any RecordProxy {
        let id = connection.dataID.clientID(storageKey: node.dataID.rawValue)
        let edge = store.create(dataID: id, typeName: type)
        edge.setLinkedRecord("node", record: node)
        return edge
    }

    /// An edge of the connection to a node. Creating it twice for one node gives the same edge.
    public func createEdge(
        _ store: inout any RecordSourceSelectorProxy, connection: any RecordProxy,
        node: any RecordProxy, type: String
    ) -> any RecordProxy {
        var source: any RecordSourceProxy = store
        return createEdge(&source, connection: connection, node: node, type: type)
    }

    /// The connection's own copy of an edge that came from the server; nil for an edge without a node.
    public func buildConnectionEdge(
        _ store: inout any RecordSourceProxy, connection: any RecordProxy,
        edge: (any RecordProxy)?
    ) -> (any RecordProxy)? {
        guard let edge, let node = edge.getLinkedRecord("node") else { return nil }
        let own = createEdge(&store, connection: connection, node: node, type: edge.typeName)
        own.copyFields(from: edge)
        return own
    }

    /// Inserts an edge before the one with this cursor; at the start if there is none, or if `before` is nil. Does
    /// nothing if the connection already has an edge to the node.
    public func insert(
        connection: any RecordProxy, edge: any RecordProxy, before cursor: String?
    ) {
        guard let edges = ConnectionEdges(connection) else { return }
        edges.insert(edge) {
            guard let index = cursor.flatMap({ edges.index(ofCursor: $0) }) else { return .start }
            return .index(index)
        }
    }

    /// Inserts an edge after the one with this cursor; at the end if there is none, or if `after` is nil. Does nothing
    /// if the connection already has an edge to the node.
    public func insert(
        connection: any RecordProxy, edge: any RecordProxy, after cursor: String? = nil
    ) {
        guard let edges = ConnectionEdges(connection) else { return }
        edges.insert(edge) {
            guard let index = cursor.flatMap({ edges.index(ofCursor: $0) }) else { return .end }
            return .index(index + 1)
        }
    }

    /// Removes every edge to a node from the connection.
    public func delete(connection: any RecordProxy, nodeID: DataID) {
        ConnectionEdges(connection)?.delete(nodeID)
    }

    func insert(
        _ edge: any RecordProxy, into connection: any RecordProxy, at place: ConnectionPlace
    ) {
        guard let edges = ConnectionEdges(connection) else { return }
        edges.insert(edge) {
            switch place {
            case .start: .start
            case .end: .end
            case .before(let id): edges.index(ofNode: id).map { .index($0) } ?? .start
            case .after(let id): edges.index(ofNode: id).map { .index($0 + 1) } ?? .end
            }
        }
    }

    // MARK: Pages

    /// Merges a new page into the connection; see ``Handler/update(store:fieldPayload:)``.
    public func update(store: inout any RecordSourceProxy, fieldPayload: HandleFieldPayload) {
        guard let source = store as? DraftProxy, source.row(fieldPayload.dataID) != nil
        else { return }
        let parent = source.proxy(fieldPayload.dataID)
        guard case .link(let serverID) = parent.value(fieldPayload.fieldKey),
            source.row(serverID) != nil
        else {
            // Nothing to page through: the connection reads as null, like the field itself, with the same errors.
            switch parent.value(fieldPayload.fieldKey) {
            case .null?: source.write(parent.dataID, [(fieldPayload.handleKey, .null)])
            case .failed(let errors)?:
                // A failed page before or after others does not take them with it.
                if PageOfConnection.place(fieldPayload.args) != nil,
                    case .link? = parent.value(fieldPayload.handleKey)
                {
                    break
                }
                source.write(parent.dataID, [(fieldPayload.handleKey, .failed(errors))])
            default: break
            }
            return
        }
        let merge = ConnectionMerge(source, server: source.proxy(serverID), fieldPayload)
        merge.run(fieldPayload.part)
        if parent.value(fieldPayload.handleKey) != .link(merge.id) {
            source.write(parent.dataID, [(fieldPayload.handleKey, .link(merge.id))])
        }
    }
}
