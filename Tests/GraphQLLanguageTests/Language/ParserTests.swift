import Testing

@testable import GraphQLLanguage

private func error(_ text: String, _ limits: ParseLimits = ParseLimits()) -> String? {
    do {
        _ = try Document(parsing: text, limits: limits)
        return nil
    } catch {
        return "\(error)"
    }
}

@Suite struct ParserTests {
    @Test(arguments: [
        ("", "Unexpected <EOF>. (1:1)"),
        ("{", "Expected Name, found <EOF>. (1:2)"),
        ("{}", "Expected Name, found \"}\". (1:2)"),
        (
            "\n  { ...MissingOn }\n  fragment MissingOn Type",
            "Expected \"on\", found Name \"Type\". (3:22)"
        ),
        ("{ field: {} }", "Expected Name, found \"{\". (1:10)"),
        ("notAnOperation Foo { field }", "Unexpected Name \"notAnOperation\". (1:1)"),
        ("...", "Unexpected \"...\". (1:1)"),
        ("{ \"\"", "Expected Name, found String \"\". (1:3)"),
        ("{ \"\"\"text\"\"\" }", "Expected Name, found BlockString \"text\". (1:3)"),
        ("{ f(a: 1.5 2) }", "Expected Name, found Int \"2\". (1:12)"),
        ("query", "Expected \"{\", found <EOF>. (1:6)"),
        ("query ($x: Int = $y) { f }", "Unexpected variable \"$y\" in constant value. (1:18)"),
        ("query ($x: Int = $) { f }", "Unexpected \"$\". (1:18)"),
        (
            "query ($x: Complex = { a: { b: [ $var ] } }) { field }",
            "Unexpected variable \"$var\" in constant value. (1:34)"
        ),
        ("query () { f }", "Expected \"$\", found \")\". (1:8)"),
        ("{ f() }", "Expected Name, found \")\". (1:5)"),
        ("{ f(a: ) }", "Unexpected \")\". (1:8)"),
        ("{ f(a: [1, }", "Unexpected \"}\". (1:12)"),
        ("fragment on on on { on }", "Unexpected Name \"on\". (1:10)"),
        ("{ ...on }", "Expected Name, found \"}\". (1:9)"),
        ("{ f } }", "Unexpected \"}\". (1:7)"),
        (
            "\"doc\" { f }",
            "Unexpected description, descriptions are not supported on shorthand queries. (1:1)"
        ),
        (
            "\"doc\" extend type A { b: C }",
            "Unexpected description, only GraphQL definitions support descriptions. (1:1)"
        ),
        ("\"doc\" 5", "Unexpected Int \"5\". (1:7)"),
        ("fragment F($x: Int) on T { f }", "Expected \"on\", found \"(\". (1:11)"),
    ]) func syntaxErrorsSayWhatWasExpectedAndFound(_ text: String, _ message: String) {
        #expect(error(text) == "Syntax Error: " + message)
    }

    @Test func keywordsAreNamesEverywhereElse() throws {
        for keyword in ["on", "fragment", "query", "type", "true", "false", "null", "extend"] {
            let fragment = keyword == "on" ? "a" : keyword
            let document = try Document(
                parsing: """
                    query \(keyword) { \(keyword): \(keyword)(\(keyword): $\(keyword)) @\(keyword)
                    ...\(fragment) ... on \(keyword) { f } }
                    fragment \(fragment) on \(keyword) { \(keyword) }
                    """)
            #expect(document.definitions.count == 2)
            #expect(document.operations[0].name?.value == keyword)
        }
    }

    @Test func nodesKnowWhereTheyStart() throws {
        let text =
            "query Q($v: [Int!]! = 3 @d) {\n  alias: field(arg: $v) @skip(if: true) {\n"
            + "    ...F\n    ... on T { g }\n  }\n}"
        let document = try Document(parsing: text)
        func place(_ offset: Int) -> String {
            let location = document.source.location(at: offset)
            return "\(location.line):\(location.column)"
        }
        let operation = document.operations[0]
        #expect(place(operation.location) == "1:1")
        #expect(place(operation.variables[0].location) == "1:9")
        #expect(place(operation.variables[0].name.location) == "1:10")
        #expect(place(operation.variables[0].type.location) == "1:13")
        #expect(place(operation.variables[0].defaultValue?.location ?? 0) == "1:23")
        #expect(operation.variables[0].type.description == "[Int!]!")
        guard case .field(let field) = operation.selectionSet.selections[0],
            let inner = field.selectionSet?.selections,
            case .fragmentSpread(let spread) = inner[0], case .inlineFragment(let inline) = inner[1]
        else {
            Issue.record("wrong shape")
            return
        }
        #expect(field.responseName == "alias")
        #expect(place(field.location) == "2:3")
        #expect(place(field.arguments[0].location) == "2:16")
        #expect(place(field.arguments[0].value.location) == "2:21")
        #expect(place(field.directives[0].location) == "2:25")
        #expect(place(spread.location) == "3:5")
        #expect(place(spread.name.location) == "3:8")
        #expect(place(inline.location) == "4:5")
        #expect(place(inline.typeCondition?.location ?? 0) == "4:12")
    }

    @Test func executableDefinitionsAndVariablesMayBeDescribed() throws {
        let document = try Document(
            parsing: "\"op\" query Q(\"var\" $v: Int) { f } \"\"\"frag\"\"\" fragment F on T { f }")
        #expect(document.operations[0].description?.value == "op")
        #expect(document.operations[0].variables[0].description?.value == "var")
        #expect(document.fragments[0].description?.isBlock == true)
        #expect(document.operations[0].location == 0)
    }

    // MARK: Limits

    @Test func tokensBeyondTheLimitAreRefused() {
        let limits = { ParseLimits(maximumTokens: $0) }
        #expect(error("{ foo }", limits(3)) == nil)
        #expect(
            error("{ foo }", limits(2))
                == "Syntax Error: Document contains more than 2 tokens. Parsing aborted. (1:7)")
    }

    @Test func depthBeyondTheLimitIsRefusedWithoutUsingUpTheStack() {
        let limits = ParseLimits(maximumDepth: 3)
        #expect(error("{ a { b { c } } }", limits) == nil)
        let message = "Syntax Error: Document nests deeper than 3 levels. Parsing aborted."
        #expect(error("{ a { b { c { d } } } }", limits) == message + " (1:13)")
        #expect(error("{ a(b: [[[1]]]) }", limits) == message + " (1:10)")
        #expect(error("{ a(b: {c: {d: {}}}) }", limits) == message + " (1:16)")
        #expect(error("query ($a: [[[[Int]]]]) { a }", limits) == message + " (1:16)")
        for hostile in ["{a", "{a(b:[", "[", "{a(b:{c:"] {
            let text =
                (hostile == "[" ? "query($a:" : "{ x(y:[")
                + String(repeating: hostile, count: 100_000)
            #expect(error(text) != nil)
        }
    }

    @Test func limitErrorsCarryTheirCode() {
        #expect(throws: DocumentError.self) {
            try Document(parsing: "{a}", limits: .init(maximumTokens: 1))
        }
        do {
            _ = try Document(parsing: "{a}", limits: ParseLimits(maximumTokens: 1))
        } catch {
            #expect(error.code == "LIMIT_EXCEEDED")
        }
    }
}
