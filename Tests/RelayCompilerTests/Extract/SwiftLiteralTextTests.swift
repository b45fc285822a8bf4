import Testing

@testable import GraphQLLanguage
@testable import RelayCompiler

/// The values and errors were compared with those of swiftc 6.3.
@Suite struct SwiftLiteralTextTests {
    private func value(_ literal: String) throws -> String {
        let (documents, errors) = SwiftScanner.scan(Source("graphql(\(literal))", name: "A.swift"))
        #expect(errors.map(\.description) == [])
        return String(decoding: try #require(documents.first).bytes, as: UTF8.self)
    }

    private func problems(_ literal: String) -> [String] {
        let (documents, errors) = SwiftScanner.scan(Source("graphql(\(literal))", name: "A.swift"))
        #expect(documents.isEmpty)
        return errors.map { error in
            let place = error.place?.location
            return "\(place?.line ?? 0):\(place?.column ?? 0) \(error.message)"
        }
    }

    @Test func escapeSequencesAreDecoded() throws {
        #expect(try value(#""\0\t\n\r\"\'\\""#) == "\0\t\n\r\"\'\\")
        #expect(try value(#""\u{41}\u{e9}\u{1F600}\u{0000041}""#) == "\u{41}\u{e9}\u{1F600}A")
        #expect(try value(###"#"\n\#n\#u{41}\#\\#""#"###) == "\\n\nA\\\"")
        #expect(try value("\"é😀\t\"") == "é😀\t")
        #expect(try value(#""""#) == "")
    }

    @Test func linesLoseTheIndentationOfTheClosingDelimiter() throws {
        #expect(try value("\"\"\"\n    a\n      b\n\n    c\n    \"\"\"") == "a\n  b\n\nc")
        #expect(try value("\"\"\"\n\t a\n\t \tb\n\t \"\"\"") == "a\n\tb")
        #expect(try value("\"\"\"\na\n  b\n\"\"\"") == "a\n  b")
        #expect(try value("\"\"\"\n  \"\"\"") == "")
        #expect(try value("\"\"\"\n\n  \"\"\"") == "")
        #expect(try value("\"\"\"\n\n\n  \"\"\"") == "\n")
        #expect(try value("\"\"\"\n   \n  \"\"\"") == " ")
        #expect(try value("#\"\"\"\n  a\\n\\#nb \"\"\"\n  \"\"\"#") == "a\\n\nb \"\"\"")
    }

    @Test func linesEndWithLFWhateverTheFileHas() throws {
        #expect(try value("\"\"\"\r\n  a\r\n  b\r\n\r\n  c\r\n  \"\"\"") == "a\nb\n\nc")
        #expect(try value("\"\"\"\r  a\r  b\r  \"\"\"") == "a\nb")
    }

    @Test func aBackslashAtTheEndOfALineJoinsItToTheNext() throws {
        #expect(try value("\"\"\"\n  a \\\n    b \\ \t\n  c\n  \"\"\"") == "a   b c")
        #expect(try value("\"\"\"\r\n  a\\\r\n  b\r\n  \"\"\"") == "ab")
        #expect(try value("#\"\"\"\n  a\\\n  b\\#\n  c\n  \"\"\"#") == "a\\\nbc")
        #expect(try value("\"\"\"\n  a\\\\\n  b\n  \"\"\"") == "a\\\nb")
    }

    @Test func whatSwiftRefusesIsAnError() {
        #expect(
            problems(#""\q \x \u \u{} \u{123456789} \u{D800} \u{110000} \u{4x}""#) == [
                "1:10 Invalid escape sequence in a string literal.",
                "1:13 Invalid escape sequence in a string literal.",
                #"1:16 Expected hexadecimal digits in braces after "\u"."#,
                #"1:19 Expected 1 to 8 hexadecimal digits and then "}" after "\u{"."#,
                #"1:24 Expected 1 to 8 hexadecimal digits and then "}" after "\u{"."#,
                "1:38 Invalid Unicode scalar in a string literal.",
                "1:47 Invalid Unicode scalar in a string literal.",
                #"1:58 Expected 1 to 8 hexadecimal digits and then "}" after "\u{"."#,
            ])
        #expect(problems(#""\ a""#) == ["1:10 Invalid escape sequence in a string literal."])
        #expect(
            problems("\"\"\"a\n\"\"\"") == [
                "1:12 The text of a multi-line string literal must begin on a new line."
            ])
        #expect(
            problems("\"\"\"\"\"\"") == [
                "1:12 The text of a multi-line string literal must begin on a new line."
            ])
        #expect(
            problems("\"\"\"  \n\"\"\"") == [
                "1:12 The text of a multi-line string literal must begin on a new line."
            ])
        #expect(
            problems("\"\"\"\n  a\"\"\"") == [
                "2:4 The closing delimiter of a multi-line string literal must begin on a new line."
            ])
        #expect(
            problems("\"\"\"\n  a\\\n  \"\"\"") == [
                "2:4 The last line of a string literal cannot end with a backslash."
            ])
    }

    @Test func insufficientIndentationIsAnErrorForEachGroupOfLines() {
        let swift = "graphql(\"\"\"\n    a\n  b\n c\n    d\n\te\n  \n    \"\"\")"
        let (documents, errors) = SwiftScanner.scan(Source(swift, name: "A.swift"))
        #expect(documents.isEmpty)
        #expect(
            Diagnostic.text(of: errors) == """
                A.swift:3:3: error: Insufficient indentation of a line in a multi-line string \
                literal: it must begin with the white space that is before the closing delimiter.
                  3 |   b
                    |   ^
                A.swift:8:5: note: This delimiter says how far lines are indented.
                  8 |     \""")
                    |     ^
                A.swift:6:1: error: Unexpected tab in the indentation of a line in a multi-line \
                string literal: the closing delimiter has a space here.
                  6 | \te
                    | ^
                A.swift:8:5: note: This delimiter says how far lines are indented.
                  8 |     \""")
                    |     ^
                """)
    }

    // MARK: Places

    /// Every byte of the value comes from the place that has it.
    @Test func eachCharacterIsAtItsPlaceInTheFile() throws {
        let swift = """
            let a = 1 // é
            private let b = graphql(\"""
                query A {
                  b(c: "\\u{1F600}é\\t")  \\
                    d 😀 e

                }
                \""")
            """
        let (documents, _) = SwiftScanner.scan(Source(swift, name: "A.swift"))
        let document = try #require(documents.first)
        func place(of text: String) throws -> String {
            let bytes = Array(text.utf8)
            let offset = try #require(
                document.bytes.indices.first { document.bytes[$0...].starts(with: bytes) })
            let location = document.location(at: offset)
            return "\(location.line):\(location.column)"
        }
        #expect(try place(of: "query") == "3:5")
        #expect(try place(of: "{") == "3:13")
        #expect(try place(of: "\n") == "3:14")
        #expect(try place(of: "  b(") == "4:5")
        #expect(try place(of: "b(c") == "4:7")
        #expect(try place(of: "😀é") == "4:13")
        #expect(try place(of: "é") == "4:22")
        #expect(try place(of: "\t") == "4:23")
        #expect(try place(of: "\")") == "4:25")
        #expect(try place(of: "  d") == "5:7")
        #expect(try place(of: "e\n\n") == "5:14")
        #expect(try place(of: "}") == "7:5")
        let end = document.location(at: document.bytes.count)
        #expect(end == SourceLocation(line: 8, column: 5))
    }
}
