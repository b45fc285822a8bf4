import GraphQLLanguage
import RelayArtifacts
@_spi(Rooms) import RelayRecords

/// The server stores a connection as a list of links to its nodes, in the field that ends the key: Relay's
/// keys are `Component_field`, and both parts may contain `_`.
struct LinkListConnections: ConnectionStyle {
    let schema: Schema

    func connection(
        of record: DraftRecordProxy, key: String, filters: (any VariableDataConvertible)?
    ) -> (any ConnectionProxy)? {
        LinkListProxy(record, field: field(of: key, record.typeName))
    }

    /// The longest suffix of the key that is a field of the record's type; if there is none, the part after
    /// the last `_`.
    private func field(of key: String, _ type: String) -> String {
        let fields = schema.type(named: type)
        var end = key[...]
        while true {
            if fields?.field(String(end)) != nil { return String(end) }
            guard let separator = end.firstIndex(of: "_") else { return String(end) }
            end = end[end.index(after: separator)...]
        }
    }
}

/// A connection stored as a list of links to its nodes, as on the server.
final class LinkListProxy: ConnectionProxy {
    private let record: DraftRecordProxy
    private let field: String

    /// - Returns: nil if the field holds something other than a list; an unknown field is allowed.
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
        guard place.neighbour != nodeID,
            let move = ListMove(of: nodeID, among: ids, to: place.index)
        else { return }
        record.source.write(record.dataID, move.writes(nodeID).map { (field, $0) })
    }
}
