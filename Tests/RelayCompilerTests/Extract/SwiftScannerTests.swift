import Testing

@testable import GraphQLLanguage
@testable import RelayCompiler

@Suite struct SwiftScannerTests {
    private func texts(_ swift: String) -> [String] {
        let (documents, errors) = SwiftScanner.scan(Source(swift, name: "A.swift"))
        #expect(errors.map(\.description) == [])
        return documents.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    private func errors(_ swift: String) -> [String] {
        let (documents, errors) = SwiftScanner.scan(Source(swift, name: "A.swift"))
        #expect(documents.isEmpty)
        return errors.map(\.description)
    }

    // MARK: Calls

    @Test(arguments: [
        #"graphql("{ a }")"#, ##"graphql(#"{ a }"#)"##, "graphql(\"\"\"\n{ a }\n\"\"\")",
        "graphql(#\"\"\"\n{ a }\n\"\"\"#)", #"let q = graphql("{ a }")"#,
        #"private let query=graphql("{ a }");"#, #"f(graphql("{ a }"))"#, #"[graphql("{ a }")]"#,
        #"Relay.graphql("{ a }")"#, #"Relay::graphql("{ a }")"#, "Relay\n    .graphql(\"{ a }\")",
        #"(Relay.graphql)("{ b }"); graphql("{ a }")"#, #"graphql ("{ a }")"#,
        #"graphql("{ a }",)"#, "graphql(\n    \"{ a }\"\n)", #"graphql/* ( */(/* " */"{ a }")"#,
        "graphql( // \"\n\"{ a }\" // )\n)", #"≠graphql("{ a }")"#, #"a?graphql("{ a }"):b"#,
        #"x.y = graphql("{ a }")"#, #"self.graphql.x; graphql("{ a }")"#,
        #"graphql.graphql("{ b }"); graphql("{ a }")"#, #"...graphql("{ a }")"#,
        "#if A\n#elseif B\ngraphql(\"{ a }\")\n#endif", #"_ = "\(graphql("{ a }"))""#,
        "_ = \"\"\"\n\"\\(graphql(\"{ a }\"))\"\n\"\"\"", ##"_ = #"\#(graphql("{ a }"))\("#"##,
        #"graphql(graphql("{ a }"))"#, "#!/usr/bin/swift graphql(\"{ b }\")\ngraphql(\"{ a }\")",
        "\u{FEFF}graphql\u{A0}(\"{ a }\")", "graphql(\"{ a }\")\0",
    ])
    func theLiteralOfACallIsADocument(_ swift: String) {
        #expect(texts(swift) == ["{ a }"])
    }

    @Test(arguments: [
        #"mygraphql("{ a }")"#, #"graphql2("{ a }")"#, #"$graphql("{ a }")"#,
        #"graphqlé("{ a }")"#, #"égraphql("{ a }")"#, #"GraphQL("{ a }")"#,
        #"view.graphql("{ a }")"#, #"view?.graphql("{ a }")"#, #".graphql("{ a }")"#,
        #"Other::graphql("{ a }")"#, #"My.Relay.graphql("{ a }")"#,
        #"`graphql`("{ a }")"#, #"#graphql("{ a }")"#, #"@graphql("{ a }") var x"#,
        #"graphql"#, #"graphql("#, #"graphql()"#, #"graphql(text)"#, #"graphql(query: "{ a }")"#,
        #"graphql["{ a }"]"#, #"graphql { "{ a }" }"#, #"graphql, ("{ a }")"#,
        "graphql\n(\"{ a }\")", "graphql /*\n*/ (\"{ a }\")",
        #"func graphql(_ text: StaticString) {}"#, #"f(graphql: ("{ a }"))"#,
        #"// graphql("{ a }")"#, #"/* graphql("{ a }") */"#,
        #"/* /* */ graphql("{ a }") */"#, "/// graphql(\"{ a }\")\n//*\n",
        #""graphql(\"{ a }\")""#, ##"#"graphql("{ a }")"#"##, ##"#"\(graphql("{ a }"))"#"##,
        "\"\"\"\ngraphql(\"{ a }\")\n\"\"\"", "#\"\"\"\n\"\"\" graphql(\"{ a }\")\n\"\"\"#",
        #"try /graphql("{ a }")/"#, "#/ graphql(\"{ a }\") /#", "#/\ngraphql(\"{ a }\")\n/#",
        #"`a "b` + "graphql(" + "{ a }""#,
    ])
    func othersAreNone(_ swift: String) {
        #expect(texts(swift) == [])
        // It has not lost its place either.
        #expect(texts(swift + "\n; graphql(\"{ z }\")") == ["{ z }"])
    }

    @Test func allDocumentsOfAFileAreFoundInItsOrder() {
        let swift = #"""
            import Relay
            private let a = graphql("""
                query AQuery { a }
                """) // "
            #if canImport(SwiftUI)
                let b = graphql("{ b }")
            #else
                let b = "\(graphql("{ c }")) \(1 / 2)"
            #endif
            """#
        #expect(texts(swift) == ["query AQuery { a }", "{ b }", "{ c }"])
    }

    // MARK: Errors

    @Test func anInterpolationIsAnError() {
        #expect(
            errors(#"graphql("{ \(field) }"); graphql(""#) == [
                """
                A.swift:1:12: error: A GraphQL document cannot contain an interpolation: it is read \
                before the program runs. Use a variable of the operation.
                  1 | graphql("{ \\(field) }"); graphql("
                    |            ^
                """,
                """
                A.swift:1:34: error: Unterminated string literal.
                  1 | graphql("{ \\(field) }"); graphql("
                    |                                  ^
                """,
            ])
        #expect(texts(##"graphql(#"{ \(a) }"#)"##) == [#"{ \(a) }"#])
        // A document in the interpolation is one all the same.
        let nested = SwiftScanner.scan(Source(#"graphql("a \(graphql("{ b }")) c")"#))
        #expect(nested.documents.map(\.bytes) == [Array("{ b }".utf8)])
        #expect(nested.errors.count == 1)
    }

    @Test(arguments: [
        (#"graphql("{ a }" + b)"#, 17), (#"graphql("{ a }".trimmed)"#, 16),
        (#"graphql("{ a }", x)"#, 18), (#"graphql("{ a }"; 1)"#, 16), (#"graphql("{ a }""#, 16),
        (#"graphql("{ a }" "{ b }")"#, 17), (#"graphql("{ a }",,)"#, 17),
    ])
    func aLiteralIsTheWholeArgument(_ swift: String, column: Int) {
        let message = #"""
            Expected ")" after the GraphQL document: "graphql" takes one string literal, and nothing \#
            else.
            """#
        let found = SwiftScanner.scan(Source(swift, name: "A.swift"))
        #expect(found.documents.isEmpty)
        #expect(found.errors.map(\.message) == [message])
        #expect(found.errors.first?.place?.location == SourceLocation(line: 1, column: column))
    }

    @Test func whatHidesTheRestOfTheFileIsAnError() {
        #expect(
            errors("a /* graphql(\"{ a }\") /* */").map { $0.prefix { $0 != "\n" } } == [
                "A.swift:1:3: error: Unterminated comment: documents in it are not found."
            ])
        #expect(
            errors("a\n = \"\"\"\n graphql(\"{ a }\")").map { $0.prefix { $0 != "\n" } } == [
                "A.swift:2:4: error: Unterminated string literal: documents after it are not found."
            ])
        #expect(
            errors("graphql(\"\"\"\n query").map { $0.prefix { $0 != "\n" } } == [
                "A.swift:1:9: error: Unterminated string literal."
            ])
    }

    /// Swift will complain about it; the documents in other lines are found.
    @Test(arguments: [
        #"let a = "b"#, #"let a = "\(b"#, #"let a = "\("#, #"let a = "\(f("b)"#, #"let a = #"b""#,
        #"let a = "\(" "#, #"let a = "\( // ""#, "`a", "#/abc", "a)", "'",
        "#/\n \"abc", #"graphql("x"#, "\\", "\u{7F}", "#",
    ])
    func aLineThatIsNotSwiftCostsItselfOnly(_ line: String) {
        let found = SwiftScanner.scan(Source(line + "\ngraphql(\"{ a }\")\n", name: "A.swift"))
        #expect(found.documents.map(\.bytes) == [Array("{ a }".utf8)])
    }

    @Test func aPoundIsOfTheNameThatFollowsItDirectly() {
        #expect(texts("# graphql(\"{ a }\")") == ["{ a }"])
        #expect(texts("#graphql(\"{ a }\")") == [])
    }

    @Test func aFileWithoutTheNameIsNotSplitIntoTokens() {
        #expect(errors("graphq1 /*") == [])
        for padding in 0..<20 {
            let before = String(repeating: "l", count: padding)
            #expect(texts(before + " graphql(\"{ a }\")") == ["{ a }"])
            #expect(errors(before + "graphqgraphqgraph /*") == [])
        }
    }
}
