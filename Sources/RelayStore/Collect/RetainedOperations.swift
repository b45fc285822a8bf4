import RelayArtifacts

/// The operations whose records are kept, and when each was fetched.
///
/// An operation that nobody retains any more waits in the release buffer, so that going back to a screen
/// finds its data. The buffer is first in, first out; what is retained again leaves it.
struct RetainedOperations {
    struct Root {
        /// Who retains it; 0 in the release buffer.
        var holders = 0
        /// The sequence after it was fetched last; nil: not since it is retained.
        var fetchedAt: UInt64?
        var fetchedMicroseconds: Int64?
    }

    private(set) var roots: [OperationSelector: Root] = [:]
    private var releaseBuffer: [OperationSelector] = []
    /// Responses of mutations and subscriptions since records were last said to be garbage: each has a root
    /// of its own, which nobody keeps.
    private var passingResponses = 0
    private static let leastPassingResponses = 1_000

    subscript(operation: OperationSelector) -> Root? { roots[operation] }

    mutating func retain(_ operation: OperationSelector) {
        releaseBuffer.removeAll { $0 == operation }
        roots[operation, default: Root()].holders += 1
    }

    /// - Returns: whether records may have become garbage.
    mutating func release(_ operation: OperationSelector, bufferSize: Int, isStale: Bool) -> Bool {
        guard let root = roots[operation], root.holders > 0 else { return false }
        roots[operation]?.holders -= 1
        if root.holders > 1 { return false }
        // Data that would be fetched again anyway is not worth its place.
        if isStale {
            roots[operation] = nil
            return true
        }
        return buffer(operation, size: bufferSize)
    }

    /// - Parameter recordCount: of the store; looking for garbage takes as long as that is large.
    /// - Returns: whether records may have become garbage.
    mutating func noteFetched(
        _ operation: OperationSelector, at sequence: UInt64, microseconds: Int64, bufferSize: Int,
        recordCount: Int
    ) -> Bool {
        let isKnown = roots[operation] != nil
        let isQuery = operation.request.params.operationKind == .query
        if !isKnown, !isQuery { return notePassing(recordCount) }
        // A query that is fetched before it is shown must not be collected in between.
        if !isKnown, bufferSize == 0 { return false }
        roots[operation, default: Root()].fetchedAt = sequence
        roots[operation]?.fetchedMicroseconds = microseconds
        return isKnown ? false : buffer(operation, size: bufferSize)
    }

    /// A subscription may go on for weeks: its events must not fill the store.
    private mutating func notePassing(_ recordCount: Int) -> Bool {
        passingResponses += 1
        guard passingResponses >= max(Self.leastPassingResponses, recordCount / 4) else {
            return false
        }
        passingResponses = 0
        return true
    }

    private mutating func buffer(_ operation: OperationSelector, size: Int) -> Bool {
        releaseBuffer.append(operation)
        var isEvicted = false
        while releaseBuffer.count > size {
            roots[releaseBuffer.removeFirst()] = nil
            isEvicted = true
        }
        return isEvicted
    }
}
