import RelayArtifacts
@_spi(Rooms) import RelayRecords

/// `@deleteRecord`: the field has the id of a record, or a list of ids; the records are deleted.
struct DeleteRecordHandler: Handler {
    func update(store: inout any RecordSourceProxy, fieldPayload: HandleFieldPayload) {
        for id in fieldPayload.ids(in: store) { store.delete(dataID: id) }
    }
}

/// `@deleteEdge(connections:)`: the field has the id of a node, or a list of ids; the nodes leave the
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
        let edges = fieldPayload.records(in: store)
        for connection in fieldPayload.connections(in: store) {
            for edge in place == .start ? edges.reversed() : edges {
                guard
                    let own = ConnectionHandler.default.buildConnectionEdge(
                        &store, connection: connection, edge: edge)
                else { continue }
                ConnectionHandler.default.insert(own, into: connection, at: place)
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
        let nodes = fieldPayload.records(in: store)
        for connection in fieldPayload.connections(in: store) {
            for node in place == .start ? nodes.reversed() : nodes {
                let edge = ConnectionHandler.default.createEdge(
                    &store, connection: connection, node: node, type: type)
                ConnectionHandler.default.insert(edge, into: connection, at: place)
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

    /// The records that the field links to; of a list of which a part has come, those of the part.
    fileprivate func records(in store: any RecordSourceProxy) -> [any RecordProxy] {
        guard let record = store[dataID] else { return [] }
        if let one = record.getLinkedRecord(fieldKey) {
            if case .object? = part { return [] }
            return [one]
        }
        let all = record.getLinkedRecords(fieldKey) ?? []
        switch part {
        case nil: return all.compactMap { $0 }
        case .items(let range, of: nil):
            return all[range.clamped(to: all.indices)].compactMap { $0 }
        case .members, .object, .items: return []
        }
    }

    /// The connections that the directive names by their record ids, as far as they are in the store.
    fileprivate func connections(in store: any RecordSourceProxy) -> [any RecordProxy] {
        guard case .array(let ids) = handleArgs["connections"] else { return [] }
        return ids.compactMap { id in
            if case .string(let id) = id { store[DataID(id)] } else { nil }
        }
    }
}
