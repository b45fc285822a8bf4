import CZlib

/// zlib functions in one call.
package enum Zlib {
    /// The CRC-32 of `bytes`, or of the data behind `checksum` followed by `bytes`.
    package static func crc32(
        _ bytes: UnsafeRawBufferPointer, continuing checksum: UInt32 = 0
    ) -> UInt32 {
        guard let base = bytes.baseAddress else { return checksum }
        return UInt32(
            crc32_z(uLong(checksum), base.assumingMemoryBound(to: Bytef.self), bytes.count))
    }

    /// `bytes` in zlib's format; nil if there is not enough memory.
    ///
    /// - Parameter level: from 1, the fastest, to 9, the smallest.
    package static func compressed(_ bytes: [UInt8], level: Int32) -> [UInt8]? {
        var size = compressBound(uLong(bytes.count))
        var result = Z_OK
        let compressed = [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
            result = compress2(buffer.baseAddress, &size, bytes, uLong(bytes.count), level)
            count = result == Z_OK ? Int(size) : 0
        }
        return result == Z_OK ? compressed : nil
    }

    /// The decompressed form of `compressed`; nil unless it is complete and has exactly `length` bytes.
    package static func decompressed(_ compressed: [UInt8], length: Int) -> [UInt8]? {
        var isWhole = false
        // All threads share the empty array, and `unsafeUninitializedCapacity` writes to it.
        let plain = [UInt8](unsafeUninitializedCapacity: max(1, length)) { buffer, count in
            var size = uLong(length)
            let result = uncompress(buffer.baseAddress, &size, compressed, uLong(compressed.count))
            isWhole = result == Z_OK && size == uLong(length)
            count = isWhole ? length : 0
        }
        return isWhole ? plain : nil
    }
}
