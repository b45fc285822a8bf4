package import Disk

/// Reads a log without ever writing to its directory or taking its lock.
///
/// Works on a copy, and on a log that a server is writing to: calling again returns what was appended since.
/// Such a reader may see the newest frame a moment before it is synced; a server limits its own reading to
/// what is acknowledged (``EventCursor/through``).
///
///     let reader = try EventLogReader("relay-data")
///     let events = reader.events(from: 412)
///     while let recorded = try events.next() { … }
package struct EventLogReader: Sendable {
    /// Where the log is.
    package let directory: LogDirectory
    /// As it was when the reader was created.
    package let metadata: LogMetadata

    /// - Throws: `notFound`, `damaged` (META), `futureVersion`, `inputOutput`.
    package init(
        _ directory: String, fileSystem: any FileSystem = POSIXFileSystem()
    ) throws(LogError) {
        self.directory = LogDirectory(path: directory, fileSystem: fileSystem)
        guard let metadata = try self.directory.metadata() else {
            guard try self.directory.hasEvents() else { throw .notFound(directory) }
            throw .damaged(.metadataMissing(self.directory))
        }
        self.metadata = metadata
    }

    /// The first event kept: 1, or later in a log that was compacted.
    package func firstSequence() throws(LogError) -> UInt64 {
        guard let first = try directory.firstSequences().first else {
            throw .missingSegments(directory)
        }
        return first
    }

    /// The log's current head. Reads the last segment.
    ///
    /// - Throws: `damaged` if the last segment is damaged, apart from an unfinished write at its end.
    package func head() throws(LogError) -> LogHead {
        guard let last = try directory.firstSequences().last else {
            throw .missingSegments(directory)
        }
        let header = try directory.openSegment(last, of: metadata.storeID).header
        var head = LogHead(
            sequence: last - 1, epoch: header.epoch, hash: header.previousChain)
        let frames = FrameCursor(
            directory, storeID: metadata.storeID, from: last, skipsDamage: false)
        while let frame = try frames.next() {
            head = LogHead(
                sequence: frame.header.lastSequence, epoch: frame.header.epoch,
                hash: frame.header.chain)
        }
        return head
    }

    /// Events from a sequence on (from the first kept if nil), in order.
    ///
    /// - Parameter skippingDamage: continue after what cannot be read, listing it in ``EventCursor/damages``;
    ///   otherwise damage is thrown.
    package func events(
        from sequence: UInt64? = nil, skippingDamage: Bool = false
    ) throws(LogError) -> EventCursor {
        let start = if let sequence { sequence } else { try firstSequence() }
        return EventCursor(
            FrameCursor(
                directory, storeID: metadata.storeID, from: start, skipsDamage: skippingDamage),
            from: start)
    }

    /// The location and header of the frame that contains an event; nil if it is not written yet.
    package func frame(containing sequence: UInt64) throws(LogError) -> FrameInfo? {
        try frames(from: sequence).next()
    }

    /// The frames containing events from a sequence on, for tools that show bytes.
    package func frames(
        from sequence: UInt64? = nil, skippingDamage: Bool = false
    ) throws(LogError) -> FrameInfoCursor {
        let start = if let sequence { sequence } else { try firstSequence() }
        return FrameInfoCursor(
            FrameCursor(
                directory, storeID: metadata.storeID, from: start, skipsDamage: skippingDamage))
    }

    /// The log's segments, in log order.
    package func segmentFiles() throws(LogError) -> [SegmentFile] {
        var files: [SegmentFile] = []
        for first in try directory.firstSequences() {
            let path = directory.segmentPath(first)
            let size = try reading { () throws(FileSystemError) in
                try directory.fileSystem.open(path, .read).size()
            }
            files.append(SegmentFile(path: path, firstSequence: first, sizeBytes: size))
        }
        return files
    }
}

