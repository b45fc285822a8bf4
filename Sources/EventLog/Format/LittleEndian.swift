// Every number on disk is little-endian, at any alignment.

extension UnsafeRawBufferPointer {
    @inline(__always)
    func littleEndian<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type, at offset: Int
    ) -> Number {
        Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }

    /// The bytes in `range`, with indices starting at zero.
    @inline(__always)
    func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[range])
    }

    /// True if every byte is zero; checks eight at a time.
    var isZero: Bool {
        var index = 0
        while index + 8 <= count {
            if loadUnaligned(fromByteOffset: index, as: UInt64.self) != 0 { return false }
            index += 8
        }
        while index < count {
            if self[index] != 0 { return false }
            index += 1
        }
        return true
    }
}

extension UnsafeMutableRawBufferPointer {
    @inline(__always)
    func storeLittleEndian<Number: FixedWidthInteger & BitwiseCopyable>(
        _ value: Number, at offset: Int
    ) {
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: Number.self)
    }
}

extension Int {
    /// Rounds up to a multiple of 8.
    var roundedUpToEight: Int { (self + 7) & ~7 }
}
