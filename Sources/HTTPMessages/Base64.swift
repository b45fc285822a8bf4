extension [UInt8] {
    /// RFC 4648 §4, with padding.
    package var base64: String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: count, by: 3) {
            let group = (0..<3).reduce(0) {
                $0 << 8 | Int(start + $1 < count ? self[start + $1] : 0)
            }
            let given = Swift.min(3, count - start)
            for digit in 0..<4 {
                text.append(
                    digit <= given ? digits[group >> (18 - 6 * digit) & 0x3F] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
