import RelayArtifacts
@_spi(Rooms) import RelayRecords

/// `@deleteRecord`: the field has the id of a record, or a list of ids; the records are deleted.
struct DeleteRecordHandler: Handler {
    func update(store: inout any RecordSourceProxy, fieldPayload: HandleFieldPayload) {
        for id in fieldPayload.ids(in: store) where id != .rootID { store.delete(dataID: id) }
    }
}

/// `@deleteEdge(connections:)`: the field has the id of a node, or a list of ids; the nodes are removed from the
/// connections, the records stay.
struct DeleteEdgeHandler: Handler {
    func update(store: inout any RecordSourceProxy, fieldPayload: HandleFieldPayload) {
        let ids = fieldPayload.ids(in: store)
        for connection in fieldPayload.connections(in: store) {
            for id in ids { ConnectionHandler.default.delete(connection: connection, nodeID: id) }
        }
    }
}

/// `@appendEdge(connections:)`, `@prependEdge(connections:)`: the field links to an edge, or to a list of
/// edges.
struct EdgeHandler: Handler {
    let place: ConnectionPlace

    func update(store: inout any RecordSourceProxy, fieldPayload: HandleFieldPayload) {
        // An edge is added for its node.
        let new = fieldPayload.newRecords(in: store) { $0.contains("node") }
        for connection in fieldPayload.connections(in: store) {
            connection.insert(new, at: place) { edge in
                edge.getLinkedRecord("node")?.dataID
            } edge: { edge in
                ConnectionHandler.default.buildConnectionEdge(
                    &store, connection: connection, edge: edge)
            }
        }
    }
}

/// `@appendNode(connections:edgeTypeName:)`, `@prependNode(…)`: the field links to a node, or to a list of
/// nodes.
struct NodeHandler: Handler {
    let place: ConnectionPlace

    func update(store: inout any RecordSourceProxy, fieldPayload: HandleFieldPayload) {
        guard case .string(let type) = fieldPayload.handleArgs["edgeTypeName"] else { return }
        // A node is added when it arrives. Fields of it that arrive later neither add nor remove it.
        let new = fieldPayload.newRecords(in: store) { _ in false }
        for connection in fieldPayload.connections(in: store) {
            connection.insert(new, at: place) { node in
                node.dataID
            } edge: { node in
                ConnectionHandler.default.createEdge(
                    &store, connection: connection, node: node, type: type)
            }
        }
    }
}

/// Nodes or edges that a field has brought.
private struct NewRecords {
    let records: [any RecordProxy]
    /// Items of the same list that came before them.
    var former: [any RecordProxy] = []
}

extension RecordProxy {
    /// Inserts edges into this connection. Items streamed to the start go after those that came before them.
    fileprivate func insert(
        _ new: NewRecords, at place: ConnectionPlace,
        node: (any RecordProxy) -> DataID?, edge: (any RecordProxy) -> (any RecordProxy)?
    ) {
        var place = place
        if place == .start, let edges = ConnectionEdges(self) {
            let last = new.former.lazy.reversed().compactMap(node).first { edges.hasNode($0) }
            if let last { place = .after(nodeID: last) }
        }
        for record in place == .end ? new.records : new.records.reversed() {
            if let edge = edge(record) {
                ConnectionHandler.default.insert(edge, into: self, at: place)
            }
        }
    }
}

// MARK: What the field holds; whatever the server sent instead counts as nothing

extension HandleFieldPayload {
    fileprivate func ids(in store: any RecordSourceProxy) -> [DataID] {
        let value = store[dataID]?[fieldKey]
        if let ids = value as? [Any] { return ids.compactMap { Self.id($0) } }
        return Self.id(value).map { [$0] } ?? []
    }

    /// Some servers send numbers where the schema says ID.
    private static func id(_ value: Any?) -> DataID? {
        switch value {
        case let id as String: DataID(id)
        case let id as Int: DataID(String(id))
        default: nil
        }
    }

    /// The records that the field links to; if part of a list has arrived, those of the part.
    /// - Parameter isNew: whether a record that was there before counts as new when these members arrive.
    fileprivate func newRecords(
        in store: any RecordSourceProxy, isNew: (_ members: Set<String>) -> Bool
    ) -> NewRecords {
        guard let record = store[dataID] else { return NewRecords(records: []) }
        if let one = record.getLinkedRecord(fieldKey) {
            switch part {
            case nil, .beginning: return NewRecords(records: [one])
            case .members(let names): return NewRecords(records: isNew(names) ? [one] : [])
            case .object, .items: return NewRecords(records: [])
            }
        }
        let all = record.getLinkedRecords(fieldKey) ?? []
        switch part {
        case nil: return NewRecords(records: all.compactMap { $0 })
        case .items(let range, of: nil):
            let range = range.clamped(to: all.indices)
            return NewRecords(
                records: all[range].compactMap { $0 },
                former: all[..<range.lowerBound].compactMap { $0 })
        case .beginning, .members, .object, .items: return NewRecords(records: [])
        }
    }

    /// Those connections named by the directive, by record id, that are in the store.
    fileprivate func connections(in store: any RecordSourceProxy) -> [any RecordProxy] {
        guard case .array(let ids) = handleArgs["connections"] else { return [] }
        return ids.compactMap { id in
            if case .string(let id) = id { store[DataID(id)] } else { nil }
        }
    }
}
