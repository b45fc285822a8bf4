/// What `repair` did. Nothing that could be read before is gone: see `copies`.
package struct RepairReport: Sendable, Equatable {
    /// What the log was cut at; nil when no event had to go.
    package var damage: LogDamage?
    /// The log's last event now.
    package var lastSequence: UInt64
    /// The last event that was found behind the cut.
    package var lastLost: UInt64?
    /// Files that were written anew, from good frames or from what their neighbours say.
    package var rebuilt: [String] = []
    /// Where the bytes that are no longer part of the log are kept.
    package var copies: [String] = []
    /// The new epoch; nil when nothing had to be repaired.
    package var epoch: UInt32?

    /// One sentence for each thing worth saying.
    package var sentences: [String] {
        guard let epoch else { return ["The log is not damaged; nothing was changed."] }
        var sentences: [String] = []
        if let damage {
            let lost = lastLost.map { "Events \(lastSequence + 1) to \($0) are" } ?? "Nothing is"
            sentences.append(
                "Cut the log after event \(lastSequence) because of the damage in \(damage). "
                    + "\(lost) no longer part of it.")
        }
        sentences += rebuilt.map { "Wrote \($0) anew." }
        if !copies.isEmpty {
            sentences.append("What was there before is kept in \(copies.joined(separator: ", ")).")
        }
        sentences.append("The epoch is now \(epoch).")
        return sentences
    }
}

/// Makes a damaged log one that can be opened, keeping every event before the first damage.
///
/// What is taken out is copied or moved aside, and the epoch rises, so that cursors into the lost
/// part are known to be void. A crash on the way leaves a log that can be repaired again.
package struct LogRepair: Sendable {
    private let directory: LogDirectory
    private var fileSystem: any FileSystem { directory.fileSystem }

    package init(_ directory: String, fileSystem: any FileSystem = POSIXFileSystem()) {
        self.directory = LogDirectory(path: directory, fileSystem: fileSystem)
    }

    /// - Throws: `notFound`; `locked` while a server writes; `damaged` when nothing before the
    ///   damage can be kept; `futureVersion`, `readOnly`, `storageFull`, `inputOutput`.
    package func run() throws(LogError) -> RepairReport {
        let segments = try reading { () throws(FileSystemError) in try directory.segments().first }
        guard !segments.isEmpty else { throw .notFound(directory.path) }
        let lock = try directory.takeLock()
        defer { lock.close() }
        let plan = try RepairPlan(directory, segments: segments)
        var report = RepairReport(
            damage: plan.damage, lastSequence: plan.lastSequence, lastLost: plan.lastLost)
        guard plan.changesAnything else { return report }
        do throws(FileSystemError) {
            try perform(plan, &report)
        } catch {
            throw .repairing(directory.path, error)
        }
        return report
    }

    private func perform(
        _ plan: RepairPlan, _ report: inout RepairReport
    ) throws(FileSystemError) {
        // First of all: whatever happens next, nobody takes an old cursor for a good one.
        try directory.write(plan.newMetadata)
        report.epoch = plan.newMetadata.epoch
        if plan.rebuildsMetadata { report.rebuilt.append(directory.metadataPath) }
        // The last segment first, so that a crash leaves the beginning of the log.
        for segment in plan.removed.reversed() {
            report.copies.append(try moveAside(segment))
        }
        for segment in plan.rewritten {
            report.copies.append(try copyAside(segment.firstSequence))
            try rewrite(segment)
            report.rebuilt.append(directory.segmentPath(segment.firstSequence))
        }
        try CheckpointFiles(directory, storeID: plan.newMetadata.storeID)
            .removeAll(after: plan.lastSequence)
    }

    private func moveAside(_ firstSequence: UInt64) throws(FileSystemError) -> String {
        let path = directory.segmentPath(firstSequence)
        let aside = try directory.freePath(beside: path)
        try fileSystem.rename(path, to: aside)
        try fileSystem.synchronizeDirectory(directory.segmentsPath)
        return aside
    }

    private func copyAside(_ firstSequence: UInt64) throws(FileSystemError) -> String {
        let path = directory.segmentPath(firstSequence)
        let file = try fileSystem.open(path, .read)
        defer { file.close() }
        return try directory.copyAside(0..<file.size(), of: file)
    }

    /// Puts a plain segment with the good frames in the place of the damaged one.
    private func rewrite(_ segment: RepairPlan.Rewrite) throws(FileSystemError) {
        let target = try fileSystem.open(directory.sparePath + "/repaired", .replace)
        let range = UInt64(SegmentHeader.size)..<segment.goodThrough
        try target.writeAll([UInt8](repeating: 0, count: SegmentHeader.size), at: 0)
        try target.copy(range, to: range.lowerBound) { buffer, offset throws(FileSystemError) in
            do throws(LogError) {
                return try segment.source.read(into: buffer, at: offset)
            } catch {
                // The plan has read these bytes before.
                throw error.cause
                    ?? FileSystemError(
                        call: "pread", path: segment.source.path,
                        errno: FileSystemError.inputOutput)
            }
        }
        var header = segment.header
        header.encoding = .frames
        try directory.install(target, as: header).close()
    }
}
