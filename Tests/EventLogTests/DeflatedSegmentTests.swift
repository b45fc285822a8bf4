import BoundedTesting
import DiskSimulation
import LogTools
import Testing
import Threads

@testable import EventLog

@Suite(.bounded) struct DeflatedSegmentTests {
    private let disk = SimulatedDisk()
    private var directory: LogDirectory { LogDirectory(path: "log", fileSystem: disk) }
    private var deflater: SegmentDeflater {
        SegmentDeflater(directory: directory, storeID: testStoreID)
    }

    /// Two segments; the first, of several blocks, is sealed.
    private func makeSealedLog() throws -> ClosedRange<UInt64> {
        try makeLog(events: 320, size: 2000, segmentSize: 600_000, on: disk)
        #expect(disk.segments.count == 2)
        return 1...320
    }

    @Test func aDeflatedSegmentIsSmallerAndReadsTheSame() throws {
        let events = recorded(try makeSealedLog(), size: 2000)
        let reader = try EventLogReader("log", fileSystem: disk)
        let before = try (reader.head(), reader.frame(containing: 100))
        let plainSize = try #require(disk.contents(at: firstSegment)).count
        #expect(try deflater.deflate(1))
        #expect(try #require(disk.contents(at: firstSegment)).count < plainSize / 2)
        #expect(try reader.allEvents() == events)
        #expect(try reader.head() == before.0)
        #expect(try reader.frame(containing: 100) == before.1)
        #expect(try reader.verify().damages == [])
        #expect(try !deflater.deflate(1))
    }

    @Test func aReadAtASequenceInflatesOneBlock() throws {
        _ = try makeSealedLog()
        _ = try deflater.deflate(1)
        let reads = Monitor<[Int]>([])
        let size = try #require(disk.contents(at: firstSegment)).count
        let reader = try EventLogReader("log", fileSystem: disk)
        disk.setFault { call in
            if call.name == "pread" { reads.withLock { $0.append(1) } }
            return nil
        }
        let cursor = try reader.events(from: 250)
        #expect(try cursor.next()?.sequence == 250)
        disk.setFault(nil)
        // Header, footer, index, and one block with its header.
        #expect(reads.withLock { $0.count } <= 7)
        #expect(size > 0)
    }

    @Test func aDamagedBlockUnderAWrongNameCanBeRepaired() throws {
        _ = try makeSealedLog()
        let header = Checkpoint.Header(sequence: 315, epoch: 1, foldVersion: 1, stateHash: [7])
        try CheckpointFiles(directory, storeID: testStoreID)
            .write(Checkpoint(header: header, payload: [1]), keeping: 5)
        _ = try deflater.deflate(1)
        let size = try #require(disk.contents(at: firstSegment)).count
        disk.flipBit(ofByte: size / 2, in: firstSegment)
        let other = "log/segments/\(UInt64(2).twentyDigits).log"
        try disk.rename(firstSegment, to: other)
        let repair = LogRepair("log", fileSystem: disk)
        let plan = try repair.plan()
        #expect(plan.lost == nil && plan.lastSequence == 320)
        let report = try repair.run()
        #expect(report.copies == plan.copies)
        let reader = try EventLogReader("log", fileSystem: disk)
        #expect(try reader.verify().damages == [])
        #expect(try reader.allEvents() == recorded(report.firstSequence...320, size: 2000))
    }

    @Test func aCrashWhileDeflatingLeavesThePlainOrTheDeflatedSegment() throws {
        let events = recorded(try makeSealedLog(), size: 2000)
        let calls: Int = try {
            let disk = disk.copy()
            let start = disk.callCount
            _ = try SegmentDeflater(
                directory: LogDirectory(path: "log", fileSystem: disk), storeID: testStoreID
            ).deflate(1)
            return disk.callCount - start
        }()
        for number in 1...calls {
            let disk = disk.copy()
            disk.setFault { $0.number == number ? .powerOff : nil }
            _ = try? SegmentDeflater(
                directory: LogDirectory(path: "log", fileSystem: disk), storeID: testStoreID
            ).deflate(1)
            let seed = UInt64(number)
            for survival in [
                SimulatedDisk.Survival.nothing, .everything, .random(SeededGenerator(seed: seed)),
            ] {
                let reader = try EventLogReader("log", fileSystem: disk.crashed(survival))
                #expect(try reader.allEvents() == events, "crash at call \(number), seed \(seed)")
            }
        }
    }

