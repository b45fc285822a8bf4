import GraphQLLanguage
import RelayJSON
import Testing

@testable import RelayServer

/// What the page is told of a document that somebody is writing.
@Suite(.bounded) struct DocumentHelpTests {
    private let help: DocumentHelp

    init() throws {
        help = DocumentHelp(
            try Schema.build("type Query { user(id: ID): User } type User { id: ID! name: String }")
        )
    }

    private func answer(_ question: String) throws -> JSONValue? {
        help.answer(try JSONValue(parsing: question)).map(JSONValue.object)
    }

    @Test func whatADocumentCarriesOutIsTold() throws {
        let text =
            #"query A { user { id } }\nmutation { addTodo(input: {text: \"\"\" \\\"\"\" } query B { user \"\"\"}) { todo { id } } }\nsubscription C @live { user { id } }\nfragment F on User { id }"#
        let operations = try answer(#"{"text": "\#(text)", "operations": true}"#)?["operations"]
        #expect(
            operations?.array?.map { $0["kind"]?.string } == ["query", "mutation", "subscription"])
        #expect(operations?.array?.map { $0["name"]?.string } == ["A", nil, "C"])
        #expect(operations?.array?.map { $0["field"]?.string } == ["user", "addTodo", "user"])
        #expect(operations?.array?.map { $0["live"] == true } == [false, false, true])
        #expect(operations?.array?.map { $0["line"] } == [1, 2, 3])
        #expect(try answer(#"{"text": "{", "operations": true}"#)?["operations"] == nil)
    }

    @Test func whatFormattingWouldLoseIsNotFormatted() throws {
        let plain = try answer(
            ##"{"text": "{ user { id } } query B { user { name: id } }", "format": true}"##)
        #expect(plain?["formatted"]?.string?.contains("\n  user {\n    id\n") == true)
        let commented = try answer(##"{"text": "{ user { # why\n id } }", "format": true}"##)
        #expect(commented?["formatted"] == nil)
        #expect(commented?["notFormatted"]?.string?.contains("comments") == true)
        let text = ##"{ user(id: \"# none\") { id } }"##
        #expect(try answer(##"{"text": "\##(text)", "format": true}"##)?["formatted"] != nil)
        // Deep, so that most of it would be indentation.
        let deep =
            String(repeating: "{a", count: 90) + "{" + String(repeating: "b ", count: 5_000)
            + String(repeating: "}", count: 91)
        let long = try answer(##"{"text": "\##(deep)", "format": true}"##)
        #expect(long?["formatted"] == nil)
        #expect(long?["notFormatted"]?.string?.contains("bytes") == true)
    }

    @Test func mistakesHaveTheirPlaces() throws {
        #expect(
            try answer(#"{"text": "{ user {\n  nothing } }"}"#)?.text
                == #"{"errors":[{"message":"Cannot query field \"nothing\" on type \"User\".","line":2,"column":3}]}"#
        )
        #expect(try answer(#"{"text": "{ user { id } }"}"#)?.text == #"{"errors":[]}"#)
        #expect(
            try answer(#"{"text": "{ user"}"#)?["errors"]?.array?.first?["message"]?.string
                == "Syntax Error: Expected Name, found <EOF>.")
    }

    /// The page counts UTF-16 code units, whatever stands before.
    @Test func offsetsAreThoseOfThePage() throws {
        let text = "# 😀é\\n{ user { na } }"
        let answer = try answer(#"{"text": "\#(text)", "offset": 17}"#)
        #expect(answer?["replaced"]?.text == "[15,17]")
        #expect(answer?["suggestions"]?.array?.first?.text == #"{"text":"name","detail":"String"}"#)
        for offset in ["-1", "3", "4", "9223372036854775807"] {
            #expect(try self.answer(#"{"text": "\#(text)", "offset": \#(offset)}"#) != nil)
        }
    }

    @Test func aDocumentIsFormattedIfItCanBeRead() throws {
        #expect(
            try answer(#"{"text": "{user{id}}", "format": true}"#)?["formatted"]?.string?
                .contains("{\n  user {\n    id\n  }\n}") == true)
        #expect(try answer(#"{"text": "{user{", "format": true}"#)?["formatted"] == nil)
    }

    @Test(arguments: [
        "{}", "[]", #"{"text": 1}"#, #"{"text": "", "offset": "1"}"#,
        #"{"text": "", "format": 1}"#,
    ])
    func whatIsNoQuestionHasNoAnswer(_ question: String) throws {
        #expect(try answer(question) == nil)
    }
}
