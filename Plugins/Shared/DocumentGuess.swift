import Foundation

/// Whether a Swift source has GraphQL documents, as far as a plugin can tell, which has no compiler.
///
/// It is true of every source with a document, and of few others: of one that has a document in a comment, say. The word
/// alone is in most programs, as in `"https://example.org/graphql"`.
enum DocumentGuess {
    /// Looks for `graphql`, `(` and the beginning of a literal, with blanks and comments between them.
    static func isLikely(in source: Data) -> Bool {
        let name = Data("graphql".utf8)
        var place = source.startIndex
        while let found = source.range(of: name, in: place..<source.endIndex) {
            place = found.upperBound
            var rest = source[place...]
            skipBlanks(&rest)
            guard rest.first == UInt8(ascii: "(") else { continue }
            rest.removeFirst()
            skipBlanks(&rest)
            if let first = rest.first, [UInt8(ascii: "\""), UInt8(ascii: "#")].contains(first) {
                return true
            }
        }
        return false
    }

    /// Comments that end nowhere go to the end of the source; the compiler says so.
    private static func skipBlanks(_ rest: inout Data) {
        while let first = rest.first {
            if first <= UInt8(ascii: " ") {
                rest.removeFirst()
            } else if rest.starts(with: Data("//".utf8)) {
                rest = rest.drop { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            } else if rest.starts(with: Data("/*".utf8)) {
                skipComment(&rest)
            } else {
                return
            }
        }
    }

    /// One that may have others in it.
    private static func skipComment(_ rest: inout Data) {
        var depth = 0
        repeat {
            if rest.starts(with: Data("/*".utf8)) {
                depth += 1
                rest = rest.dropFirst(2)
            } else if rest.starts(with: Data("*/".utf8)) {
                depth -= 1
                rest = rest.dropFirst(2)
            } else {
                rest = rest.dropFirst()
            }
        } while depth > 0 && !rest.isEmpty
    }
}