    @Test func aDamagedBlockIsNamedAndTheOthersAreRead() throws {
        _ = try makeSealedLog()
        _ = try deflater.deflate(1)
        disk.flipBit(ofByte: 96 + 32 + 500, in: firstSegment)
        let reader = try EventLogReader("log", fileSystem: disk)
        let error = #expect(throws: LogError.self) { try reader.allEvents() }
        #expect(error?.damage?.file == firstSegment)
        #expect(error?.damage?.offset == 96)
        let cursor = try reader.events(skippingDamage: true)
        var read: [UInt64] = []
        while let event = try cursor.next() { read.append(event.sequence) }
        let first = try #require(read.first)
        #expect(first > 1 && first < 100)
        #expect(read == Array(first...320))
        #expect(cursor.damages.map(\.offset) == [96])
        #expect(try reader.verify().damages.map(\.offset) == [96])
    }

    @Test func aDamagedIndexCostsNoEvent() throws {
        let events = recorded(try makeSealedLog(), size: 2000)
        _ = try deflater.deflate(1)
        let size = try #require(disk.contents(at: firstSegment)).count
        for offset in [size - 1, size - 10, size - 50] {
            disk.flipBit(ofByte: offset, in: firstSegment)
            let reader = try EventLogReader("log", fileSystem: disk)
            #expect(try reader.allEvents() == events)
            #expect(try reader.verify().damages.count == 1)
            disk.flipBit(ofByte: offset, in: firstSegment)
        }
    }

    /// A write that the disk lost reads as zeros, as the space behind a segment's end does.
    @Test(arguments: [1, 100, .max] as [UInt64])
    func aSegmentThatHasLostAWholeFrameStaysAsItIs(_ lost: UInt64) throws {
        _ = try makeSealedLog()
        let last = try #require(disk.segments.last) - 1
        let reader = try EventLogReader("log", fileSystem: disk)
        let frame = try #require(try reader.frame(containing: min(lost, last)))
        var bytes = try #require(disk.contents(at: firstSegment))
        let start = Int(frame.offset)
        bytes.replaceSubrange(
            start..<start + frame.byteCount, with: repeatElement(0, count: frame.byteCount))
        disk.setContents(bytes, at: firstSegment)
        let damages = try reader.verify().damages
        #expect(damages.count == 1)

        let error = #expect(throws: LogError.self) { try deflater.deflate(1) }
        #expect(error?.damage?.file == firstSegment && error?.damage?.offset == frame.offset)
        var options = testOptions()
        options.deflatesSealedSegments = true
        let told = Monitor<[LogDamage]>([])
        options.onDamage = { damage in told.update { $0.append(damage) } }
        let log = try EventLogWriter.open("log", options: options, fileSystem: disk)
        #expect(log.waitForHousekeeping(milliseconds: .testDeadlineMilliseconds))
        log.close()
        #expect(told.withLock { $0 } == [error?.damage])
        #expect(disk.contents(at: firstSegment) == bytes)
        #expect(try reader.verify().damages == damages)
        let cursor = try reader.events(skippingDamage: true)
        var read: [UInt64] = []
        while let event = try cursor.next() { read.append(event.sequence) }
        #expect(read == (1...320).filter { !frame.sequences.contains($0) })
    }

    @Test func theLastSegmentStaysPlain() throws {
        _ = try makeSealedLog()
        #expect(try !deflater.deflate(#require(disk.segments.last)))
    }

