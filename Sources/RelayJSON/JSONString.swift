/// The content of a JSON string inside the reader's input, checked but not yet unescaped.
///
/// It points into the reader's buffer and must not outlive it.
package struct JSONString {
    /// The bytes between the quotes.
    package let escaped: UnsafeBufferPointer<UInt8>
    /// False if the escaped bytes are the content.
    package let hasEscapes: Bool

    /// The content as a string. A lone surrogate becomes U+FFFD.
    package var string: String {
        withContent { String(decoding: $0, as: UTF8.self) }
    }

    /// Calls the body with the content's UTF-8 bytes; copies only if there are escapes.
    @inlinable
    package func withContent<R, E: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        guard hasEscapes else { return try body(escaped) }
        let bytes = unescaped()
        // The pointer stays inside the closure's call.
        var result: Result<R, E>?
        bytes.withUnsafeBufferPointer { buffer in
            do throws(E) { result = .success(try body(buffer)) } catch { result = .failure(error) }
        }
        guard let result else { preconditionFailure("withUnsafeBufferPointer calls its body once") }
        return try result.get()
    }

    /// Compares the content with ASCII text that has nothing to escape.
    @inlinable
    package static func == (left: JSONString, right: StaticString) -> Bool {
        guard !left.hasEscapes else { return left.string == right.description }
        guard left.escaped.count == right.utf8CodeUnitCount else { return false }
        for index in 0..<right.utf8CodeUnitCount
        where left.escaped[index] != right.utf8Start[index] {
            return false
        }
        return true
    }

    @usableFromInline
    func unescaped() -> ContiguousArray<UInt8> {
        var output = ContiguousArray<UInt8>()
        output.reserveCapacity(escaped.count)
        var index = 0
        while index < escaped.count {
            let byte = escaped[index]
            index += 1
            guard byte == UInt8(ascii: "\\") else {
                output.append(byte)
                continue
            }
            let letter = escaped[index]
            index += 1
            switch letter {
            case UInt8(ascii: "b"): output.append(0x08)
            case UInt8(ascii: "f"): output.append(0x0C)
            case UInt8(ascii: "n"): output.append(0x0A)
            case UInt8(ascii: "r"): output.append(0x0D)
            case UInt8(ascii: "t"): output.append(0x09)
            case UInt8(ascii: "u"): appendScalar(at: &index, to: &output)
            default: output.append(letter)
            }
        }
        return output
    }

    /// Reads the four digits at `index`, and the second half of a surrogate pair if there is one.
    private func appendScalar(at index: inout Int, to output: inout ContiguousArray<UInt8>) {
        var code = codeUnit(at: index)
        index += 4
        if 0xD800..<0xDC00 ~= code, index + 6 <= escaped.count,
            escaped[index] == UInt8(ascii: "\\"), escaped[index + 1] == UInt8(ascii: "u")
        {
            let low = codeUnit(at: index + 2)
            if 0xDC00..<0xE000 ~= low {
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
                index += 6
            }
        }
        let scalar = UnicodeScalar(code) ?? "\u{FFFD}"
        output.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }

    private func codeUnit(at index: Int) -> UInt32 {
        (index..<index + 4).reduce(0) { $0 << 4 | UInt32(Self.hexadecimal(escaped[$1]) ?? 0) }
    }

    static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
