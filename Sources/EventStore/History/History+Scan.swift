@_spi(Rooms) package import RelayRecords

extension History {
    /// Visits the states of a range in order, in one pass.
    ///
    /// - Parameters:
    ///   - isEveryEventSeen: also visit the states after events that change no record.
    ///   - look: returns false to stop. Indexes that it adds to the state are kept by the states after it.
    package func scan(
        in range: ClosedRange<UInt64>, isEveryEventSeen: Bool = false,
        _ look: (inout Snapshot) throws -> Bool
    ) throws {
        guard range.upperBound <= last else {
            throw EventStoreError.outOfRange(range.upperBound, extent)
        }
        let replay = try replay(at: range.lowerBound)
        guard try look(&replay.snapshot) else { return }
        while replay.snapshot.sequence < range.upperBound, let step = try replay.step() {
            let done = step.event.sequence - range.lowerBound
            if done.isMultiple(of: Replay.watchInterval) {
                watch?(done, range.upperBound - range.lowerBound)
            }
            var isSeen = isEveryEventSeen || !step.changes.isEmpty
            // Another schema may answer the same query differently.
            if case .schema = step.event.body { isSeen = true }
            if isSeen, try !look(&replay.snapshot) { return }
        }
    }
}
