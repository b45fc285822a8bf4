import Threads

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Measures durable appends: every batch is one write and one sync, as in a loop of `write` and `fdatasync`,
/// except that the next batch is prepared while this one syncs.
package struct AppendBenchmark: Sendable {
    /// The figures of one run.
    package struct Result: Sendable {
        package let events: UInt64
        package let batches: UInt64
        package let seconds: Double
        /// The average number of batches per sync; 1 when the figures are comparable with a loop that syncs
        /// every batch.
        package let batchesPerSync: Double
        /// From handing over a batch to learning that it is durable, in ascending order.
        package let latenciesMicroseconds: [Double]

        package var eventsPerSecond: Double { Double(events) / seconds }

        /// The latency that this share of the batches, from 0 to 1, did not exceed.
        package func latencyMicroseconds(percentile: Double) -> Double {
            guard !latenciesMicroseconds.isEmpty else { return 0 }
            let rank = Int(Double(latenciesMicroseconds.count - 1) * percentile)
            return latenciesMicroseconds[rank]
        }
    }

    package var eventSizeBytes = 256
    package var batchSize = 1
    package var seconds = 2.0
    /// Zero-filled before the clock starts; nil fills as much as a fast disk could write, up to 2 GiB. When
    /// this is used up, segments are created as on a server with this load.
    package var zeroFilledBytes: UInt64?

    package init() {}

    /// Appends to a new log in `directory`, which must be empty or missing. Blocks.
    package func run(in directory: String) throws(LogError) -> Result {
        var options = EventLogOptions()
        options.firstSegmentSizeBytes = options.segmentSizeBytes
        // The first segment is filled when the log is created; the others are waited for here.
        let filled = zeroFilledBytes ?? min(mostBytes, 2 << 30)
        options.segmentsAhead = Int(max(filled / options.segmentSizeBytes, 1))
        options.deflatesSealedSegments = false
        let log = try EventLogWriter.open(directory, options: options)
        guard log.recovery.isNew else { throw .notEmpty(directory) }
        defer { log.close() }
        log.useUpSpares()
        return try measure(log)
    }

    /// The bytes written at 10,000 syncs per second.
    private var mostBytes: UInt64 {
        let batchBytes = batchSize * (EventLayout.headerSize + eventSizeBytes)
        return UInt64(seconds * 10_000) * UInt64(FrameLayout.size(payload: batchBytes))
    }

    private func measure(_ log: EventLogWriter) throws(LogError) -> Result {
        let payload = (0..<eventSizeBytes).map { UInt8(97 + ($0 &* 2_654_435_761 >> 13) % 26) }
        var batch = EventBatch()
        let progress = Monitor(Progress())
        let start = Self.now()
        var now = start
        while now - start < seconds {
            batch.removeAll()
            for _ in 0..<batchSize {
                batch.append(
                    kind: .mutation, timeMicroseconds: Int64(now * 1e6), payload: payload)
            }
            // One batch in flight to the disk, and one prepared behind it: never two in one sync.
            log.waitUntilTaken()
            progress.withLock { $0.unfinished += 1 }
            let handedOver = Self.now()
            try log.enqueue(batch) { result in
                let latency = (Self.now() - handedOver) * 1e6
                progress.update { $0.finish(result, latency: latency) }
            }
            now = Self.now()
        }
        progress.wait { $0.unfinished == 0 ? true : nil }
        let elapsed = Self.now() - start
        let final = progress.withLock { $0 }
        if let error = final.error { throw error }
        let statistics = log.statistics
        return Result(
            events: statistics.events, batches: statistics.batches, seconds: elapsed,
            batchesPerSync: Double(statistics.batches) / Double(max(statistics.syncs, 1)),
            latenciesMicroseconds: final.latencies.sorted())
    }

    private struct Progress {
        var unfinished = 0
        var latencies: [Double] = []
        var error: LogError?

        mutating func finish(_ result: Swift.Result<UInt64, LogError>, latency: Double) {
            unfinished -= 1
            latencies.append(latency)
            if case .failure(let error) = result { self.error = self.error ?? error }
        }
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
