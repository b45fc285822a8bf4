/// The Swift type in a text, as far as its letters tell: what is written into generated code.
///
/// A type is a name with periods, `Foundation.Date`; each part may have generic arguments, `Tagged<User, Int>`, and
/// the whole may be optional. Lists and dictionaries, `[Double]` and `[String: Int]`, are types, too.
struct SwiftTypeSyntax {
    /// All names in it, with their periods and without generic arguments: `[A.B<C>.D]` has `A.B.D` and `C`. The keys of
    /// dictionaries are left out.
    private(set) var names: [String] = []
    /// Whether the keys of all dictionaries are strings, as those of JSON are.
    private(set) var hasStringKeys = true
    private var rest: Text

    /// Nil if the text is no type.
    init?(_ text: String) {
        rest = Substring(text).unicodeScalars
        guard parseType(depth: 0), rest.isEmpty else { return nil }
    }

    /// A name, or names with periods between them: a module in another.
    static func isModule(_ text: String) -> Bool {
        guard let type = SwiftTypeSyntax(text) else { return false }
        return type.names == [text] && type.isConcrete
    }

    /// Whether its values can be read and compared: not those of `Any`, `Self` or a list of these.
    var isConcrete: Bool { names.first != "Any" && names.first != "Self" }

    private typealias Text = Substring.UnicodeScalarView
    private static let maximumDepth = 32
    /// They begin a type of more words, and a type of this name is quoted.
    private static let unfinished: Set<String> = ["any", "some", "Type", "Protocol"]

    private mutating func parseType(depth: Int) -> Bool {
        if depth > Self.maximumDepth { return false }
        skipSpaces()
        guard take("[") ? parseElements(depth: depth) : parseName(depth: depth) else {
            return false
        }
        while take("?") {}
        skipSpaces()
        return true
    }

    private mutating func parseElements(depth: Int) -> Bool {
        let (start, count) = (rest, names.count)
        guard parseType(depth: depth + 1) else { return false }
        let key = start[..<rest.startIndex].filter { $0 != " " }
        if take(":") {
            names.removeSubrange(count...)
            if !["String", "Swift.String"].contains(String(String.UnicodeScalarView(key))) {
                hasStringKeys = false
            }
            guard parseType(depth: depth + 1) else { return false }
        }
        return take("]")
    }

    private mutating func parseName(depth: Int) -> Bool {
        let place = names.count
        var parts: [String] = []
        repeat {
            guard let part = takeIdentifier() else { return false }
            parts.append(part)
            if take("<") {
                repeat {
                    if !parseType(depth: depth + 1) { return false }
                } while take(",")
                if !take(">") { return false }
            }
        } while take(".")
        names.insert(parts.joined(separator: "."), at: place)
        return true
    }

    /// An identifier, or a keyword as one, in backticks.
    private mutating func takeIdentifier() -> String? {
        let start = rest
        let isQuoted = take("`")
        guard let first = rest.first, Self.isHead(first) else { return nil }
        rest = rest.dropFirst().drop { Self.isHead($0) || $0.properties.isXIDContinue }
        if isQuoted, !take("`") { return nil }
        let name = String(start[..<rest.startIndex])
        return SwiftNames.isReserved(name) || Self.unfinished.contains(name) ? nil : name
    }

    private static func isHead(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isXIDStart || scalar.properties.isEmojiPresentation
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func skipSpaces() {
        while rest.first == " " { rest.removeFirst() }
    }
}
