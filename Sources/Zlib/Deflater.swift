import CZlib

/// Compresses a stream of messages into DEFLATE without a header (RFC 1951). Not thread-safe.
package final class Deflater {
    // zlib keeps the address.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

    /// nil if there is not enough memory: about 2^(windowBits + 2) and 128 KB.
    ///
    /// - Parameter windowBits: 9 to 15; how far back, as a power of two, matches are searched.
    package init?(windowBits: Int, level: Int32) {
        stream.initialize(to: z_stream())
        let result = deflateInit2_(
            stream, level, Z_DEFLATED, -Int32(windowBits), 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        if result != Z_OK {
            stream.deallocate()
            return nil
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Appends the compressed form of `bytes` to `output`. With `flushes`, everything received so far is then
    /// in the output, which ends with an empty stored block (`00 00 FF FF`); without, some may be held back.
    package func deflate(
        _ bytes: UnsafeRawBufferPointer, flushes: Bool, onto output: inout [UInt8]
    ) {
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: bytes.baseAddress?.assumingMemoryBound(to: Bytef.self))
        stream.pointee.avail_in = UInt32(bytes.count)
        let flush = flushes ? Z_SYNC_FLUSH : Z_NO_FLUSH
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16_384) { room in
            repeat {
                stream.pointee.next_out = room.baseAddress
                stream.pointee.avail_out = UInt32(room.count)
                // It fails only on an invalid stream.
                _ = CZlib.deflate(stream, flush)
                output.append(contentsOf: room[..<(room.count - Int(stream.pointee.avail_out))])
            } while stream.pointee.avail_out == 0
        }
        stream.pointee.next_in = nil
    }

    /// Forgets what was compressed: what follows does not refer to it.
    package func reset() { deflateReset(stream) }
}
