import GraphQLLanguage

/// Finds the GraphQL documents in a Swift file: the string literals in calls `graphql("""…""")`.
///
/// What counts as such a call:
///
/// - The name is `graphql` or `Relay.graphql` (also `Relay::graphql`). A method `view.graphql("…")`, a macro
///   `#graphql("…")`, an attribute, and `` `graphql`("…") `` are something else.
/// - White space and comments may be between the name, the parenthesis and the literal. As for every call in Swift, the
///   parenthesis is in the line in which the name ends: in a new line it would begin another statement.
/// - The argument is one string literal of any kind. `graphql(text)` is left alone; but when there is a literal that is
///   not the whole argument (`graphql("…" + fields)`), that is an error, and so is an interpolation in it.
/// - The code may be anywhere: in any branch of an `#if`, in an interpolation of another string. In a comment, a string
///   or a regular expression it is not code.
struct SwiftScanner {
    /// How much of a call has been read.
    private enum Call {
        case none
        case name
        case parenthesis
        case literal(SwiftStringLiteral)
        case comma(SwiftStringLiteral)
    }

    /// What is before the next name.
    private enum Qualifier {
        case none
        /// `Relay`, which is not part of a longer path.
        case relay
        /// `Relay.`
        case memberOfRelay
        /// A period after something else.
        case other
        /// `#` or `@`: a name directly after it is one of a macro or an attribute.
        case sign
    }

    private let file: Source
    private let bytes: UnsafeBufferPointer<UInt8>
    private var lexer: SwiftLexer
    private var call = Call.none
    private var qualifier = Qualifier.none
    private var documents: [Source] = []
    private var errors: [Diagnostic] = []

    private init(_ file: Source, _ bytes: UnsafeBufferPointer<UInt8>) {
        self.file = file
        self.bytes = bytes
        lexer = SwiftLexer(bytes)
    }

    /// The documents of a file, in its order, and everything that is wrong with the literals that they are in.
    static func scan(_ file: Source) -> (documents: [Source], errors: [Diagnostic]) {
        file.bytes.withUnsafeBufferPointer { bytes in
            guard bytes.mentionsGraphQL else { return ([], []) }
            var scanner = SwiftScanner(file, bytes)
            scanner.scan()
            return (scanner.documents, scanner.errors)
        }
    }

    private mutating func scan() {
        var token = lexer.next()
        while true {
            follow(token)
            if token.kind == .endOfFile { return }
            token = lexer.next()
        }
    }

    private mutating func follow(_ token: SwiftToken) {
        if token.kind == .unterminatedComment {
            report("Unterminated comment: documents in it are not found.", at: token.start)
        }
        if token.kind == .string, !lexer.literal.isTerminated { followUnterminated(lexer.literal) }
        followCall(token)
        if token.kind == .identifier, lexer.isText("graphql", of: token), isOurs(token) {
            call = .name
        }
        followQualifier(token)
    }

    private func isOurs(_ name: SwiftToken) -> Bool {
        switch qualifier {
        case .none, .relay, .memberOfRelay: true
        case .other: false
        case .sign: lexer.beforePrevious.end < name.start
        }
    }

    private mutating func followCall(_ token: SwiftToken) {
        switch (call, token.kind) {
        case (.none, _): break
        case (.name, .punctuation(UInt8(ascii: "("))) where !token.startsLine:
            call = .parenthesis
        case (.parenthesis, .string):
            call = .literal(lexer.literal)
        case (.parenthesis, .interpolation):
            call = .none
            report(
                "A GraphQL document cannot contain an interpolation: it is read before the program "
                    + "runs. Use a variable of the operation.", at: token.start)
        case (.literal(let literal), .punctuation(UInt8(ascii: ","))):
            call = .comma(literal)
        case (.literal(let literal), .punctuation(UInt8(ascii: ")"))),
            (.comma(let literal), .punctuation(UInt8(ascii: ")"))):
            call = .none
            add(literal)
        case (.literal, _), (.comma, _):
            call = .none
            report(
                #"Expected ")" after the GraphQL document: "graphql" takes one string literal, "#
                    + "and nothing else.", at: token.start)
        default:
            call = .none
        }
    }

    private mutating func followQualifier(_ token: SwiftToken) {
        switch token.kind {
        case .identifier where qualifier == .none && lexer.isText("Relay", of: token):
            qualifier = .relay
        case .punctuation(UInt8(ascii: ".")), .moduleSelector:
            qualifier = qualifier == .relay ? .memberOfRelay : .other
        case .punctuation(UInt8(ascii: "#")), .punctuation(UInt8(ascii: "@")):
            qualifier = .sign
        default:
            qualifier = .none
        }
    }

    /// One of a single line concerns nobody here if it is no document; one of several lines hides the rest of the file.
    private mutating func followUnterminated(_ literal: SwiftStringLiteral) {
        if case .parenthesis = call {
            call = .none
            report("Unterminated string literal.", at: literal.start)
        } else if literal.isMultiline {
            report(
                "Unterminated string literal: documents after it are not found.", at: literal.start)
        }
    }

    private mutating func add(_ literal: SwiftStringLiteral) {
        let text = SwiftLiteralText(literal, in: bytes)
        guard text.problems.isEmpty else {
            for problem in text.problems {
                let notes = problem.note.map {
                    [Diagnostic.Note($0.message, at: file.place(of: file.base + $0.offset))]
                }
                report(problem.message, at: problem.offset, notes: notes ?? [])
            }
            return
        }
        let origin = SourceOrigin(file: file, runs: text.runs)
        documents.append(Source(utf8: text.bytes, from: origin))
    }

    private mutating func report(
        _ message: String, at offset: Int, notes: [Diagnostic.Note] = []
    ) {
        errors.append(
            Diagnostic(message, at: file.place(of: file.base + offset), notes: notes))
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether `graphql` is anywhere in a file. Most files of a program do not have it, and need not be split into
    /// tokens; every seventh byte is enough to know (R. N. Horspool, Practical Fast Searching in Strings, 1980).
    fileprivate var mentionsGraphQL: Bool {
        let name = StaticString("graphql")
        let count = name.utf8CodeUnitCount
        var last = count - 1
        while last < self.count {
            let shift: Int
            switch self[last] {
            case UInt8(ascii: "l"):
                if (0..<count).allSatisfy({ self[last - count + 1 + $0] == name.utf8Start[$0] }) {
                    return true
                }
                shift = count
            case UInt8(ascii: "q"): shift = 1
            case UInt8(ascii: "h"): shift = 2
            case UInt8(ascii: "p"): shift = 3
            case UInt8(ascii: "a"): shift = 4
            case UInt8(ascii: "r"): shift = 5
            case UInt8(ascii: "g"): shift = 6
            default: shift = count
            }
            last += shift
        }
        return false
    }
}
