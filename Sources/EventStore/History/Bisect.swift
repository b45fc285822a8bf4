@_spi(Rooms) package import RelayRecords

/// The verdict on a state in a search.
package enum BisectVerdict: Sendable {
    case holds
    case doesNotHold
    /// The state is skipped.
    case cannotTell
}

/// The result of a search.
package enum BisectResult: Sendable, Hashable {
    /// The first event after which the condition holds.
    case found(UInt64)
    /// The condition does not hold at the end of the range.
    case never
    /// The event is one of these: the states between them could not be judged.
    case among(ClosedRange<UInt64>)
}

extension History {
    /// The first event after which a state meets a condition that, once it holds, keeps holding.
    ///
    /// Checks as many states as the range has binary digits, and one more for each that cannot be judged.
    /// Each remaining half is folded from its own beginning, so that in total about as many events are folded
    /// as the range has. The end of the range is checked last.
    /// - Parameter verdict: judges a state. It may throw, which ends the search. Indexes that it adds to the
    ///   state are kept by states folded from it.
    package func bisect(
        in range: ClosedRange<UInt64>, indexes: [IndexDefinition] = [],
        verdict: (inout Snapshot) throws -> BisectVerdict
    ) throws -> BisectResult {
        guard range.upperBound <= last else {
            throw EventStoreError.outOfRange(range.upperBound, extent)
        }
        var low = try snapshot(at: range.lowerBound, indexes: indexes)
        if case .holds = try verdict(&low) { return .found(low.sequence) }
        // The event is between the two: the condition does not hold at `low`, and holds at `high`, or `high`
        // is past the range.
        var high = range.upperBound + 1
        var passedOver: Set<UInt64> = []
        var folded: UInt64 = 0
        while let place = Self.middle(between: low.sequence, high, passing: passedOver) {
            let replay = try Replay(source, from: low, through: place)
            if let watch {
                let (before, total) = (folded, range.upperBound - range.lowerBound)
                replay.watch = { done, _ in watch(before + done, total) }
            }
            folded += place - low.sequence
            try replay.advance(to: place)
            switch try verdict(&replay.snapshot) {
            case .holds: high = place
            case .doesNotHold: low = replay.snapshot
            case .cannotTell: passedOver.insert(place)
            }
        }
        if high - low.sequence > 1 {
            return .among(low.sequence + 1...min(high, range.upperBound))
        }
        return high <= range.upperBound ? .found(high) : .never
    }

    /// The event closest to the middle between two others that has not been skipped.
    private static func middle(
        between low: UInt64, _ high: UInt64, passing passedOver: Set<UInt64>
    ) -> UInt64? {
        let middle = low + (high - low) / 2
        for distance in 0...(high - low) {
            let places = [middle + distance, middle >= distance ? middle - distance : low]
            if let place = places.first(where: {
                $0 > low && $0 < high && !passedOver.contains($0)
            }) {
                return place
            }
        }
        return nil
    }
}
