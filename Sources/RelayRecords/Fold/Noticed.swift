/// A node that was searched for in a connection and that no edge linked to.
package struct AbsentNode: Hashable, Sendable {
    package let node: RecordIndex
    package let connection: RecordIndex

    package init(node: RecordIndex, connection: RecordIndex) {
        self.node = node
        self.connection = connection
    }
}

/// What was read of records without reading them as a whole.
///
/// An update that adds an edge to a connection depends on very little of it: if it counted as depending on the
/// whole record, then of `n` updates that add to one connection all waiting ones would run again at each answer.
package struct Noticed: Sendable {
    /// Records that were only checked for existence (they did exist) and type.
    package var existing = TouchedRecords()
    package var absent: [AbsentNode] = []

    /// Inserts every record mentioned here.
    package func insert(into records: inout TouchedRecords) {
        records.insert(existing)
        for absent in absent {
            records.insert(absent.node)
            records.insert(absent.connection)
        }
    }
}
