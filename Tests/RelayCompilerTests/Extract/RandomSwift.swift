import BoundedTesting

/// Random text that a lexer of Swift can read, with documents in it that are known.
///
/// All else that looks like a document has the text `no`. The name of a document occurs nowhere else in the file, so
/// that its place can be found by a search.
struct RandomSwift {
    struct Document {
        let name: String
        let value: String
    }

    /// In the order of the file.
    private(set) var documents: [Document] = []
    private(set) var text = ""
    private var random: SeededGenerator

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        var lines: [String] = []
        for _ in 0...random.below(12) { lines.append(line(depth: 3)) }
        let lineEnd = random.pick(["\n", "\n", "\r\n", "\r"])
        text = lines.joined(separator: "\n").split(
            separator: "\n", omittingEmptySubsequences: false
        )
        .joined(separator: lineEnd)
    }

    // MARK: Code

    /// Code after which a new statement begins in the next line.
    private mutating func line(depth: Int) -> String {
        if depth == 0 { return "let a = 1" }
        switch random.below(14) {
        case 0: return "// \(noise()) \" /* graphql(\"no\") \"\"\" \\("
        case 1: return "/* \(noise()) /* \" graphql(\"no\")\n \"\"\" */ // */"
        case 2:
            let first = line(depth: depth - 1)
            return "#if os(Linux)\n\(first)\n#else\n\(line(depth: depth - 1))\n#endif"
        case 3:
            return "func /(a: A, b: A) -> A {\n\(line(depth: depth - 1))\nreturn a.x/b.y\n}"
        case 4: return "let m = \(lines(depth: depth))"
        case 5: return "let r = #/\n \" graphql(\"no\") ( \\/# \n/#"
        case 6: return "graphql\n(\"no\")"
        case 7: return "/\(pattern())/.firstMatch(in: \(operand(depth: depth - 1)))"
        case 8, 9: return "private let q = graphql(\(multilineDocument()))"
        case 10: return "f(x: \(operand(depth: depth - 1)))"
        case 11: return "return \(operand(depth: depth - 1))"
        case 12: return "a += [\(operand(depth: depth - 1))] // \""
        default: return "let a = \(operand(depth: depth - 1))"
        }
    }

    /// An operand in one line, so that it may be in an interpolation.
    private mutating func operand(depth: Int) -> String {
        if depth == 0 { return random.pick(["a", "1", "a.b", "f(x)", "a/b", "[c]", "\"\"", "$0"]) }
        switch random.below(16) {
        case 0:
            let left = operand(depth: depth - 1)
            return "(\(left) / \(operand(depth: depth - 1)))"
        case 1:
            let left = operand(depth: depth - 1)
            return "(\(left))/2/(\(operand(depth: depth - 1)))"
        case 2: return "f(/\(pattern())/, \(operand(depth: depth - 1)))"
        case 3: return "#/ \" graphql(\"no\") )/#"
        case 4: return "(/* \" */ \(operand(depth: depth - 1)) /* ) /* \" */ */)"
        case 5: return "\"\(noise())\\\" graphql(\\\"no\\\") // /* \\\\\""
        case 6: return "##\"\(noise())\"# \\(graphql(\"no\")) \\#(\"##"
        case 7, 8:
            let first = "\"\(noise()) \\(\(operand(depth: depth - 1)))"
            return "\(first) \\(a, \(operand(depth: depth - 1)))\""
        case 9: return "#\" \\( \\#(\(operand(depth: depth - 1))) \"#"
        case 10:
            return random.pick([
                "a.graphql(\"no\")", "graphql2(\"no\")", "`graphql`(\"no\")", "égraphql(\"no\")",
                "graphql(text: \"no\")", "graphql(a)", "A.Relay.graphql(\"no\")", "`a \" b`",
                "f(graphql: (\"no\"))", "graphql[\"no\"]", "#graphql(\"no\")",
            ])
        case 11:
            let argument = operand(depth: depth - 1)
            return "f(\(argument)) { $0 / \(operand(depth: depth - 1)) }"
        default: return call()
        }
    }

    /// A literal of several lines that is no document, with an interpolation.
    private mutating func lines(depth: Int) -> String {
        let indentation = random.pick(["", "    ", "\t"])
        let first =
            "\"\"\"\n\(indentation)\(noise()) \"\" \\\"\"\" graphql(\"no\")\n\(indentation)\\("
        let rest = random.pick(["", "\n", " // )\"\n"]) + ") \\\n\(indentation)// /*\n"
        return "\(first)\(operand(depth: depth - 1))\(rest)\(indentation)\"\"\""
    }

    private mutating func pattern() -> String {
        random.pick(["\"", "a\\/\"b", "[(\"]x", "(a \")b", "\\)\\(", "graphql", "'\\ ", ":", ","])
    }

    private mutating func noise() -> String {
        random.pick(["", "a", "é", "😀", "it's", "#", "##", "/", "graphql(", "*", "x)y(", "`"])
    }

    // MARK: Documents

    private mutating func document() -> Document {
        let name = "Q\(documents.count)q"
        var lines = ["query \(name) {"]
        for _ in 0...random.below(4) {
            lines.append(
                random.pick([
                    "  a", "  b(c: \"d\")", "", "\te # é", "  f(g: \"\\\\\") 😀", "  \"\"\"x\"\"\"",
                ]))
        }
        let document = Document(name: name, value: (lines + ["}"]).joined(separator: "\n"))
        documents.append(document)
        return document
    }

    private mutating func call() -> String {
        let name = random.pick(["", "", "Relay.", "Relay /**/ .", "Relay::"]) + "graphql"
        let open = random.pick(["", " ", "/* \" */"]) + "(" + random.pick(["", " ", "/* ) */"])
        let pounds = String(repeating: "#", count: random.below(3))
        let literal = inOneLine(document().value, pounds)
        return
            "\(name)\(open)\(pounds)\"\(literal)\"\(pounds)\(random.pick(["", " ", ",", "/**/"])))"
    }

    /// What must be escaped is, and some other characters, but none of the name.
    private mutating func inOneLine(_ value: String, _ pounds: String) -> String {
        var literal = ""
        for (index, scalar) in value.unicodeScalars.enumerated() {
            switch scalar {
            case "\n": literal += "\\\(pounds)n"
            case "\"", "\\": literal += "\\\(pounds)\(scalar)"
            case _ where index > 12 && random.below(8) == 0:
                literal += "\\\(pounds)u{\(String(scalar.value, radix: 16))}"
            default: literal += String(scalar)
            }
        }
        return literal
    }

    private mutating func multilineDocument() -> String {
        let pounds = String(repeating: "#", count: random.below(2))
        let indentation = random.pick(["", "    ", "\t "])
        var literal = "\(pounds)\"\"\"\n\(indentation)"
        for (index, scalar) in document().value.unicodeScalars.enumerated() {
            // A line that is joined to the next.
            if index > 12, random.below(12) == 0 { literal += "\\\(pounds) \n\(indentation)" }
            switch scalar {
            case "\n": literal += "\n\(indentation)"
            case "\"" where random.below(2) == 0: literal += "\\\(pounds)\""
            case "\"", "\\": literal += pounds.isEmpty ? "\\\(scalar)" : String(scalar)
            default: literal += String(scalar)
            }
        }
        return "\(literal)\n\(indentation)\"\"\"\(pounds)"
    }
}
