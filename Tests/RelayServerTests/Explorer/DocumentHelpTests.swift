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
