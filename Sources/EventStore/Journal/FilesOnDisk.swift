import EventLog

/// The size of a log, which is looked at now and then: it takes a call to the disk for each file.
package struct FilesOnDisk: Sendable {
    package struct Counts: Sendable {
        package var segmentCount: Int
        package var checkpointCount: Int
        /// Of segments and checkpoints; zeros that are filled ahead count.
        package var byteCount: UInt64
    }

    static let interval = Duration.seconds(10)

    var counts: Counts?
    var lookedAt: ContinuousClock.Instant?
}

extension EventLogReader {
    func filesOnDisk() throws(LogError) -> FilesOnDisk.Counts {
        let segments = try segmentFiles()
        let checkpoints = try checkpoints.sizes()
        return FilesOnDisk.Counts(
            segmentCount: segments.count, checkpointCount: checkpoints.count,
            byteCount: segments.reduce(0) { $0 + $1.sizeBytes } + checkpoints.reduce(0, +))
    }
}
