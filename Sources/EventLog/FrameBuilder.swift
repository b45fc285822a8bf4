#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Collects batches into the bytes of one frame, with checksum and hash computed as they arrive.
///
/// So that nothing is left to compute when the frame's turn comes: closing it costs one hash block.
/// The memory is page-aligned and used again for frame after frame.
/// Not Sendable: whoever holds the append queue's lock fills it; once it is taken, the sync thread
/// alone has it.
final class FrameBuilder {
    private var memory: UnsafeMutableRawBufferPointer
    private let hasher = ChainHasher()
    private var checksum: UInt32 = 0
    private(set) var payloadLength = 0
    private(set) var count = 0

    private static let alignment = 4096
    private static let initialCapacity = 1 << 18

    init() {
        memory = .allocate(byteCount: Self.initialCapacity, alignment: Self.alignment)
    }

    deinit { memory.deallocate() }

    var isEmpty: Bool { count == 0 }

    /// Adds encoded events. The caller keeps the payload within ``FrameLayout/maximumPayload``.
    func append(_ batch: EventBatch) {
        batch.bytes.withUnsafeBytes { bytes in
            let start = FrameLayout.headerSize + payloadLength
            reserve(FrameLayout.size(payload: payloadLength + bytes.count))
            UnsafeMutableRawBufferPointer(rebasing: memory[start...]).copyMemory(from: bytes)
            checksum = Checksum.crc32(bytes, continuing: checksum)
            hasher.update(bytes)
            payloadLength += bytes.count
        }
        count += batch.count
    }

    /// Completes the frame, for ``withBytes(_:)`` to give out.
    ///
    /// - Returns: the chain hash after it.
    @discardableResult
    func close(
        after head: LogHead, durableThrough: UInt64, flags: FrameHeader.Flags
    ) -> ChainHash {
        var header = FrameHeader(
            flags: isEmpty ? flags.union(.closing) : flags, payloadLength: payloadLength,
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

    /// The length of the frame in bytes.
    var size: Int { FrameLayout.size(payload: payloadLength) }

    /// Gives the closed frame's bytes to `body`.
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(UnsafeRawBufferPointer(memory).part(0..<size))
    }

    func removeAll() {
        hasher.restart()
        checksum = 0
        payloadLength = 0
        count = 0
    }

    private func reserve(_ size: Int) {
        guard size > memory.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(size, memory.count * 2), alignment: Self.alignment)
        larger.copyMemory(from: UnsafeRawBufferPointer(memory))
        memory.deallocate()
        memory = larger
    }
}

/// Where a history stands: its last event, the epoch it is written in, and the hash of it all.
package struct LogHead: Hashable, Sendable {
    /// The last event's sequence; 0 in a log without events.
    package let sequence: UInt64
    package let epoch: UInt32
    package let hash: ChainHash

    package init(sequence: UInt64, epoch: UInt32, hash: ChainHash) {
        self.sequence = sequence
        self.epoch = epoch
        self.hash = hash
    }
}
