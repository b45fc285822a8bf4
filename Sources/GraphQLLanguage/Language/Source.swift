import Threads

/// The text of one GraphQL document, kept so that errors can give their location.
///
/// Invariant: `bytes` is well-formed UTF-8. Malformed bytes are replaced by U+FFFD on the way in,
/// so nothing downstream has to check again.
///
/// A text that was taken from a file of another language has an ``origin``. Lines, columns and excerpts are
/// then those of that file, and nobody who reports an error has to know.
package final class Source: Sendable {
    /// The document's name for people: a file name, or "GraphQL request".
    package let name: String
    /// The document as UTF-8.
    package let bytes: [UInt8]
    /// The location of the first byte. Documents that are read together start at different numbers,
    /// so that a location also identifies its document.
    package let base: Int
    /// The longer text that this one was taken from, if it was.
    package let origin: SourceOrigin?
    /// The counts at the start and every ``markInterval`` bytes, up to the furthest location requested: a long document
    /// may need those of all its fields, and none is counted from the start.
    private let marks = Lock([LocationCounter()])
    private static let markInterval = 1_024

    private init(
        name: String, wellFormed bytes: [UInt8], base: Int, origin: SourceOrigin? = nil
    ) {
        self.name = name
        self.bytes = bytes
        self.base = base
        self.origin = origin
    }

    package convenience init(_ text: String, name: String = "GraphQL request") {
        self.init(name: name, wellFormed: Array(text.utf8), base: 0)
    }

    /// Takes bytes from a socket or file; malformed UTF-8 becomes U+FFFD.
    package convenience init(utf8 bytes: [UInt8], name: String = "GraphQL request") {
        self.init(name: name, wellFormed: Self.wellFormed(bytes), base: 0)
    }

    /// Takes a text from a file, and the file's name.
    package convenience init(utf8 bytes: [UInt8], from origin: SourceOrigin) {
        self.init(
            name: origin.file.name, wellFormed: Self.wellFormed(bytes), base: 0, origin: origin)
    }

    private static func wellFormed(_ bytes: [UInt8]) -> [UInt8] {
        String(validating: bytes, as: UTF8.self) != nil
            ? bytes : Array(String(decoding: bytes, as: UTF8.self).utf8)
    }

    /// The same document, its locations counted from `base`.
    package func starting(at base: Int) -> Source {
        Source(name: name, wellFormed: bytes, base: base, origin: origin)
    }

    /// The locations of this document, including its end.
    package var locations: ClosedRange<Int> { base...base + bytes.count }

    /// Line and column of a node's `location`, found by counting from the mark before it.
    ///
    /// Lines end with LF, CR or CRLF (GraphQL §2.1.2). Columns count UTF-16 code units, like
    /// graphql-js and the editors that read its errors; in ASCII text those are bytes. A location
    /// past the end returns the end.
    package func location(at location: Int) -> SourceLocation {
        let offset = min(max(0, location - base), bytes.count)
        if let origin { return origin.location(of: offset) }
        var counter = mark(before: offset)
        counter.advance(to: offset, in: bytes)
        return counter.location
    }

    /// Line and column of a node's `location`, with the document that they are in.
    package func place(of location: Int) -> SourcePlace {
        SourcePlace(source: self, location: self.location(at: location))
    }

    private func mark(before offset: Int) -> LocationCounter {
        marks.withLock { marks in
            while marks.count <= offset / Self.markInterval {
                var counter = marks[marks.count - 1]
                counter.advance(to: marks.count * Self.markInterval, in: bytes)
                marks.append(counter)
            }
            return marks[offset / Self.markInterval]
        }
    }

    /// Line and column of each location, in the same order, counted in one pass.
    func locations(at locations: [Int]) -> [SourceLocation] {
        if origin != nil { return locations.map(location(at:)) }
        var found: [Int: SourceLocation] = [:]
        var counter = LocationCounter()
        for location in locations.sorted() {
            counter.advance(to: location - base, in: bytes)
            found[location] = counter.location
        }
        return locations.compactMap { found[$0] }
    }
}

/// Walks through a document and counts lines and columns.
private struct LocationCounter {
    private var line = 1
    private var column = 1
    private var offset = 0

    var location: SourceLocation { SourceLocation(line: line, column: column) }

    mutating func advance(to target: Int, in bytes: [UInt8]) {
        let end = min(target, bytes.count)
        while offset < end {
            let byte = bytes[offset]
            offset += 1
            switch byte {
            case UInt8(ascii: "\n"):
                line += 1
                column = 1
            case UInt8(ascii: "\r"):
                // Its line feed belongs to it, even at the target.
                if offset < bytes.count, bytes[offset] == UInt8(ascii: "\n") { offset += 1 }
                line += 1
                column = 1
            case 0x80..<0xC0: break  // a continuation byte belongs to the scalar before it
            case 0xF0...: column += 2  // beyond U+FFFF: a surrogate pair
            default: column += 1
            }
        }
    }
}

/// A location in a document; both numbers start at 1 (GraphQL §7.1.2).
package struct SourceLocation: Hashable, Sendable {
    package let line: Int
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}
