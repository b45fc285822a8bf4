import RelayJSON

/// RFC 4648 §5: base64 with `-` and `_`, here without padding.
package enum Base64URL {
    private static let alphabet: StaticString =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    package static func encode(_ bytes: [UInt8]) -> String {
        var writer = JSONWriter(capacity: bytes.count * 4 / 3 + 4)
        bytes.withUnsafeBufferPointer { encode($0, to: &writer) }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    static func encode(_ bytes: UnsafeBufferPointer<UInt8>, to writer: inout JSONWriter) {
        var index = 0
        while index < bytes.count {
            let rest = min(3, bytes.count - index)
            var group: UInt32 = 0
            for offset in 0..<3 {
                group = group << 8 | (offset < rest ? UInt32(bytes[index + offset]) : 0)
            }
            for place in 0...rest {
                let digit = Int(group >> (18 - 6 * UInt32(place)) & 63)
                writer.raw(alphabet.utf8Start[digit])
            }
            index += 3
        }
    }

    /// nil if the text is not base64url.
    package static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var group: UInt32 = 0
        var bits: UInt32 = 0
        for byte in text.utf8 {
            guard let value = value(of: byte) else { return nil }
            group = group << 6 | value
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: group >> bits))
            }
        }
        // RFC 4648 §3.5: bits that are left over are zero, so that bytes have one text.
        return bits < 6 && group & (1 << bits - 1) == 0 ? bytes : nil
    }

    private static func value(of byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
