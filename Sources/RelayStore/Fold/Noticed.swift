/// A node that was looked for in a connection and that no edge of it linked to.
struct AbsentNode: Hashable, Sendable {
    let node: RecordIndex
    let connection: RecordIndex
}

/// What was looked at of records without a look at the whole of them.
///
/// An update that adds an edge to a connection depends on very little of it: were it taken to depend on the whole
/// record, then of `n` updates that add to one connection all that wait would run again at each answer.
struct Noticed: Sendable {
    /// Records of which only was asked whether they exist (they did), and of which type they are.
    var existing = TouchedRecords()
    var absent: [AbsentNode] = []

    /// Every record that stands here in any way.
    func insert(into records: inout TouchedRecords) {
        records.insert(existing)
        for absent in absent {
            records.insert(absent.node)
            records.insert(absent.connection)
        }
    }
}
