/// The bytes that HTTP's grammar is made of.
extension UInt8 {
    static let carriageReturn = UInt8(ascii: "\r")
    static let lineFeed = UInt8(ascii: "\n")

    /// Of a token, such as a method or a field's name. RFC 9110 §5.6.2.
    var isTokenByte: Bool {
        isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(self)
    }

    /// Of a field's value: everything but control characters, the tab excepted. RFC 9110 §5.5.
    var isFieldValueByte: Bool { self >= 0x20 && self != 0x7F || self == UInt8(ascii: "\t") }

    /// RFC 9110 §5.6.3.
    var isBlankOrTab: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// Printable and no blank. RFC 5234 appendix B.1, VCHAR.
    var isVisible: Bool { 0x21...0x7E ~= self }

    var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    var isLetterOrDigit: Bool {
        isDigit || UInt8(ascii: "a")...UInt8(ascii: "z") ~= self
            || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self
    }

    /// Of a registered name, the percent sign excepted. RFC 3986 §3.2.2.
    var isHostNameByte: Bool { isLetterOrDigit || "-._~!$&'()*+,;=".utf8.contains(self) }

    /// The value of a hexadecimal digit.
    var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension ArraySlice<UInt8> {
    /// Without blanks and tabs at both ends. No other byte counts as one: what RFC 9110 does not call
    /// whitespace may mean something to the server behind us or the proxy in front of us.
    var withoutOuterBlanks: ArraySlice<UInt8> {
        var rest = self
        while let first = rest.first, first.isBlankOrTab { rest.removeFirst() }
        while let last = rest.last, last.isBlankOrTab { rest.removeLast() }
        return rest
    }

    /// Whether it is `text`, which is ASCII in lower case. Unicode's own rules would find letters that are none here:
    /// the Kelvin sign is a capital `k` to them.
    func isEqualWithoutCase(to text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            elementsEqual(text) { byte, wanted in
                byte == wanted
                    || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte && byte | 0x20 == wanted
            }
        }
    }
}
