/// What has to be done to a damaged log, decided before anything is changed.
///
/// 1. Segments up to the first damage stay.
/// 2. Of the segment with the damage the frames before it stay; the segment is written anew.
/// 3. Everything behind is moved aside.
/// 4. A segment whose header or index alone is damaged is written anew and ends nothing.
struct RepairPlan {
    struct Rewrite {
        let source: any SegmentSource
        let header: SegmentHeader
        let goodThrough: UInt64
        var firstSequence: UInt64 { header.firstSequence }
    }

    private(set) var newMetadata: LogMetadata
    let rebuildsMetadata: Bool
    private(set) var rewritten: [Rewrite] = []
    private(set) var removed: [UInt64] = []
    private(set) var damage: LogDamage?
    /// The last event that stays, and the last of those that go.
    private(set) var lastSequence: UInt64 = 0
    private(set) var lastLost: UInt64?
    private let directory: LogDirectory

    var changesAnything: Bool { rebuildsMetadata || !rewritten.isEmpty || !removed.isEmpty }

    init(_ directory: LogDirectory, segments: [UInt64]) throws(LogError) {
        self.directory = directory
        (newMetadata, rebuildsMetadata) = try Self.metadata(directory, segments)
        var epoch = newMetadata.epoch
        var previous: SegmentExamination?
        for (number, first) in segments.enumerated() {
            let examination = try SegmentExamination.examine(
                first, in: directory, storeID: newMetadata.storeID,
                expected: expectedHeader(of: first, behind: previous),
                isLast: number == segments.count - 1)
            epoch = max(epoch, examination.end.epoch)
            if damage == nil {
                try add(examination, behind: previous)
                if damage == nil || examination.hasGoodFrames { previous = examination }
            } else {
                removed.append(first)
            }
            if damage != nil, examination.end.sequence > lastSequence {
                lastLost = max(lastLost ?? 0, examination.end.sequence)
            }
        }
        guard previous != nil else {
            throw .damaged(damage ?? .allMissing(directory))
        }
        newMetadata.epoch = epoch + 1
    }

    private mutating func add(
        _ examination: SegmentExamination, behind previous: SegmentExamination?
    ) throws(LogError) {
        let first = examination.header.firstSequence
        if let gap = previous.flatMap({ examination.breaks(after: $0).first }) {
            damage = gap
            removed.append(first)
            return
        }
        // Without a header, a segment that nothing leads to cannot be placed.
        let isPlaced =
            examination.wrapperDamages.isEmpty
            || expectedHeader(of: first, behind: previous) != nil
        if !isPlaced { damage = examination.wrapperDamages.first }
        damage = damage ?? examination.damages.first
        guard isPlaced, damage == nil || examination.hasGoodFrames else {
            removed.append(first)
            return
        }
        lastSequence = examination.goodHead.sequence
        if !examination.damages.isEmpty || !examination.wrapperDamages.isEmpty {
            rewritten.append(
                Rewrite(
                    source: try directory.openSegment(first, assuming: examination.header),
                    header: examination.header, goodThrough: examination.goodThrough))
        }
    }

    /// The header that a segment has to have, when its own says nothing.
    private func expectedHeader(
        of first: UInt64, behind previous: SegmentExamination?
    ) -> SegmentHeader? {
        guard previous != nil || first == 1 else { return nil }
        return SegmentHeader(
            storeID: newMetadata.storeID, epoch: previous?.end.epoch ?? 1, firstSequence: first,
            previousFirstSequence: previous?.header.firstSequence ?? 0,
            previousChain: previous?.end.hash ?? .zero)
    }

    /// META as it is, or as the first segment with a good header lets it be written anew.
    private static func metadata(
        _ directory: LogDirectory, _ segments: [UInt64]
    ) throws(LogError) -> (LogMetadata, isRebuilt: Bool) {
        do throws(LogError) {
            if let metadata = try directory.metadata() { return (metadata, false) }
        } catch  where error.code == .damaged {}
        for first in segments {
            let bytes = try reading { () throws(FileSystemError) in
                try directory.fileSystem.open(directory.segmentPath(first), .read)
                    .bytes(at: 0, count: SegmentHeader.size)
            }
            guard let header = try? SegmentHeader.read(bytes) else { continue }
            let metadata = LogMetadata(
                version: header.version, storeID: header.storeID, epoch: header.epoch)
            return (metadata, true)
        }
        throw .damaged(.allMissing(directory))
    }
}

extension SegmentExamination {
    var hasGoodFrames: Bool { goodHead.sequence >= header.firstSequence }
}
