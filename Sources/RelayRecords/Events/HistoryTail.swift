/// The newest commits of a history, each with the state after it: what a server that has just started knows
/// of the past.
package struct HistoryTail: Sendable {
    package private(set) var commits: NewestCommits
    /// The events after the base that changed the schema, in order.
    package private(set) var schemaChanges: [UInt64] = []

    /// How long a tail may be.
    package struct Limits: Sendable {
        /// The newest events whose commits are kept.
        package var events: UInt64
        /// The limit of what the commits have written. The newest is kept whatever its size.
        package var bytes: Int

        package init(events: UInt64, bytes: Int) {
            self.events = events
            self.bytes = bytes
        }

        package static let none = Limits(events: 0, bytes: 0)
    }

    /// A tail without commits.
    /// - Parameter base: the state before the first of them.
    package init(after base: Snapshot, limits: Limits) {
        commits = NewestCommits(after: base, countLimit: .max, byteLimit: limits.bytes)
    }

    /// A mutation was carried out.
    package mutating func append(_ commit: MutationCommit) { commits.append(commit) }

    /// The schema changed.
    package mutating func noteSchemaChange(at sequence: UInt64) { schemaChanges.append(sequence) }
}
