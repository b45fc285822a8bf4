package import Disk
package import EventLog

/// Makes a damaged log openable again, losing as little as possible (``RepairPlan``).
///
/// What is taken out is copied or moved aside, and the epoch is raised to invalidate cursors into the lost
/// part. A crash in between leaves a log that can be repaired again.
package struct LogRepair: Sendable {
    private let directory: LogDirectory
    private let goal: RepairGoal
    private let judge: CheckpointJudge
    private var fileSystem: any FileSystem { directory.fileSystem }

    /// - Parameters:
    ///   - goal: what to keep first.
    ///   - judge: decides whether a start can use a checkpoint.
    package init(
        _ directory: String, keeping goal: RepairGoal = .state,
        fileSystem: any FileSystem = POSIXFileSystem(),
        judge: @escaping CheckpointJudge = { _ in .usable }
    ) {
        self.directory = LogDirectory(path: directory, fileSystem: fileSystem)
        self.goal = goal
        self.judge = judge
    }

    /// What ``run()`` would do. Changes nothing and takes no lock.
    /// - Throws: the same as ``run()``, except for write errors.
    package func plan() throws(LogError) -> RepairReport {
        let plan = try makePlan()
        return RepairReport(plan, copies: try plannedCopies(plan), isPlan: true)
    }

    /// - Throws: `notFound`; `locked` while a server is running; `damaged` if nothing can be kept;
    ///   `conflict` if the log has the last epoch; `futureVersion`, `readOnly`, `storageFull`, `inputOutput`.
    package func run() throws(LogError) -> RepairReport {
        try checkThereIsALog()
        let lock = try directory.takeLock()
        defer { lock.close() }
        let plan = try makePlan()
        guard plan.changesAnything else { return RepairReport(plan, copies: [], isPlan: false) }
        do throws(FileSystemError) {
            return RepairReport(plan, copies: try perform(plan), isPlan: false)
        } catch {
            throw .repairing(directory.path, error)
        }
    }

    private func checkThereIsALog() throws(LogError) {
        if try directory.hasMetadata() { return }
        guard try directory.hasEvents() else { throw .notFound(directory.path) }
    }

    private func makePlan() throws(LogError) -> RepairPlan {
        try checkThereIsALog()
        let (metadata, isRebuilt) = try metadata()
        return try RepairPlan(
            LogExamination(directory, metadata, judge: judge, allowsNoSegments: true),
            keeping: goal, rebuildsMetadata: isRebuilt)
    }

    /// META as it is, or as it has to be rebuilt.
    private func metadata() throws(LogError) -> (LogMetadata, isRebuilt: Bool) {
        var known: UInt32 = 0
        do throws(LogError) {
            if let metadata = try directory.metadata() { return (metadata, false) }
        } catch  where error.code == .damaged {
            let bytes = try reading { () throws(FileSystemError) in
                try fileSystem.contents(of: directory.metadataPath)
            }
            known = bytes.flatMap { LogMetadata.epoch(ofDamaged: $0) } ?? 0
        }
        var rebuilt = try metadataOfSegments()
        if rebuilt == nil { rebuilt = try metadataOfCheckpoints() }
        guard var metadata = rebuilt else { throw .unrepairable(.allMissing(directory)) }
        metadata.epoch = max(metadata.epoch, known)
        return (metadata, true)
    }

    /// META derived from the first segment with a valid header.
    private func metadataOfSegments() throws(LogError) -> LogMetadata? {
        for first in try directory.firstSequences() {
            let bytes = try reading { () throws(FileSystemError) in
                try fileSystem.open(directory.segmentPath(first), .read)
                    .bytes(at: 0, count: SegmentHeader.size)
            }
            guard let header = try? SegmentHeader.read(bytes) else { continue }
            return LogMetadata(
                version: header.version.raised, storeID: header.storeID, epoch: header.epoch)
        }
        return nil
    }

    /// META derived from the newest checkpoint with a valid header.
    private func metadataOfCheckpoints() throws(LogError) -> LogMetadata? {
        try CheckpointFiles.newestHeader(in: directory).map {
            LogMetadata(version: .current, storeID: $0.storeID, epoch: $0.header.epoch)
        }
    }

    /// The names that ``perform(_:)`` will give to what it sets aside.
    private func plannedCopies(_ plan: RepairPlan) throws(LogError) -> [String] {
        guard plan.changesAnything else { return [] }
        let segments =
            plan.replaced.reversed()
            + plan.removed.reversed().filter { !plan.replaced.contains($0) }
            + plan.rewritten.filter { !$0.isNew && $0.losesBytes }.map(\.header.firstSequence)
        return try reading { () throws(FileSystemError) in
            var names: [String] = []
            if plan.rebuildsMetadata, try fileSystem.contents(of: directory.metadataPath) != nil {
                names.append(try directory.freePath(nextTo: directory.metadataPath))
            }
            for first in segments {
                names.append(try directory.freePath(nextTo: directory.segmentPath(first)))
            }
            for checkpoint in plan.removedCheckpoints {
                names.append(try directory.freePath(nextTo: checkpoint))
            }
            return names
        }
    }

    /// - Returns: the files that hold the bytes no longer part of the log.
    private func perform(_ plan: RepairPlan) throws(FileSystemError) -> [String] {
        var copies: [String] = []
        if plan.rebuildsMetadata, try fileSystem.contents(of: directory.metadataPath) != nil {
            copies.append(try copyAside(directory.metadataPath))
        }
        // Before anything is taken out, so that whatever happens next, no old cursor counts as valid.
        var metadata = plan.examination.metadata
        metadata.epoch = plan.newMetadata.epoch
        try directory.write(metadata)
        // Before the segments that contain the frames are removed. Last one first, because none gets its
        // frames from a later one.
        for segment in plan.rewritten.reversed() where segment.isNew {
            let first = segment.header.firstSequence
            if plan.replaced.contains(first) {
                copies.append(try moveAside(directory.segmentPath(first)))
            }
            try write(segment)
        }
        // Last segment first, so that a crash leaves the beginning of the log.
        for segment in plan.removed.reversed() where !plan.replaced.contains(segment) {
            copies.append(try moveAside(directory.segmentPath(segment)))
        }
        for segment in plan.rewritten where !segment.isNew {
            if segment.losesBytes {
                copies.append(
                    try copyAside(directory.segmentPath(segment.header.firstSequence)))
            }
            try write(segment)
        }
        for checkpoint in plan.removedCheckpoints { copies.append(try moveAside(checkpoint)) }
        try directory.write(plan.newMetadata)
        return copies
    }

    private func moveAside(_ path: String) throws(FileSystemError) -> String {
        let aside = try directory.freePath(nextTo: path)
        try fileSystem.rename(path, to: aside)
        try fileSystem.synchronizeDirectory(LogDirectory.parent(of: path))
        return aside
    }

    private func copyAside(_ path: String) throws(FileSystemError) -> String {
        let file = try fileSystem.open(path, .read)
        defer { file.close() }
        return try directory.copyAside(0..<file.size(), of: file)
    }

    /// Replaces a segment with a plain one that has the good frames.
    private func write(_ segment: RepairPlan.Rewrite) throws(FileSystemError) {
        let target = try fileSystem.open(directory.sparePath + "/repaired", .replace)
        try target.writeAll([UInt8](repeating: 0, count: SegmentHeader.size), at: 0)
        var offset = UInt64(SegmentHeader.size)
        if let examination = segment.source {
            let source = try open(examination)
            for extent in segment.extents {
                try target.copy(extent, to: offset) { buffer, offset throws(FileSystemError) in
                    try read(source, into: buffer, at: offset)
                }
                offset += extent.upperBound - extent.lowerBound
            }
        }
        var header = segment.header
        header.encoding = .frames
        let names = try fileSystem.openDirectory(directory.segmentsPath)
        defer { names.close() }
        try directory.install(target, as: header, in: names).close()
    }

    private func open(
        _ examination: SegmentExamination
    ) throws(FileSystemError) -> any SegmentSource {
        do throws(LogError) {
            return try directory.openSegment(
                examination.header.firstSequence, assuming: examination.header)
        } catch {
            throw error.cause ?? .unreadable(examination.path)
        }
    }

    private func read(
        _ source: any SegmentSource, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileSystemError) -> Int {
        do throws(LogError) {
            return try source.read(into: buffer, at: offset)
        } catch {
            throw error.cause ?? .unreadable(source.path)
        }
    }
}

extension FileSystemError {
    /// The plan could read these bytes before.
    fileprivate static func unreadable(_ path: String) -> FileSystemError {
        FileSystemError(call: "pread", path: path, errno: FileSystemError.inputOutput)
    }
}
