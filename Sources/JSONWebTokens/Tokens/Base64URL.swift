/// Base64 with the alphabet for URLs and without padding (RFC 4648 §5, RFC 7515 §2).
///
/// Every sequence of bytes has exactly one text: padding, white space and stray bits at the end are refused
/// (RFC 4648 §3.5), so that nobody can write a token in two ways.
enum Base64URL {
    /// - Returns: nil if the text is not the one that encodes some bytes.
    static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        let tail = text.count % 4
        guard tail != 1 else { return nil }
        let count = text.count / 4 * 3 + max(tail - 1, 0)
        // All threads share the empty array, and `unsafeUninitializedCapacity` writes to it.
        if count == 0 { return [] }
        var isValid = true
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            var bits: UInt32 = 0
            var bitCount = 0
            for character in text {
                guard let value = value(of: character) else {
                    isValid = false
                    return
                }
                bits = bits << 6 | UInt32(value)
                bitCount += 6
                if bitCount >= 8 {
                    bitCount -= 8
                    buffer.initializeElement(
                        at: initialized, to: UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
                    initialized += 1
                }
            }
            isValid = bits & (1 << UInt32(bitCount) - 1) == 0
        }
        return isValid ? bytes : nil
    }

    static func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { decode($0) }
    }

    @inline(__always)
    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
