extension [UInt8] {
    /// Parses pairs of hexadecimal digits; nil if there is anything else.
    package init?(hexadecimal text: some StringProtocol) {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let high = rest.popFirst() {
            guard let low = rest.popFirst(), let first = Self.value(ofDigit: high),
                let second = Self.value(ofDigit: low)
            else { return nil }
            bytes.append(first << 4 | second)
        }
        self = bytes
    }

    private static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension Sequence<UInt8> {
    /// Two digits per byte, in lower case.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in self {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension UInt64 {
    /// 16 digits.
    package var hexadecimal: String { allDigits(self, count: 16) }
}

extension UInt32 {
    /// 8 digits.
    package var hexadecimal: String { allDigits(UInt64(self), count: 8) }
}

extension UInt8 {
    /// 2 digits.
    package var hexadecimal: String { allDigits(UInt64(self), count: 2) }
}

private func allDigits(_ number: UInt64, count: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: count - digits.count) + digits
}
