import RelayArtifacts
@_spi(Rooms) import RelayRecords

/// The server keeps a connection as a list of links to its nodes, in the field named after the key's last
/// `_`.
struct LinkListConnections: ConnectionStyle {
    func connection(
        of record: DraftRecordProxy, key: String, filters: (any VariableDataConvertible)?
    ) -> (any ConnectionProxy)? {
        LinkListProxy(record, field: String(key.split(separator: "_").last ?? ""))
    }
}

/// A connection that is kept as a list of links to its nodes, as the server does.
final class LinkListProxy: ConnectionProxy {
    private let record: DraftRecordProxy
    private let field: String

    /// - Returns: nil when the field holds no list and is not unknown either.
    init?(_ record: DraftRecordProxy, field: String) {
        switch record.value(field) {
        case .links, nil: break
        default: return nil
        }
        self.record = record
        self.field = field
    }

    private var ids: [DataID?] {
        if case .links(let ids) = record.value(field) { ids } else { [] }
    }

    var nodes: [any RecordProxy] { ids.compactMap { $0.flatMap { record.source[$0] } } }

    func insert(_ node: any RecordProxy, edgeType: String, at place: ConnectionPlace) {
        let ids = self.ids
        if ids.contains(node.dataID) { return }
        if place.isEnd(of: ids) {
            record.source.write(record.dataID, [(field, .append(node.dataID))])
        } else {
            let start = place.index(in: ids)
            record.source.write(
                record.dataID, [(field, .splice(start: start, deleted: 0, [node.dataID]))])
        }
    }

    func delete(nodeID: DataID) {
        for _ in ids.filter({ $0 == nodeID }) {
            record.source.write(record.dataID, [(field, .remove(nodeID))])
        }
    }

    func move(nodeID: DataID, to place: ConnectionPlace) {
        var ids = self.ids
        guard ids.contains(nodeID), place.neighbour != nodeID else { return }
        ids.removeAll { $0 == nodeID }
        ids.insert(nodeID, at: place.index(in: ids))
        record.source.write(record.dataID, [(field, .links(ids))])
    }
}
