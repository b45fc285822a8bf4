import CZlib

/// Decompresses DEFLATE without a header (RFC 1951), piece by piece. Not thread-safe.
package final class Inflater {
    package enum Outcome: Equatable {
        /// The whole piece was consumed.
        case done
        /// It decompresses to more than was allowed; the rest was not looked at.
        case tooLarge
        /// It is not DEFLATE.
        case damaged
    }

    /// What a sender omits at the end of a message. RFC 7692 §7.2.1.
    package static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    /// Blocks may claim to be the last and be followed by others (RFC 7692 §7.2.3.4). Each such end costs the
    /// copy of a window, so their number per message is limited.
    private static let maxEnds = 256

    // zlib keeps the address.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var ends = 0

    /// nil if there is not enough memory: about 7 KB, and 32 KB once data has arrived.
    package init?() {
        stream.initialize(to: z_stream())
        let result = inflateInit2_(
            stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        if result != Z_OK {
            stream.deallocate()
            return nil
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Appends the decompressed form of `piece` to `output`, which may grow up to `maxBytes`.
    package func inflate(
        _ piece: [UInt8], onto output: inout [UInt8], maxBytes: Int
    ) -> Outcome {
        piece.withUnsafeBufferPointer { piece in
            stream.pointee.next_in = UnsafeMutablePointer(mutating: piece.baseAddress)
            stream.pointee.avail_in = UInt32(piece.count)
            defer { stream.pointee.next_in = nil }
            return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16_384) { room in
                while true {
                    let outcome = step(room, onto: &output, maxBytes: maxBytes)
                    if let outcome { return outcome }
                }
            }
        }
    }

    /// nil if there is more to do.
    private func step(
        _ room: UnsafeMutableBufferPointer<UInt8>, onto output: inout [UInt8], maxBytes: Int
    ) -> Outcome? {
        stream.pointee.next_out = room.baseAddress
        stream.pointee.avail_out = UInt32(room.count)
        let result = CZlib.inflate(stream, Z_NO_FLUSH)
        let produced = room.count - Int(stream.pointee.avail_out)
        if produced > maxBytes - output.count { return .tooLarge }
        output.append(contentsOf: room[..<produced])
        switch result {
        case Z_OK:
            return stream.pointee.avail_in == 0 && stream.pointee.avail_out > 0 ? .done : nil
        case Z_BUF_ERROR:
            // Nothing to do: the piece is used up.
            return .done
        case Z_STREAM_END:
            guard goOnAfterEnd() else { return .damaged }
            return stream.pointee.avail_in == 0 ? .done : nil
        default:
            return .damaged
        }
    }

    /// Starts a new stream after one that has ended, which may refer to the old one's output.
    private func goOnAfterEnd() -> Bool {
        ends += 1
        if ends > Self.maxEnds { return false }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32_768) { window in
            var length: UInt32 = 0
            return inflateGetDictionary(stream, window.baseAddress, &length) == Z_OK
                && inflateReset(stream) == Z_OK
                && inflateSetDictionary(stream, window.baseAddress, length) == Z_OK
        }
    }

    /// A message has ended; what follows may refer to it.
    package func endMessage() { ends = 0 }

    /// Forgets the output so far: what follows must not refer to it.
    package func reset() {
        ends = 0
        inflateReset(stream)
    }
}
