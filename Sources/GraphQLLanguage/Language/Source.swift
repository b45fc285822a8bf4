/// The text of one GraphQL document, kept so that errors can say where they are.
///
/// Invariant: `bytes` is well-formed UTF-8. Bytes that are not are replaced by U+FFFD on the way
/// in, so nothing downstream has to check again.
package final class Source: Sendable {
    /// How people know the document: a file name, or "GraphQL request".
    package let name: String
    /// The document as UTF-8.
    package let bytes: [UInt8]

    package init(_ text: String, name: String = "GraphQL request") {
        self.name = name
        self.bytes = Array(text.utf8)
    }

    /// Takes bytes as they came from a socket or file; malformed UTF-8 becomes U+FFFD.
    package init(utf8 bytes: [UInt8], name: String = "GraphQL request") {
        self.name = name
        if String(validating: bytes, as: UTF8.self) != nil {
            self.bytes = bytes
        } else {
            self.bytes = Array(String(decoding: bytes, as: UTF8.self).utf8)
        }
    }

    /// Line and column of the byte at `offset`, found by counting from the start.
    ///
    /// Lines end with LF, CR or CRLF (GraphQL §2.1.2). Columns count UTF-16 code units, as
    /// graphql-js and the editors that read its errors do; in ASCII text that is the byte.
    /// An offset past the end gives the end.
    package func location(at offset: Int) -> SourceLocation {
        var line = 1
        var column = 1
        var index = 0
        let end = min(offset, bytes.count)
        while index < end {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\n"):
                line += 1
                column = 1
            case UInt8(ascii: "\r"):
                if index < end, bytes[index] == UInt8(ascii: "\n") { index += 1 }
                line += 1
                column = 1
            case 0x80..<0xC0: break  // a continuation byte belongs to the scalar before it
            case 0xF0...: column += 2  // beyond U+FFFF: a surrogate pair
            default: column += 1
            }
        }
        return SourceLocation(line: line, column: column)
    }
}

/// A place in a document; both numbers start at 1 (GraphQL §7.1.2).
package struct SourceLocation: Hashable, Sendable {
    package let line: Int
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}
