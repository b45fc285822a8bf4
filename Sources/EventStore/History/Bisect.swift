package import RelayStore

extension History {
    /// The first event after which a state fulfils a condition that, once it holds, goes on to
    /// hold.
    ///
    /// Looks at as many states as the range has binary digits, and folds no event more than twice:
    /// in all about as many as the range has, because each half that is left is folded from its own
    /// beginning.
    /// - Parameter holds: looks at a state. It may throw, which ends the search.
    /// - Returns: nil when the condition does not hold at the end of the range.
    package func bisect(
        in range: ClosedRange<UInt64>, indexes: [IndexDefinition] = [],
        where holds: (Snapshot) throws -> Bool
    ) throws -> UInt64? {
        guard range.upperBound <= last else {
            throw EventStoreError.outOfRange(range.upperBound, extent)
        }
        var low = try snapshot(at: range.lowerBound, indexes: indexes)
        if try holds(low) { return low.sequence }
        // The condition does not hold at `low`; whether it does at the end is asked last.
        var high = range.upperBound + 1
        while high - low.sequence > 1 {
            let middle = low.sequence + (high - low.sequence) / 2
            let replay = try Replay(reader, from: low, through: middle)
            try replay.advance(to: middle)
            if try holds(replay.snapshot) { high = middle } else { low = replay.snapshot }
        }
        return high <= range.upperBound ? high : nil
    }
}
