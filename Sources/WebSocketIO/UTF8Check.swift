/// Whether bytes that come piece by piece are UTF-8, found out at the first byte that is not. A pure value.
///
/// RFC 3629 §4: no overlong forms, no surrogates, nothing above U+10FFFF.
struct UTF8Check: Equatable {
    /// Continuation bytes that the current character still needs.
    private var missing = 0
    /// What the next continuation byte may be: narrower than 80 to BF after E0, ED, F0 and F4.
    private var allowed: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether no character is incomplete.
    var isAtEnd: Bool { missing == 0 }

    /// Takes a piece. Returns false at the first byte that cannot be.
    mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count {
            if missing == 0 { index = Self.skipASCII(bytes, from: index) }
            while index < bytes.count {
                let byte = bytes[index]
                if missing == 0, byte < 0x80 { break }
                guard take(byte) else { return false }
                index += 1
            }
        }
        return true
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        if missing > 0 {
            guard allowed.contains(byte) else { return false }
            missing -= 1
            allowed = 0x80...0xBF
            return true
        }
        switch byte {
        case 0xC2...0xDF: missing = 1
        case 0xE0...0xEF: missing = 2
        case 0xF0...0xF4: missing = 3
        default: return false
        }
        switch byte {
        case 0xE0: allowed = 0xA0...0xBF
        case 0xED: allowed = 0x80...0x9F
        case 0xF0: allowed = 0x90...0xBF
        case 0xF4: allowed = 0x80...0x8F
        default: break
        }
        return true
    }

    /// Where the run of ASCII that begins at `index` ends, eight bytes at a step.
    private static func skipASCII(_ bytes: UnsafeRawBufferPointer, from index: Int) -> Int {
        var index = index
        while index + 8 <= bytes.count,
            bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        {
            index += 8
        }
        while index < bytes.count, bytes[index] < 0x80 { index += 1 }
        return index
    }
}
