/// The kind of an event, as a number on disk. Numbers unknown to this version are kept unchanged.
package struct LogEventKind: RawRepresentable, Hashable, Sendable {
    /// 1 to 255. Zero never occurs in a log: a valid frame must not begin like unwritten space.
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let genesis = LogEventKind(rawValue: 1)
    package static let schema = LogEventKind(rawValue: 2)
    package static let mutation = LogEventKind(rawValue: 3)
    package static let response = LogEventKind(rawValue: 4)
    package static let revocation = LogEventKind(rawValue: 5)
    package static let update = LogEventKind(rawValue: 6)
}

/// One event as stored in the log. The log never looks inside the payload.
package struct LogEvent: Hashable, Sendable {
    package let kind: LogEventKind
    /// Wall-clock time in microseconds since 1970, as given to the writer.
    package let timeMicroseconds: Int64
    package let payload: [UInt8]
}

/// An event with the sequence assigned by the log.
package struct RecordedEvent: Hashable, Sendable {
    package let sequence: UInt64
    package let event: LogEvent
}

/// Events encoded one after another, to be appended together: all of them or none.
///
/// One contiguous buffer and no allocation per event; `removeAll()` keeps the storage, so a busy
/// writer keeps encoding into the same memory.
///
///     var batch = EventBatch()
///     batch.append(kind: .mutation, timeMicroseconds: now, payload: intent)
///     batch.append(kind: .response, timeMicroseconds: now, payload: writes)
///     try log.enqueue(batch) { result in … }
///
/// Layout of one event (little-endian; docs/log-format.md):
///
///     offset  size
///          0     4  payload length n
///          4     1  kind, not zero
///          5     3  zero
///          8     8  time, microseconds since 1970, signed
///         16     n  payload
package struct EventBatch: Sendable {
    package private(set) var bytes: [UInt8] = []
    package private(set) var count = 0

    package init() {}

    package init(_ events: some Sequence<LogEvent>) {
        for event in events {
            append(
                kind: event.kind, timeMicroseconds: event.timeMicroseconds, payload: event.payload)
        }
    }

    package var isEmpty: Bool { count == 0 }

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        count = 0
    }

    package mutating func append(kind: LogEventKind, timeMicroseconds: Int64, payload: [UInt8]) {
        payload.withUnsafeBytes {
            append(kind: kind, timeMicroseconds: timeMicroseconds, payload: $0)
        }
    }

    package mutating func append(
        kind: LogEventKind, timeMicroseconds: Int64, payload: UnsafeRawBufferPointer
    ) {
        precondition(kind.rawValue != 0, "an event kind is 1 to 255")
        withUnsafeTemporaryAllocation(byteCount: EventLayout.headerSize, alignment: 8) { header in
            // A payload that does not fit is too large for any frame, and `enqueue` refuses it.
            header.storeLittleEndian(UInt32(truncatingIfNeeded: payload.count), at: 0)
            header.storeLittleEndian(UInt32(kind.rawValue), at: 4)
            header.storeLittleEndian(timeMicroseconds, at: 8)
            bytes.append(contentsOf: header)
        }
        bytes.append(contentsOf: payload)
        count += 1
    }
}

/// The layout of an encoded event.
enum EventLayout {
    static let headerSize = 16

    /// The number of events that fill `bytes` exactly; nil if they do not.
    static func count(in bytes: UnsafeRawBufferPointer) -> Int? {
        var offset = 0
        var count = 0
        while offset < bytes.count {
            guard bytes.count - offset >= headerSize, bytes[offset + 4] != 0 else { return nil }
            offset += headerSize + Int(bytes.littleEndian(UInt32.self, at: offset))
            count += 1
        }
        return offset == bytes.count ? count : nil
    }
}
