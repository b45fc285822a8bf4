/// Whether a text can be the name of a Swift type, as far as its letters tell: what is written into generated code.
///
/// A type is a name with periods, `Foundation.Date`; each part may have generic arguments, `Tagged<User, Int>`, and
/// the whole may be optional. Lists and dictionaries, `[Double]` and `[String: Int]`, are types, too.
enum SwiftTypeSyntax {
    static func isType(_ text: String) -> Bool {
        var rest = Substring(text).unicodeScalars
        return type(&rest, depth: 0) && rest.isEmpty
    }

    /// A name, or names with periods between them: a module in another.
    static func isModule(_ text: String) -> Bool {
        var rest = Substring(text).unicodeScalars
        repeat { if !name(&rest) { return false } } while take(".", &rest)
        return rest.isEmpty
    }

    private typealias Text = Substring.UnicodeScalarView
    private static let maximumDepth = 32

    private static func type(_ rest: inout Text, depth: Int) -> Bool {
        if depth > maximumDepth { return false }
        skipSpaces(&rest)
        if take("[", &rest) {
            guard type(&rest, depth: depth + 1) else { return false }
            if take(":", &rest), !type(&rest, depth: depth + 1) { return false }
            if !take("]", &rest) { return false }
        } else {
            repeat {
                guard name(&rest) else { return false }
                if take("<", &rest) {
                    repeat {
                        if !type(&rest, depth: depth + 1) { return false }
                    } while take(",", &rest)
                    if !take(">", &rest) { return false }
                }
            } while take(".", &rest)
        }
        while take("?", &rest) {}
        skipSpaces(&rest)
        return true
    }

    /// An identifier, or a keyword as one, in backticks.
    private static func name(_ rest: inout Text) -> Bool {
        let isQuoted = take("`", &rest)
        guard let first = rest.first, isHead(first) else { return false }
        rest = rest.dropFirst().drop { isHead($0) || $0.properties.isXIDContinue }
        return !isQuoted || take("`", &rest)
    }

    private static func isHead(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isXIDStart || scalar.properties.isEmojiPresentation
    }

    private static func take(_ scalar: Unicode.Scalar, _ rest: inout Text) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private static func skipSpaces(_ rest: inout Text) {
        while rest.first == " " { rest.removeFirst() }
    }
}
