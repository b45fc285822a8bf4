// Which characters Swift's names and operators are made of (The Swift Programming Language, Lexical Structure).

/// A character beyond ASCII, and how many bytes it has.
struct SwiftScalar {
    let value: UInt32
    let length: Int

    /// White space, or invisible as a byte order mark is.
    var isSwiftSpace: Bool { value == 0xA0 || value == 0xFEFF }

    /// An operator-head.
    var isSwiftOperatorHead: Bool {
        switch value {
        case 0xA1...0xA7, 0xA9, 0xAB, 0xAC, 0xAE, 0xB0, 0xB1, 0xB6, 0xBB, 0xBF, 0xD7, 0xF7,
            0x2016, 0x2017, 0x2020...0x2027, 0x2030...0x203E, 0x2041...0x2053, 0x2055...0x205E,
            0x2190...0x23FF, 0x2500...0x2775, 0x2794...0x2BFF, 0x2E00...0x2E7F,
            0x3001...0x3003, 0x3008...0x3020, 0x3030:
            true
        default: false
        }
    }

    /// An operator-character that no operator begins with.
    var isCombining: Bool {
        switch value {
        case 0x300...0x36F, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE00...0xFE0F, 0xFE20...0xFE2F,
            0xE0100...0xE01EF:
            true
        default: false
        }
    }
}

extension SwiftLexer {
    /// The character at `position`, which is beyond ASCII. Well-formed UTF-8 has all of its bytes there.
    func scalar(at position: Int) -> SwiftScalar {
        let first = UInt32(bytes[position])
        let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        guard first >= 0xC0, length <= bytes.count - position else {
            return SwiftScalar(value: 0xFFFD, length: 1)
        }
        var value = first & (0x7F >> UInt32(length))
        for byte in bytes[position + 1..<position + length] {
            value = value << 6 | UInt32(byte & 0x3F)
        }
        return SwiftScalar(value: value, length: length)
    }
}

extension UInt8 {
    @inline(__always)
    var endsSwiftLine: Bool { self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r") }

    /// A letter, a digit, `_` or `$`.
    @inline(__always)
    var isSwiftNameContinue: Bool {
        (self | 0x20) &- UInt8(ascii: "a") < 26 || self &- UInt8(ascii: "0") < 10
            || self == UInt8(ascii: "_") || self == UInt8(ascii: "$")
    }

    var isSwiftOperator: Bool {
        switch self {
        case UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "-"), UInt8(ascii: "+"),
            UInt8(ascii: "!"), UInt8(ascii: "*"), UInt8(ascii: "%"), UInt8(ascii: "<"),
            UInt8(ascii: ">"), UInt8(ascii: "&"), UInt8(ascii: "|"), UInt8(ascii: "^"),
            UInt8(ascii: "~"), UInt8(ascii: "?"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
