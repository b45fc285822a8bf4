import Digests

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Collects batches into the bytes of one frame, computing checksum and hash as they arrive, so that little
/// is left to compute when the frame's turn comes. The memory is page-aligned and reused for every frame.
///
/// Not Sendable: the holder of the append queue's lock fills it; once it is taken, only the sync thread uses
/// it.
package final class FrameBuilder {
    private var memory: UnsafeMutableRawBufferPointer
    /// Bytes of memory allocated, used or not.
    var capacity: Int { memory.count }
    private let hasher = SHA256()
    private let hashing: HashingThread?
    private var checksum: UInt32 = 0
    private(set) var payloadLength = 0
    private(set) var count = 0
    /// How much of the payload is hashed or handed to the hashing thread.
    private var hashedLength = 0
    private var isHashingElsewhere = false

    private static let alignment = 4096
    private static let initialCapacity = 1 << 18
    /// A larger buffer is not kept for the next frame.
    private static let largestKeptCapacity = 1 << 24
    /// From this size on, waking another thread costs less than it saves.
    private static let largeBatchSize = 1 << 15

    init(hashing: HashingThread? = nil) {
        self.hashing = hashing
        memory = .allocate(byteCount: Self.initialCapacity, alignment: Self.alignment)
    }

    /// A frame with the first `count` events of another frame's payload.
    package convenience init(beginning count: Int, of payload: UnsafeRawBufferPointer) {
        self.init()
        var batch = EventBatch()
        var offset = 0
        for _ in 0..<count {
            let length = Int(payload.littleEndian(UInt32.self, at: offset))
            let start = offset + EventLayout.headerSize
            batch.append(
                kind: LogEventKind(rawValue: payload[offset + 4]),
                timeMicroseconds: payload.littleEndian(Int64.self, at: offset + 8),
                payload: payload.part(start..<start + length))
            offset = start + length
        }
        append(batch)
    }

    deinit {
        finishHashing()
        memory.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    /// Adds encoded events. The caller must keep the payload within ``FrameLayout/maximumPayload``.
    func append(_ batch: EventBatch) {
        batch.bytes.withUnsafeBytes { bytes in
            let start = FrameLayout.headerSize + payloadLength
            reserve(FrameLayout.size(payload: payloadLength + bytes.count))
            UnsafeMutableRawBufferPointer(rebasing: memory[start...]).copyMemory(from: bytes)
            payloadLength += bytes.count
            hash()
            checksum = Checksum.crc32(bytes, continuing: checksum)
        }
        count += batch.count
    }

    private var unhashed: UnsafeRawBufferPointer {
        let start = FrameLayout.headerSize
        return UnsafeRawBufferPointer(memory).part(start + hashedLength..<start + payloadLength)
    }

    /// Hashes what was added, here or on the hashing thread. If an earlier part is still being hashed there,
    /// leaves it to ``close``.
    private func hash() {
        if let hashing, isHashingElsewhere || unhashed.count >= Self.largeBatchSize {
            let job = HashingThread.Job(
                frame: ObjectIdentifier(self), bytes: unhashed, hasher: hasher)
            guard hashing.offer(job) else { return }
            isHashingElsewhere = true
        } else {
            hasher.update(unhashed)
        }
        hashedLength = payloadLength
    }

    private func finishHashing() {
        guard isHashingElsewhere else { return }
        hashing?.finish(ObjectIdentifier(self))
        isHashingElsewhere = false
    }

    /// Completes the frame, so that ``withBytes(_:)`` can provide it. An empty one becomes a closing frame.
    ///
    /// - Returns: the chain hash after it.
    @discardableResult
    package func close(
        after head: LogHead, durableThrough: UInt64
    ) -> ChainHash {
        finishHashing()
        hasher.update(unhashed)
        hashedLength = payloadLength
        var header = FrameHeader(
            flags: isEmpty ? .closing : [], payloadLength: payloadLength,
            epoch: head.epoch, count: count, firstSequence: head.sequence + 1,
            durableThrough: durableThrough, chain: head.hash, payloadChecksum: checksum)
        if !isEmpty {
            header.chain = FrameHeader.finishChain(
                previous: head.hash, header: header, hasher: hasher)
        }
        header.store(into: memory)
        FrameHeader.seal(memory)
        let end = FrameLayout.headerSize + payloadLength
        let markerOffset = header.size - FrameLayout.markerSize
        for index in end..<markerOffset { memory[index] = 0 }
        memory.storeLittleEndian(FrameLayout.marker, at: markerOffset)
        return header.chain
    }

    /// Becomes a frame that is complete already, in place of what was collected. It takes nothing more until
    /// ``removeAll()``.
    func load(_ frame: WholeFrame) {
        removeAll()
        reserve(frame.bytes.count)
        frame.bytes.withUnsafeBytes { memory.copyMemory(from: $0) }
        payloadLength = frame.payloadLength
        count = frame.sequences.count
    }

    /// The length of the frame in bytes.
    package var size: Int { FrameLayout.size(payload: payloadLength) }

    /// Passes the completed frame's bytes to `body`.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(UnsafeRawBufferPointer(memory).part(0..<size))
    }

    func removeAll() {
        finishHashing()
        if memory.count > Self.largestKeptCapacity {
            memory.deallocate()
            memory = .allocate(byteCount: Self.initialCapacity, alignment: Self.alignment)
        }
        hasher.restart()
        hashedLength = 0
        checksum = 0
        payloadLength = 0
        count = 0
    }

    private func reserve(_ size: Int) {
        guard size > memory.count else { return }
        finishHashing()
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(size, memory.count * 2), alignment: Self.alignment)
        larger.copyMemory(from: UnsafeRawBufferPointer(memory))
        memory.deallocate()
        memory = larger
    }
}

/// The head of a history: its last event, the epoch in which it is written, and the hash of all of it.
package struct LogHead: Hashable, Sendable {
    /// The last event's sequence; 0 for a log without events.
    package let sequence: UInt64
    package let epoch: UInt32
    package let hash: ChainHash

    package init(sequence: UInt64, epoch: UInt32, hash: ChainHash) {
        self.sequence = sequence
        self.epoch = epoch
        self.hash = hash
    }
}
