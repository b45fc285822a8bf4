/// A node that was looked for in a connection and that no edge of it linked to.
package struct AbsentNode: Hashable, Sendable {
    package let node: RecordIndex
    package let connection: RecordIndex

    package init(node: RecordIndex, connection: RecordIndex) {
        self.node = node
        self.connection = connection
    }
}

/// What was looked at of records without a look at the whole of them.
///
/// An update that adds an edge to a connection depends on very little of it: were it taken to depend on the whole
/// record, then of `n` updates that add to one connection all that wait would run again at each answer.
package struct Noticed: Sendable {
    /// Records of which only was asked whether they exist (they did), and of which type they are.
    package var existing = TouchedRecords()
    package var absent: [AbsentNode] = []

    /// Every record that stands here in any way.
    package func insert(into records: inout TouchedRecords) {
        records.insert(existing)
        for absent in absent {
            records.insert(absent.node)
            records.insert(absent.connection)
        }
    }
}
