import DiskSimulation
import Testing

@testable import EventLog

@Suite(.bounded) struct EventCursorTests {
    private let disk = SimulatedDisk()

    @Test func theTailIsFollowedAcrossSegmentsWhileAWriterAppends() throws {
        let log = try EventLogWriter.open(
            "log", options: testOptions(segmentSize: 500), fileSystem: disk)
        let cursor = try EventLogReader("log", fileSystem: disk).events(from: 1)
        #expect(try cursor.next() == nil)
        for number in 1...30 as ClosedRange<UInt64> {
            try log.appendAndWait(testBatch(number...number, size: 60))
            #expect(try cursor.next() == recorded(number...number, size: 60).first)
            #expect(try cursor.next() == nil)
        }
        log.close()
        #expect(try cursor.next() == nil)
    }

    @Test func aCursorFromLaterWaitsForThatEvent() throws {
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        try log.appendAndWait(testBatch(1...2))
        let cursor = try EventLogReader("log", fileSystem: disk).events(from: 5)
        #expect(try cursor.next() == nil)
        try log.appendAndWait(testBatch(3...6))
        #expect(try cursor.next()?.sequence == 5)
        #expect(try cursor.next()?.sequence == 6)
        log.close()
    }

    /// With the frame before it the reader has taken the zeros in which it is written since.
    @Test func aFrameThatIsWrittenIntoZerosThatWereReadAheadIsFoundAtOnce() throws {
        var options = testOptions(segmentSize: 4096)
        options.segmentsAhead = 1
        let log = try EventLogWriter.open("log", options: options, fileSystem: disk)
        try log.appendAndWait(testBatch(1...1))
        let cursor = try EventLogReader("log", fileSystem: disk).events(from: 1)
        for number: UInt64 in 1...10 {
            #expect(try cursor.next()?.sequence == number)
            try log.appendAndWait(testBatch(number + 1...number + 1))
        }
        log.close()
    }

    @Test func throughBoundsWhatIsGivenOut() throws {
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        try log.appendAndWait(testBatch(1...6))
        log.close()
        let cursor = try EventLogReader("log", fileSystem: disk).events(from: 2)
        cursor.through = 3
        #expect(try cursor.next()?.sequence == 2)
        #expect(try cursor.next()?.sequence == 3)
        #expect(try cursor.next() == nil)
        cursor.through = 4
        #expect(try cursor.next()?.sequence == 4)
        #expect(try cursor.next() == nil)
    }

    @Test func aFrameThatIsBeingWrittenIsNotThereYet() throws {
        try makeLog(events: 2, segmentSize: 4096, on: disk)
        let whole = try #require(disk.contents(at: firstSegment))
        let closing = FrameLayout.size(payload: 0)
        let frame = FrameLayout.size(payload: testBatch(2...2, size: 60).bytes.count)
        for kept in (whole.count - closing - frame)...whole.count - closing - 1 {
            let partial = Array(whole[..<kept])
            disk.setContents(
                partial + Array(repeating: 0, count: 4096 - partial.count), at: firstSegment)
            let cursor = try EventLogReader("log", fileSystem: disk).events()
            #expect(try cursor.next()?.sequence == 1)
            #expect(try cursor.next() == nil, "\(kept) bytes written")
            disk.setContents(whole, at: firstSegment)
        }
    }

    @Test func damageIsSteppedOverOnRequestAndListed() throws {
        try makeLog(events: 20, on: disk)
        disk.flipBit(ofByte: 300, in: firstSegment)
        let third = "log/segments/\(disk.segments[2].twentyDigits).log"
        disk.flipBit(ofByte: 10, in: third)
        let cursor = try EventLogReader("log", fileSystem: disk).events(skippingDamage: true)
        var read: [UInt64] = []
        while let event = try cursor.next() { read.append(event.sequence) }
        #expect(read == [1] + Array(3...20))
        #expect(cursor.damages.map(\.file) == [firstSegment, third])
        #expect(cursor.damages.first?.sequence == 2)
    }
}
