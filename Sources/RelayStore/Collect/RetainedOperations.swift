import RelayArtifacts
@_spi(Rooms) import RelayRecords

/// The operations whose records are kept, and when each was fetched.
///
/// When an operation is no longer retained it moves to the release buffer, so that going back to a screen finds its
/// data. The buffer is first in, first out; an operation that is retained again leaves it. An operation is also kept
/// while a response to it is in flight.
struct RetainedOperations {
    struct Root {
        /// How many holders retain it.
        var holders = 0
        /// Responses that have been written but not delivered yet.
        var undelivered = 0
        /// Whether it is in the release buffer.
        var isBuffered = false
        /// The sequence after its last fetch; nil: not fetched while kept.
        var fetchedAt: UInt64?
        var fetchedMicroseconds: Int64?

        /// Whether it is kept beyond the delivery of a response.
        var isKept: Bool { holders > 0 || isBuffered }
    }

    private(set) var roots: [OperationDescriptor: Root] = [:]
    private var releaseBuffer: [OperationDescriptor] = []
    /// Responses not kept since records were last reported as garbage: those of mutations and subscriptions, which have
    /// roots of their own, and of queries if nothing is buffered.
    private var passingResponses = 0
    /// The lowest record count since then; roughly the number of records that are not garbage.
    private var fewestRecords = Int.max
    private static let leastPassingResponses = 1_000
    private static let leastGrowth = 10_000

    subscript(operation: OperationDescriptor) -> Root? { roots[operation] }

    mutating func retain(_ operation: OperationDescriptor) {
        var root = roots[operation] ?? Root()
        if root.isBuffered { releaseBuffer.removeAll { $0 == operation } }
        root.isBuffered = false
        root.holders += 1
        roots[operation] = root
    }

    /// - Returns: whether records may have become garbage.
    mutating func release(_ operation: OperationDescriptor, bufferSize: Int, isStale: Bool) -> Bool
    {
        guard let root = roots[operation], root.holders > 0 else { return false }
        roots[operation]?.holders -= 1
        if root.holders > 1 { return false }
        // Data that would be refetched anyway is not worth a slot.
        return isStale ? drop(operation) : buffer(operation, size: bufferSize)
    }

    /// - Parameter recordCount: records in the store; the time a collection takes grows with it.
    /// - Returns: whether records may have become garbage.
    mutating func noteFetched(
        _ operation: OperationDescriptor, at sequence: UInt64, microseconds: Int64, bufferSize: Int,
        recordCount: Int
    ) -> Bool {
        let isKept = roots[operation]?.isKept ?? false
        let isQuery = operation.request.node.params.operationKind == .query
        // Not at once if nothing is buffered: a query that has been fetched may be shown in a moment.
        if !isKept, !isQuery || bufferSize <= 0 { return notePassing(recordCount) }
        roots[operation, default: Root()].fetchedAt = sequence
        roots[operation]?.fetchedMicroseconds = microseconds
        return isKept ? false : buffer(operation, size: bufferSize)
    }

    // MARK: Responses on their way

    /// A response has been written; its operation is kept until ``endHold(of:)``.
    mutating func hold(_ operation: OperationDescriptor) {
        roots[operation, default: Root()].undelivered += 1
    }

    /// A response has been delivered.
    /// - Returns: whether records may have become garbage that nothing has counted.
    mutating func endHold(of operation: OperationDescriptor) -> Bool {
        guard var root = roots[operation], root.undelivered > 0 else { return false }
        root.undelivered -= 1
        let isNeeded = root.isKept || root.undelivered > 0
        roots[operation] = isNeeded ? root : nil
        // Roots that were never kept are counted as they pass.
        return !isNeeded && root.fetchedAt != nil
    }

    /// A subscription may run for weeks: its events must not fill the store. Nor must queries.
    ///
    /// The time a collection takes grows with what is kept, so it runs once for a number of responses, or when the
    /// store has grown by half. Neither is measured against the current record count, which includes garbage and so
    /// grows with the responses.
    private mutating func notePassing(_ recordCount: Int) -> Bool {
        passingResponses += 1
        fewestRecords = min(fewestRecords, recordCount)
        let isMany = passingResponses >= max(Self.leastPassingResponses, fewestRecords / 4)
        let hasGrown = recordCount - fewestRecords >= max(Self.leastGrowth, fewestRecords / 2)
        guard isMany || hasGrown else { return false }
        passingResponses = 0
        fewestRecords = recordCount
        return true
    }

    private mutating func buffer(_ operation: OperationDescriptor, size: Int) -> Bool {
        releaseBuffer.append(operation)
        roots[operation, default: Root()].isBuffered = true
        var isEvicted = false
        while releaseBuffer.count > max(0, size) {
            isEvicted = drop(releaseBuffer.removeFirst()) || isEvicted
        }
        return isEvicted
    }

    /// Keeps an operation only until its responses have been delivered.
    /// - Returns: whether it is no longer kept.
    private mutating func drop(_ operation: OperationDescriptor) -> Bool {
        guard var root = roots[operation] else { return false }
        root.isBuffered = false
        roots[operation] = root.undelivered > 0 ? root : nil
        return root.undelivered == 0
    }
}
