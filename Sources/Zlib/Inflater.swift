import CZlib

/// Takes DEFLATE without a header (RFC 1951) apart, piece by piece. Not thread-safe.
package final class Inflater {
    package enum Outcome: Equatable {
        /// All of the piece has been taken.
        case done
        /// It stands for more than was allowed; the rest has not been looked at.
        case tooLarge
        /// It is not DEFLATE.
        case damaged
    }

    /// What a sender leaves out at the end of a message. RFC 7692 §7.2.1.
    package static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    /// Blocks may say that they are the last, and others follow (RFC 7692 §7.2.3.4). Each such end costs the copy
    /// of a window, so a message may not have any number of them.
    private static let maxEnds = 256

    // zlib keeps the address.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var ends = 0

    /// Nil when there is no memory for it: about 7 KB, and 32 KB once something has come.
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

    /// Appends what `piece` stands for to `output`, which may grow up to `maxBytes`.
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

    /// Nil when there is more to be done.
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

    /// A new stream behind one that has ended, which may refer to what the old one stood for.
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

    /// Forgets what has been taken apart: what follows must not refer to it.
    package func reset() {
        ends = 0
        inflateReset(stream)
    }
}
