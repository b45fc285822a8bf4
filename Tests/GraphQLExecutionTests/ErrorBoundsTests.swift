import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

/// What a client sends is quoted in errors, and may make any number of them.
@Suite struct ErrorBoundsTests {
    private let long = String(repeating: "ä", count: 2_000_000)

    @Test func messagesQuoteOnlyTheBeginningOfAValue() throws {
        let service = try TestService.withBooks()
        let fields = (0..<100).map { "a\($0): books(after: $c) { pageInfo { hasNextPage } }" }
        let answer = try service.answer(
            "query ($c: String!) { author(name: \"Ada\") { \(fields.joined(separator: " ")) } }",
            ["c": .string(long)])
        #expect(answer.utf8.count < 100_000)
        #expect(answer.contains(": \\\"" + String(repeating: "ä", count: 128) + "…\\\"."))
    }

    @Test func anyValueIsDescribedInAFewHundredBytes() {
        let values: [JSONValue] = [
            .array(Array(repeating: "text", count: 100_000)),
            .object(["a": .string(String(repeating: "x", count: 100_000))]),
            .object(JSONObject((0..<100_000).map { ("key\($0)", .null) })),
            .string(String(repeating: "\u{1}", count: 100_000)),
        ]
        for (index, value) in values.enumerated() {
            let text = value.described
            #expect(text.utf8.count < 300, "\(index)")
            #expect(text.hasSuffix("…"), "\(index)")
        }
    }

    @Test func shortValuesAreQuotedWhole() {
        let value: JSONValue = ["a": [1, 2.5, nil, true, "x\"y"], "b": [:]]
        #expect(value.described == value.text)
        #expect(JSONValue.double(.infinity).described == "Infinity")
    }

    @Test func aResultTellsOfAThousandErrors() throws {
        var service = try TestService.withBooks()
        service.write("Book", "broken", [:])
        func nullable(_ count: Int) throws -> JSONValue {
            let fields = (0..<count).map { "f\($0): book(id: \"broken\") { title }" }
            return try JSONValue(parsing: service.answer("{ \(fields.joined(separator: " ")) }"))
        }
        let all = try nullable(1_000)
        #expect(all["errors"]?.array?.count == 1_000)
        #expect(all["errors"]?.array?.last?["path"] == ["f999", "title"])
        let more = try nullable(3_000)
        #expect(more["data"]?.object?.members.count == 3_000)
        #expect(more["data"]?["f2999"] == .null)
        #expect(more["errors"]?.array?.count == 1_001)
        #expect(
            more["errors"]?.array?.last == [
                "message": "There are more than 1000 errors; the others are left out.",
                "extensions": ["code": "LIMIT_EXCEEDED"],
            ])
    }
}

/// A filter passes over elements without writing a byte.
@Suite struct VisitLimitTests {
    private func answer(_ query: String, visits: Int) throws -> JSONValue {
        let service = try TestService.withBooks()
        let operation = try PreparedOperation(
            Document(parsing: query), operationName: nil, schema: service.schema,
            visitLimit: visits)
        var execution = Execution(
            operation.plan(for: .none), variables: .none, on: service.draft.snapshot,
            schema: service.schema, identity: .unrestricted)
        return try JSONValue(parsing: execution.response())
    }

    @Test(arguments: [
        // Three are in, the other two are passed over.
        ("books(out: false) { edges { node { id } } }", 5),
        ("books(out: true, first: 1) { pageInfo { hasNextPage } }", 4),
        ("bookList { author { bookCount } }", 5 + 5 * 5), ("bookCount", 5),
    ])
    func elementsThatAreLookedAtAreCounted(selection: String, visits: Int) throws {
        let query = "{ author(name: \"Ada\") { \(selection) } }"
        #expect(try answer(query, visits: visits)["errors"] == nil)
        let refused = try answer(query, visits: visits - 1)
        #expect(refused["data"] == .null)
        #expect(
            refused["errors"] == [
                [
                    "message": .string(
                        "More than \(visits - 1) elements of lists are looked at for the result; ask for less."
                    ), "extensions": ["code": "LIMIT_EXCEEDED"],
                ]
            ])
    }
}