    /// With right checksums, so another program wrote it.
    @Test(arguments: [UInt64(1) << 62, 1 << 63, .max])
    func anIndexThatLeadsOutOfTheFileIsNotUsed(_ offset: UInt64) throws {
        let events = recorded(try makeSealedLog(), size: 2000)
        _ = try deflater.deflate(1)
        var bytes = try #require(disk.contents(at: firstSegment))
        let end = bytes.count - DeflatedLayout.footerSize
        let footer = try #require(DeflatedLayout.Footer(Array(bytes[end...])))
        let start = Int(footer.indexOffset)
        let index = DeflatedLayout.decodeIndex(Array(bytes[start..<end])).map { entry in
            DeflatedLayout.IndexEntry(
                sequence: entry.sequence, plainOffset: entry.plainOffset,
                fileOffset: entry.plainOffset > 96 ? offset : entry.fileOffset)
        }
        let entries = DeflatedLayout.encode(index)
        let forged = DeflatedLayout.Footer(
            indexOffset: footer.indexOffset, blockCount: footer.blockCount,
            indexChecksum: Checksum.crc32(entries), plainSize: footer.plainSize,
            lastSequence: footer.lastSequence)
        bytes.replaceSubrange(start..., with: entries + forged.encoded())
        disk.setContents(bytes, at: firstSegment)
        let reader = try EventLogReader("log", fileSystem: disk)
        #expect(try reader.allEvents() == events)
        #expect(try reader.verify().damages.count == 1)
    }

    @Test(arguments: [UInt64(1) << 32, 1 << 62, UInt64(Int64.max), .max])
    func anIndexOfMoreThanItsFileCanHoldIsNotUsed(_ plainSize: UInt64) throws {
        let events = recorded(try makeSealedLog(), size: 2000)
        _ = try deflater.deflate(1)
        var bytes = try #require(disk.contents(at: firstSegment))
        let end = bytes.count - DeflatedLayout.footerSize
        let footer = try #require(DeflatedLayout.Footer(Array(bytes[end...])))
        let forged = DeflatedLayout.Footer(
            indexOffset: footer.indexOffset, blockCount: footer.blockCount,
            indexChecksum: footer.indexChecksum, plainSize: plainSize,
            lastSequence: footer.lastSequence)
        bytes.replaceSubrange(end..., with: forged.encoded())
        disk.setContents(bytes, at: firstSegment)
        let reader = try EventLogReader("log", fileSystem: disk)
        #expect(try reader.allEvents() == events)
        #expect(try reader.verify().damages.count == 1)
    }

    /// With a right checksum; as much memory would be taken as the header says.
    @Test(arguments: [(1 << 30, nil), (nil, 1 << 30), (nil, Int(UInt32.max))] as [(Int?, Int?)])
    func aBlockOfMoreBytesThanThereCanBeIsDamaged(_ plain: Int?, _ deflated: Int?) throws {
        _ = try makeSealedLog()
        _ = try deflater.deflate(1)
        var bytes = try #require(disk.contents(at: firstSegment))
        let place = 96..<96 + DeflatedLayout.blockHeaderSize
        let block = try #require(DeflatedLayout.Block(Array(bytes[place])))
        let forged = DeflatedLayout.Block(
            sequence: block.sequence, plainOffset: block.plainOffset,
            plainLength: plain ?? block.plainLength,
            deflatedLength: deflated ?? block.deflatedLength, checksum: block.checksum)
        bytes.replaceSubrange(place, with: forged.encoded())
        disk.setContents(bytes, at: firstSegment)
        let reader = try EventLogReader("log", fileSystem: disk)
        let error = #expect(throws: LogError.self) { try reader.allEvents() }
        #expect(error?.damage?.offset == 96)
        #expect(error?.damage?.reason == "the block's header says more bytes than there can be")
        #expect(try reader.verify().damages.map(\.offset) == [96])
    }

    @Test func theBackgroundFillsAheadAndDeflatesBehindWithoutLosingAnything() throws {
        var options = testOptions(segmentSize: 4096)
        options.segmentsAhead = 1
        options.deflatesSealedSegments = true
        let log = try EventLogWriter.open("log", options: options, fileSystem: disk)
        for number in 1...200 as ClosedRange<UInt64> {
            try log.appendAndWait(testBatch(number...number, size: 100))
        }
        #expect(log.waitForHousekeeping(milliseconds: .testDeadlineMilliseconds))
        log.close()
        let reader = try EventLogReader("log", fileSystem: disk)
        #expect(try reader.allEvents() == recorded(1...200, size: 100))
        let encodings = disk.segments.map { disk.contents(at: directory.segmentPath($0))?[14] }
        #expect(encodings.dropLast().allSatisfy { $0 == 1 })
        #expect(encodings.last == 0)
        #expect(disk.paths(under: "log/spare").count == 1)
    }
}
