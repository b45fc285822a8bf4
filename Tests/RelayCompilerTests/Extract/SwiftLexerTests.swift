import Testing

@testable import RelayCompiler

@Suite struct SwiftLexerTests {
    private func regexes(_ swift: String) -> [String] {
        swift.tokens.filter { $0.kind == .regex }.map(\.text)
    }

    private func strings(_ swift: String) -> [String] {
        swift.tokens.filter { $0.kind == .string }.map(\.text)
    }

    // MARK: Regular expressions and division

    @Test(arguments: [
        (#"let r = /a"b/"#, #"/a"b/"#), (#"f(/a/)"#, "/a/"), (#"[/a/, b]"#, "/a/"),
        (#"{ /a/ }"#, "/a/"), (#"f(x, /a/)"#, "/a/"), (#"f(by: /:/)"#, "/:/"),
        (#"split(/,/)"#, "/,/"), (#"a = /\//"#, #"/\//"#), (#"a = /[(]/"#, "/[(]/"),
        (#"a = /(x)/"#, "/(x)/"), (#"a ?? /b/"#, "/b/"), (#"!/b/"#, "/b/"), (#"a + -/b/"#, "/b/"),
        ("a\n/b/.c", "/b/"), (#"return /b/"#, "/b/"), (#"return/b/"#, "/b/"),
        (#"/* */ /b/"#, "/b/"), (#"/**//b/"#, "/b/"), (#"case /b c/:"#, "/b c/"),
        (#"x = /a\ /"#, #"/a\ /"#), (#"/b/"#, "/b/"), (#"try! /b/"#, "/b/"),
        (#"if case/b/ = c"#, "/b/"), (##"#/a/"/#"##, ##"#/a/"/#"##),
        (#"##/a/#"/##"#, #"##/a/#"/##"#),
        ("#/\n \"a\" \n/#", "#/\n \"a\" \n/#"), ("#/ \t\n ( \\/# \n/#", "#/ \t\n ( \\/# \n/#"),
        ("#/a\n", "#/a"), (#"x = /"/ // ""#, #"/"/"#),
    ])
    func anOperandIsARegularExpression(_ swift: String, expected: String) {
        #expect(regexes(swift) == [expected])
    }

    @Test(arguments: [
        "a / b / c", "a/b/c", "(a)/b/c", "a[0]/b/c", "1/2/3", "a() /\n b/c", "a!/b/c", "a?.b/c/d",
        "$0/2/b", "\"a\"/b/c", "{ $0 / 2 }", "f(/, 1) + f(/)", "[+, -, *, /]", "reduce(1, /) / 2",
        "x = / b /", "// /a/", "/* /a/ */", "a //b/", "a /* b */ /c", "x\n/ 1 /\n2",
        "func / (a: A, b: A) -> A { a.x/b.x }", "func /(a: A, b: A) -> A { a.x/b.x }",
        "static func /(a: A) -> A { a/b }", "infix operator /-/", "let in = a.in/b/c", "é/b/c",
        "`return`/b/c", "x = /a\nb/", "x = /a /", "x = /", "a</b/>c",
    ])
    func theRestIsDivision(_ swift: String) {
        #expect(regexes(swift) == [])
    }

    /// A quotation mark in one is not the beginning of a string, and the other way round.
    @Test func stringsAreWhatIsNotInARegularExpression() {
        #expect(strings(#"let a = /"/; let b = "c""#) == [#""c""#])
        #expect(strings(#"let a = b / "c".count / 2"#) == [#""c""#])
        #expect(strings("let a = b/\"c\".count/\"d\"") == [#""c""#, #""d""#])
        #expect(strings(#"f(/a/, "b", /c"/)"#) == [#""b""#])
        #expect(strings("#/\n\"\n/# + \"a\"") == [#""a""#])
        #expect(strings(#""/*" + "*/" + /\/*"/"#) == [#""/*""#, #""*/""#])
    }

    // MARK: Strings

    @Test(arguments: [
        (#""a""#, [#""a""#]), (#""""#, [#""""#]), (#""a\"b""#, [#""a\"b""#]),
        (#""a\\" + "b""#, [#""a\\""#, #""b""#]), (##"#"a"b"#"##, [##"#"a"b"#"##]),
        (##"#"""#"##, [##"#"""#"##]), (##"#""""#"##, [##"#""""#"##]),
        (##"#"a\#"b"#"##, [##"#"a\#"b"#"##]), (##"#"a\"#"##, [##"#"a\"#"##]),
        (###"##"a"#b"##"###, [###"##"a"#b"##"###]),
        ("\"\"\"\na \"\" \\\"\"\" b\n\"\"\"", ["\"\"\"\na \"\" \\\"\"\" b\n\"\"\""]),
        ("#\"\"\"\na\"\"\"b\n\"\"\"#", ["#\"\"\"\na\"\"\"b\n\"\"\"#"]),
        (#""a\("b")c""#, [#""b""#, #""a\("b")c""#]),
        (#""\(f(")"))""#, [#"")""#, #""\(f(")"))""#]),
        (#""\("\("a")")""#, [#""a""#, #""\("a")""#, #""\("\("a")")""#]),
        (#""\(a /* " ) */)""#, [#""\(a /* " ) */)""#]),
        ("\"\"\"\n\\(a // )\"\n)\n\"\"\"", ["\"\"\"\n\\(a // )\"\n)\n\"\"\""]),
        (
            "\"\\(\"\"\"\n\\(\na)\n\"\"\")\"",
            ["\"\"\"\n\\(\na)\n\"\"\"", "\"\\(\"\"\"\n\\(\na)\n\"\"\")\""]
        ),
        ("\"a\nb", [#""a"#]), ("\"\\(a\nb\"c\"", [#""\(a"#, #""c""#]),
        (#""\(a(b"#, [#""\(a(b"#]), (#""a\"#, [#""a\"#]), ("\"\"\"\na", ["\"\"\"\na"]),
    ])
    func aStringEndsAtADelimiterLikeItsFirst(_ swift: String, expected: [String]) {
        #expect(strings(swift) == expected)
    }

    /// A stack of the machine's would not be deep enough.
    @Test func nestingHasNoLimit() {
        let depth = 100_000
        let swift =
            String(repeating: #""\("#, count: depth) + String(repeating: #")""#, count: depth)
        #expect(strings(swift).count == depth)
        #expect(strings(String(repeating: #""\("#, count: depth)).count == depth)
        let comments = String(repeating: "/*", count: depth)
        #expect(comments.tokens.map(\.kind) == [.unterminatedComment])
    }

    /// Each looks for its end; that must not take a file's length each time.
    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            "#/\n", "##/ \n", "/(", "#\"\"\" ", "\"\\(", " /a\\", "#", "\"\"\"", "\\(", "/*", "*/",
            "\"",
            "a /[", "#\"", "graphql(", "return/",
        ])
    func whatHasNoEndIsReadInTimeProportionalToTheFile(_ piece: String) {
        let swift = String(repeating: piece, count: 200_000)
        #expect(swift.tokens.count <= 2 * swift.utf8.count)
    }
}

extension String {
    /// All tokens but that of the end.
    fileprivate var tokens: [(kind: SwiftToken.Kind, text: String)] {
        let bytes = Array(utf8)
        return bytes.withUnsafeBufferPointer { buffer in
            var lexer = SwiftLexer(buffer)
            var tokens: [(SwiftToken.Kind, String)] = []
            while true {
                let token = lexer.next()
                if token.kind == .endOfFile { return tokens }
                // Text of very long tokens would make the tests quadratic, not the lexer.
                let text = bytes[token.start..<min(token.end, token.start + 200)]
                tokens.append((token.kind, String(decoding: text, as: UTF8.self)))
            }
        }
    }
}
