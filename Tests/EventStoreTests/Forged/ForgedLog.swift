import Disk
import DiskSimulation
@_spi(Rooms) import RelayRecords

@testable import EventLog
@testable import EventStore

/// A log in which some integers have been set to extremes, and everything else, checksums and chain hashes too, says
/// that they were written like this.
struct ForgedLog {
    static let path = "forged-log"

    let disk: SimulatedDisk
    /// What was set, to what.
    private(set) var forgeries: [String] = []
    private var random: SeededGenerator
    private var directory: LogDirectory { LogDirectory(path: Self.path, fileSystem: disk) }

    /// A log that is as it was written: some segments, checkpoints, and, if it is compacted, no beginning.
    static func original(isCompacted: Bool) throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        let options = options(on: disk)
        let events = try RandomHistory(seed: 12, count: 60).events
        var store = try EventStore.open(path, options: options)
        var snapshot = store.snapshot
        var changes = ChangeSet()
        for event in events {
            try store.journal.appendAndWait(event)
            try snapshot.fold(event, changes: &changes)
            if event.sequence.isMultiple(of: 25) { try store.journal.checkpoint(snapshot) }
            if isCompacted, event.sequence == 20 {
                store.journal.close()
                _ = try EventStore.compact(path, options: options)
                store = try EventStore.open(path, options: options)
            }
        }
        store.journal.close()
        return disk
    }

    static func options(on disk: any FileSystem) -> EventStoreOptions {
        var options = EventStoreOptions.quiet
        options.fileSystem = disk
        options.log.segmentSizeBytes = 1 << 12
        options.log.firstSegmentSizeBytes = 1 << 12
        options.tail = .init(events: 10, bytes: 1 << 20)
        return options
    }

    init(_ original: SimulatedDisk, seed: UInt64) throws {
        disk = original.copy()
        random = SeededGenerator(seed: seed)
        let isOfSegments = random.below(4) > 0
        if isOfSegments { try forgeSegments() }
        if !isOfSegments || random.below(8) == 0 { try forgeCheckpoint() }
        if !isOfSegments && random.below(2) == 0 || random.below(8) == 0 { try forgeMetadata() }
    }

    // MARK: Numbers

    /// A number at an extreme of its size, or of what it was or is about.
    private mutating func extreme(_ size: Int, was value: UInt64, length: Int) -> UInt64 {
        let largest = size == 8 ? UInt64.max : 1 << UInt64(8 * size) - 1
        if random.below(3) == 0 { return largest }
        let numbers: [UInt64] = [
            0, 1, 2, 1 << 31 - 1, 1 << 31, 1 << 32 - 1, 1 << 32, UInt64(Int64.max) - 1,
            UInt64(Int64.max), 1 << 63, 1 << 63 + 1, .max - 1, .max, largest >> 1, largest - 1,
            largest, value &- 1, value &+ 1, UInt64(length) - 1, UInt64(length),
            UInt64(length) + 1, 1 << 30, 1 << 30 + 1,
        ]
        return random.pick(numbers.filter { $0 <= largest })
    }

    private mutating func forge(
        _ fields: [ForgedField], of bytes: inout [UInt8], in file: String
    ) {
        let field = random.pick(fields)
        let old = bytes.number(at: field.offset, field.size)
        let new = extreme(field.size, was: old, length: bytes.count)
        bytes.set(new, at: field.offset, field.size)
        forgeries.append("\(file): \(field.name) at byte \(field.offset), \(old) is \(new)")
    }

    /// Numbers in bodies and states are as long as they need to be.
    private mutating func forgeNumber(
        in range: Range<Int>, of bytes: inout [UInt8], in file: String
    ) {
        guard !range.isEmpty else { return }
        let offset = range.lowerBound + random.below(range.count)
        let last = [UInt8](repeating: 0xFF, count: 9) + [1]
        let number = random.pick([[0], [1], [0x7F], [0xFF, 0xFF, 0xFF, 0xFF, 7], last])
        let fitting = Array(number.prefix(range.upperBound - offset))
        bytes.replace(at: offset, with: fitting)
        forgeries.append("\(file): bytes from \(offset) are \(fitting)")
    }

    // MARK: Files

    private mutating func forgeSegments() throws {
        var segments = try directory.segments().first.map { first in
            let path = directory.segmentPath(first)
            return ForgedSegment(path, disk.contents(at: path) ?? [])
        }
        var previous = try SegmentHeader.read(segments[0].bytes).previousChain
        // What comes behind damage is read by other rules, so the next is often near.
        var number = random.below(segments.count)
        for _ in 0..<random.below(4) {
            forge(&segments[number])
            if random.below(3) == 0 { number = random.below(segments.count) }
        }
        for number in segments.indices { previous = segments[number].seal(after: previous) }
        let deflated = random.below(segments.count + 1)
        for (number, segment) in segments.enumerated() {
            disk.setContents(segment.bytes, at: segment.path)
            if number < deflated { deflate(segment) }
        }
        try update { $0.reached?.chain = previous }
        if random.below(10) == 0 { try rename(segments[random.below(segments.count)]) }
    }

    private mutating func forge(_ segment: inout ForgedSegment) {
        switch random.below(8) {
        case 0: forge(segment.headerFields, of: &segment.bytes, in: segment.path)
        case 1...4:
            guard !segment.frames.isEmpty else { return }
            forge(segment.frameFields, of: &segment.bytes, in: segment.path)
        case 5, 6:
            guard !segment.payloads.isEmpty else { return }
            forge(segment.eventFields, of: &segment.bytes, in: segment.path)
        default:
            guard !segment.payloads.isEmpty else { return }
            forgeNumber(in: random.pick(segment.payloads), of: &segment.bytes, in: segment.path)
        }
    }

    private mutating func deflate(_ segment: ForgedSegment) {
        let framesPerBlock = 1 + random.below(8)
        guard var deflated = ForgedDeflatedSegment(segment, framesPerBlock: framesPerBlock) else {
            return
        }
        for _ in 0..<random.below(3) {
            forge(deflated.fields, of: &deflated.bytes, in: segment.path)
        }
        if random.below(3) == 0 { deflated.indexBlocks() }
        deflated.seal()
        if random.below(3) == 0 {
            deflated.loseFooter()
            forgeries.append("\(segment.path): without a footer")
        }
        disk.setContents(deflated.bytes, at: segment.path)
    }

    /// A segment that says what its name says.
    private mutating func rename(_ segment: ForgedSegment) throws {
        guard var bytes = disk.contents(at: segment.path) else { return }
        let sequence = extreme(8, was: bytes.number(at: 40, 8), length: bytes.count)
        bytes.set(sequence, at: 40, 8)
        bytes.seal(0..<SegmentHeader.checksumOffset, at: SegmentHeader.checksumOffset)
        disk.setContents(bytes, at: segment.path)
        try disk.rename(segment.path, to: directory.segmentPath(sequence))
        forgeries.append("\(segment.path): called \(sequence)")
    }

    private mutating func forgeCheckpoint() throws {
        let paths = disk.paths(under: directory.checkpointsPath)
        let path = random.pick(paths)
        var checkpoint = ForgedCheckpoint(bytes: disk.contents(at: path) ?? [])
        switch random.below(4) {
        case 0, 1: forge(ForgedCheckpoint.fields, of: &checkpoint.bytes, in: path)
        default:
            for _ in 0...random.below(2) {
                forgeNumber(in: checkpoint.payload, of: &checkpoint.bytes, in: path)
            }
        }
        checkpoint.seal()
        disk.setContents(checkpoint.bytes, at: path)
        guard random.below(4) == 0 else { return }
        let sequence = checkpoint.bytes.number(at: 40, 8)
        try disk.rename(path, to: directory.checkpointPath(sequence))
        forgeries.append("\(path): called \(sequence)")
    }

    private mutating func forgeMetadata() throws {
        let number = extreme(8, was: 30, length: 60)
        let field = random.below(7)
        try update { metadata in
            switch field {
            case 0: metadata.epoch = UInt32(truncatingIfNeeded: number)
            case 1: metadata.reached?.sequence = number
            case 2: metadata.reached?.segment = number
            case 3: metadata.beginning?.sequence = number
            case 4:
                metadata.beginning?.checkpoint = CheckpointMark(sequence: number, stateHash: [])
            case 5: metadata.reached = nil
            default: metadata.beginning = nil
            }
        }
        forgeries.append("META: number \(field) is \(number)")
    }

    private func update(_ change: (inout LogMetadata) -> Void) throws {
        let path = Self.path + "/" + LogMetadata.fileName
        var metadata = try LogMetadata.read(disk.contents(at: path) ?? [], file: path)
        change(&metadata)
        disk.setContents(metadata.encoded, at: path)
    }
}
