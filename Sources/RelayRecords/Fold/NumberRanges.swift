/// A set of numbers as disjoint ranges in increasing order; a few ranges hold millions.
///
/// Bounded: if there would be more ranges than ``limit``, the lowest is dropped, and nothing is known
/// any more of the numbers up to its end.
package struct NumberRanges: Sendable, Hashable {
    package enum Answer: Sendable, Hashable {
        case contained
        case missing
        /// It lies where ranges were dropped.
        case unknown
    }

    package private(set) var ranges: [ClosedRange<UInt64>] = []
    /// Nothing is known of numbers up to this one, unless a range contains them.
    package private(set) var unknownThrough: UInt64?

    package init() {}

    /// - Returns: nil unless the ranges are disjoint and increasing.
    package init?(_ ranges: [ClosedRange<UInt64>], unknownThrough: UInt64?) {
        var last: UInt64?
        for range in ranges {
            if let last {
                guard range.lowerBound > last, range.lowerBound - last > 1 else { return nil }
            }
            last = range.upperBound
        }
        self.ranges = ranges
        self.unknownThrough = unknownThrough
    }

    package var isEmpty: Bool { ranges.isEmpty && unknownThrough == nil }

    package func answer(_ number: UInt64) -> Answer {
        let place = firstPlace(endingFrom: number)
        if place < ranges.count, ranges[place].contains(number) { return .contained }
        if let unknownThrough, number <= unknownThrough { return .unknown }
        return .missing
    }

    mutating func insert(_ number: UInt64, limit: Int) {
        var place = firstPlace(endingFrom: number)
        if place < ranges.count, ranges[place].contains(number) { return }
        var merged = number...number
        if place > 0, ranges[place - 1].upperBound + 1 == number {
            place -= 1
            merged = ranges.remove(at: place).lowerBound...number
        }
        if place < ranges.count, number + 1 == ranges[place].lowerBound {
            merged = merged.lowerBound...ranges.remove(at: place).upperBound
        }
        ranges.insert(merged, at: place)
        while ranges.count > limit {
            unknownThrough = max(unknownThrough ?? 0, ranges.removeFirst().upperBound)
        }
    }

    /// The index of the first range that ends at or after a number.
    private func firstPlace(endingFrom number: UInt64) -> Int {
        ranges.indices.firstIndex(whereNot: { ranges[$0].upperBound < number })
    }
}
