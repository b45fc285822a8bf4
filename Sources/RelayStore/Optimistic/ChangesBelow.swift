@_spi(Rooms) import RelayRecords

/// What has changed below an optimistic entry, and so whether its update must run again.
///
/// An update is a function of what it looks at. If all of that is as it was when the update last ran, it would write
/// the same again.
struct ChangesBelow {
    private(set) var records = TouchedRecords()
    /// Records that came or went, or changed type.
    private var replaced = TouchedRecords()
    /// Nodes of the changed records that are edges.
    private var nodes: Set<RecordIndex> = []
    private let nodeKey: NameIndex?
    /// Members of the connections in which an entry looked for nodes, as they are below the next entry.
    private var members: [RecordIndex: ConnectionMembers] = [:]

    init(_ changes: ChangeSet, in snapshot: Snapshot) {
        nodeKey = snapshot.symbols.findName("node")
        insert(TouchedRecords(changes), replaced: changes.created + changes.deleted, snapshot)
    }

    /// An entry has gone, or writes something else.
    mutating func insert(_ entry: OptimisticEntry, in snapshot: Snapshot) {
        insert(entry.touched, replaced: entry.replaced, snapshot)
    }

    private mutating func insert(
        _ touched: TouchedRecords, replaced: [RecordIndex], _ snapshot: Snapshot
    ) {
        records.insert(touched)
        for record in replaced { self.replaced.insert(record) }
        for record in touched { noteNode(of: record, snapshot) }
    }

    private mutating func noteNode(of record: RecordIndex, _ snapshot: Snapshot) {
        if let nodeKey, let node = snapshot.link(nodeKey, of: record) { nodes.insert(node) }
    }

    /// Whether a changed record is an edge to one of the nodes.
    func link(to isNode: (RecordIndex) -> Bool) -> Bool { nodes.contains(where: isNode) }

    /// An entry's writes are now on top.
    mutating func pass(_ entry: OptimisticEntry, in snapshot: Snapshot) {
        for record in entry.touched where records.contains(record) {
            noteNode(of: record, snapshot)
        }
        for connection in Array(members.keys) {
            members[connection]?.follow(entry.touched, in: snapshot)
        }
    }

    /// Whether an entry's update might now write something else.
    /// - Parameter snapshot: the state below the entry.
    mutating func concern(_ entry: OptimisticEntry, in snapshot: Snapshot) -> Bool {
        if entry.read.meets(records) { return true }
        if entry.noticed.existing.contains(where: replaced.contains) { return true }
        for absent in entry.noticed.absent {
            if nodes.contains(absent.node) { return true }
            guard records.contains(absent.connection) else { continue }
            let connection = members(of: absent.connection, in: snapshot)
            if connection.nodes.contains(absent.node) { return true }
            // An edge that the update itself writes may now be in the connection.
            if entry.touched.contains(where: connection.edges.contains) { return true }
        }
        return false
    }

    private mutating func members(
        of connection: RecordIndex, in snapshot: Snapshot
    ) -> ConnectionMembers {
        if let known = members[connection] { return known }
        let new = ConnectionMembers(of: connection, in: snapshot)
        members[connection] = new
        return new
    }
}
