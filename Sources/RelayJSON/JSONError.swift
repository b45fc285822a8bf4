/// Why bytes are not the JSON that was expected, and where.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        case unexpectedEnd
        /// A byte that is not allowed here; `expected` says what is.
        case unexpectedByte(UInt8, expected: String)
        case invalidNumber
        case invalidEscape
        case invalidUTF8
        case controlCharacterInString
        case nestedTooDeep(limit: Int)
        case bytesBehindValue
    }

    package var reason: Reason
    /// Offset in the input, in bytes from its start.
    package var byteOffset: Int

    package init(_ reason: Reason, byteOffset: Int) {
        self.reason = reason
        self.byteOffset = byteOffset
    }

    package var description: String { "Invalid JSON at byte \(byteOffset): \(problem)." }

    /// The reason, for a sentence that says the place in its own way.
    package var problem: String {
        switch reason {
        case .unexpectedEnd: "the text ends too early"
        case .unexpectedByte(let byte, let expected):
            "expected \(expected), found \(Self.name(of: byte))"
        case .invalidNumber: "not a JSON number"
        case .invalidEscape: "not a JSON escape sequence"
        case .invalidUTF8: "not valid UTF-8"
        case .controlCharacterInString: "a control character in a string must be escaped"
        case .nestedTooDeep(let limit): "nested deeper than \(limit) levels"
        case .bytesBehindValue: "there is more text behind the value"
        }
    }

    private static func name(of byte: UInt8) -> String {
        (0x21...0x7E).contains(byte)
            ? "\"\(Character(UnicodeScalar(byte)))\"" : "byte \(byte)"
    }
}

/// Limits on what a reader accepts.
package struct JSONLimits: Sendable {
    /// Nesting of objects and arrays.
    package var depth: Int

    package init(depth: Int = 512) { self.depth = depth }
}