/// A segment as stored on disk.
package struct SegmentFile: Sendable, Hashable {
    package let path: String
    package let firstSequence: UInt64
    /// The stored size: deflated, or including zeros filled ahead.
    package let sizeBytes: UInt64
}

/// Iterates over a log's events, one frame in memory at a time.
///
/// At the end `next` returns nil; called again, it returns events appended since. Not Sendable, because it is
/// stateful.
package final class EventCursor {
    /// The last event to return; raise it to read on.
    package var through = UInt64.max
    /// Bytes of events read so far.
    package private(set) var byteCount: UInt64 = 0
    private let frames: FrameCursor
    private var sequence: UInt64
    private var rest: UnsafeRawBufferPointer.SubSequence
    private var restSequence: UInt64

    init(_ frames: FrameCursor, from sequence: UInt64) {
        self.frames = frames
        self.sequence = sequence
        restSequence = sequence
        rest = UnsafeRawBufferPointer(start: nil, count: 0)[...]
    }

    /// What could not be read so far, if damage is skipped.
    package var damages: [LogDamage] { frames.damages }

    package func next() throws(LogError) -> RecordedEvent? {
        try next { sequence, kind, time, payload in
            RecordedEvent(
                sequence: sequence,
                event: LogEvent(kind: kind, timeMicroseconds: time, payload: [UInt8](payload)))
        }
    }

    /// Calls `body` with the next event, without copying its payload.
    ///
    /// - Parameter body: takes the sequence, kind, time in microseconds and payload; the payload is valid
    ///   only until it returns.
    package func next<Result>(
        _ body: (UInt64, LogEventKind, Int64, UnsafeRawBufferPointer) -> Result
    ) throws(LogError) -> Result? {
        guard sequence <= through else { return nil }
        while rest.isEmpty || restSequence < sequence {
            if rest.isEmpty {
                guard let frame = try frames.next() else { return nil }
                rest = frame.payload[...]
                byteCount += UInt64(rest.count)
                restSequence = frame.header.firstSequence
                // Skipped damage leaves a gap.
                sequence = max(sequence, restSequence)
                guard sequence <= through else { return nil }
            } else {
                dropEvent()
            }
        }
        let event = UnsafeRawBufferPointer(rebasing: rest)
        let length = Int(event.littleEndian(UInt32.self, at: 0))
        let result = body(
            restSequence, LogEventKind(rawValue: event[4]), event.littleEndian(Int64.self, at: 8),
            event.part(EventLayout.headerSize..<EventLayout.headerSize + length))
        dropEvent()
        sequence = restSequence
        return result
    }

    private func dropEvent() {
        let length = UnsafeRawBufferPointer(rebasing: rest).littleEndian(UInt32.self, at: 0)
        rest = rest.dropFirst(EventLayout.headerSize + Int(length))
        restSequence += 1
    }
}

/// The location of a frame and the contents of its header.
package struct FrameInfo: Sendable, Hashable {
    /// Path of the segment.
    package let segment: String
    /// Offset in the uncompressed segment.
    package let offset: UInt64
    package let byteCount: Int
    package let sequences: ClosedRange<UInt64>
    package let epoch: UInt32
    package let durableThrough: UInt64
    /// The crc32 of its events.
    package let checksum: UInt32
    package let chain: ChainHash
}

/// Iterates over a log's frames. Not Sendable, because it is stateful.
package final class FrameInfoCursor {
    private let frames: FrameCursor

    init(_ frames: FrameCursor) {
        self.frames = frames
    }

    package var damages: [LogDamage] { frames.damages }

    /// The next frame; nil at the end, until more is appended.
    package func next() throws(LogError) -> FrameInfo? {
        guard let frame = try frames.next(), let segment = frames.segmentPath else { return nil }
        let header = frame.header
        return FrameInfo(
            segment: segment, offset: frame.offset, byteCount: header.size,
            sequences: header.firstSequence...header.lastSequence, epoch: header.epoch,
            durableThrough: header.durableThrough, checksum: header.payloadChecksum,
            chain: header.chain)
    }
}
