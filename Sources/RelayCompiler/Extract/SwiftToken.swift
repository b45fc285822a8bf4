/// A token of Swift, as far as string literals can be found by it.
struct SwiftToken: Equatable {
    enum Kind: Equatable {
        /// A name or a keyword; also one with a dollar sign, and one in backticks.
        case identifier
        case number
        /// A string literal that has ended; the lexer has it as ``SwiftLexer/literal``.
        case string
        /// `\(` in a string literal, which has not ended. The tokens of the expression follow, then the rest of the
        /// literal as a token of its own.
        case interpolation
        case regex
        case `operator`
        /// `::`, between a module and a name in it.
        case moduleSelector
        case punctuation(UInt8)
        /// `/*` without its end: all of the rest of the file.
        case unterminatedComment
        case endOfFile
    }

    let kind: Kind
    let start: Int
    let end: Int
    /// Whether a line ends between the token before it and this one.
    let startsLine: Bool
}

/// A string literal, by the bytes of its file.
struct SwiftStringLiteral: Equatable {
    /// The number of `#` before and after it.
    let poundCount: Int
    /// Whether its delimiters are `"""`.
    let isMultiline: Bool
    /// Where its delimiter begins.
    let start: Int
    /// Between the delimiters.
    let contentStart: Int
    var contentEnd: Int
    /// After the delimiter, or where it was given up.
    var end: Int
    var isTerminated = false
    var hasInterpolation = false
}
