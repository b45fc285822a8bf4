import RelayNormalization
@_spi(Rooms) import RelayRecords

/// The edges and nodes of a connection. May include some that left it while entries were put on top of each other.
///
/// So it may report a node that is no longer there: then an update runs again unnecessarily.
struct ConnectionMembers {
    private(set) var edges: Set<RecordIndex> = []
    private(set) var nodes: Set<RecordIndex> = []
    private let connection: RecordIndex
    private let nodeKey: NameIndex?
    private var links: LinkList?

    init(of connection: RecordIndex, in snapshot: Snapshot) {
        self.connection = connection
        nodeKey = snapshot.symbols.findName("node")
        links = snapshot.links("edges", of: connection)
        links?.forEachRecord { add($0, snapshot) }
    }

    /// Takes in what an entry may have changed.
    mutating func follow(_ touched: TouchedRecords, in snapshot: Snapshot) {
        for record in touched {
            if record == connection {
                followLinks(in: snapshot)
            } else if edges.contains(record) {
                add(record, snapshot)
            }
        }
    }

    private mutating func followLinks(in snapshot: Snapshot) {
        let old = links ?? .empty
        links = snapshot.links("edges", of: connection)
        links?.forEachLinkAdded(since: old) { add($0, snapshot) }
    }

    private mutating func add(_ edge: RecordIndex?, _ snapshot: Snapshot) {
        guard let edge else { return }
        edges.insert(edge)
        if let nodeKey, let node = snapshot.link(nodeKey, of: edge) { nodes.insert(node) }
    }
}
