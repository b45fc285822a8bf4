import DiskSimulation

@testable import EventLog

/// A store id that is the same in every run.
let testStoreID = StoreID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)

func testOptions(segmentSize: UInt64 = 64 << 20) -> EventLogOptions {
    var options = EventLogOptions()
    options.storeID = testStoreID
    options.segmentSizeBytes = segmentSize
    options.firstSegmentSizeBytes = segmentSize
    // No background thread: every call to the disk has its place in the order.
    options.segmentsAhead = 0
    options.deflatesSealedSegments = false
    return options
}

/// Event `number` of a made-up history; every number gives another payload.
func testEvent(_ number: UInt64, size: Int = 24) -> LogEvent {
    let text = "event \(number) "
    let payload = Array(
        String(repeating: text, count: size / text.utf8.count + 1).utf8.prefix(size))
    return LogEvent(
        kind: LogEventKind(rawValue: UInt8(number % 6) + 1),
        timeMicroseconds: 1_700_000_000_000_000 + Int64(number), payload: payload)
}

func testBatch(_ numbers: ClosedRange<UInt64>, size: Int = 24) -> EventBatch {
    EventBatch(numbers.map { testEvent($0, size: size) })
}

extension EventLogReader {
    func allEvents(from sequence: UInt64? = nil) throws -> [RecordedEvent] {
        let cursor = try events(from: sequence)
        var events: [RecordedEvent] = []
        while let event = try cursor.next() { events.append(event) }
        return events
    }
}

/// The history that `testEvent` makes, as a log would hand it back.
func recorded(_ numbers: ClosedRange<UInt64>, size: Int = 24) -> [RecordedEvent] {
    numbers.map { RecordedEvent(sequence: $0, event: testEvent($0, size: size)) }
}

/// The first segment of the logs in these tests.
let firstSegment = "log/segments/00000000000000000001.log"

/// A closed log of numbered events on a disk in memory, one frame each.
func makeLog(
    events: UInt64, size: Int = 60, segmentSize: UInt64 = 700, on disk: SimulatedDisk
) throws {
    let log = try EventLogWriter.open(
        "log", options: testOptions(segmentSize: segmentSize), fileSystem: disk)
    for number in 1...events {
        try log.appendAndWait(testBatch(number...number, size: size))
    }
    log.close()
}

extension SimulatedDisk {
    /// First sequences of the log's segments.
    var segments: [UInt64] {
        paths(under: "log/segments").compactMap {
            LogDirectory.firstSequence(ofName: String($0.dropFirst("log/segments/".count)))
        }
    }

    func flipBit(_ bit: Int = 0, ofByte offset: Int, in path: String) {
        guard var bytes = contents(at: path), bytes.indices.contains(offset) else { return }
        bytes[offset] ^= 1 << bit
        setContents(bytes, at: path)
    }
}
