/// How long things took: counts in buckets that are at most 1.6 % wide, so that any number of times fits in
/// a few kilobytes.
struct LatencyHistogram: Sendable {
    /// Buckets for each doubling.
    private static let stepsPerDoubling = 64

    private var counts = [Int](repeating: 0, count: 59 * stepsPerDoubling)
    private(set) var count = 0
    private var sumNanoseconds = 0.0

    mutating func record(_ time: Duration) {
        let time = UInt64(max(0, time / .nanoseconds(1)))
        counts[Self.bucket(of: time)] += 1
        count += 1
        sumNanoseconds += Double(time)
    }

    /// The mean, in milliseconds; 0 when nothing was recorded.
    var meanMilliseconds: Double { count == 0 ? 0 : sumNanoseconds / Double(count) / 1e6 }

    /// The time that this share of all did not exceed, in milliseconds; 0 when nothing was recorded.
    func milliseconds(percentile: Double) -> Double {
        let wanted = max(1, Int((Double(count) * percentile).rounded(.up)))
        var seen = 0
        for (bucket, number) in counts.enumerated() where number > 0 {
            seen += number
            if seen >= wanted { return Double(Self.end(of: bucket)) / 1e6 }
        }
        return 0
    }

    private static func bucket(of time: UInt64) -> Int {
        let steps = UInt64(stepsPerDoubling)
        if time < steps { return Int(time) }
        // The six bits after the first one choose the step.
        let doubling = 63 - time.leadingZeroBitCount - 6
        return (doubling + 1) * stepsPerDoubling + Int((time >> UInt64(doubling)) - steps)
    }

    /// The largest time in a bucket, in nanoseconds.
    private static func end(of bucket: Int) -> UInt64 {
        let steps = stepsPerDoubling
        if bucket < steps { return UInt64(bucket) }
        let doubling = UInt64(bucket / steps - 1)
        let first = UInt64(steps + bucket % steps) << doubling
        return first + (1 << doubling) - 1
    }
}
