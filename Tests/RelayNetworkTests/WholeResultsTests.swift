import GraphQLLanguage
import RelayArtifacts
import RelayIR
import RelayJSON
import Testing

@testable import RelayNetwork

@Suite(.bounded)
struct WholeResultsTests {
    private static let first = message(
        data: #"{"user":{"id":"U","todos":{"edges":[{"node":{"id":"A","text":"a"}}]}}}"#, "1")
    private static let edges = "client:U:todos(first:100)"

    private static func message(
        data: String = "null", records: String? = nil, _ cursor: String
    ) -> [UInt8] {
        let patch = records.map { #","records":\#($0)"# } ?? ""
        return Array(
            #"{"data":\#(data),"extensions":{"relay":{"cursor":"\#(cursor)"\#(patch)}}}"#.utf8)
    }

    private static func patch(_ records: String, _ cursor: String) -> [UInt8] {
        message(records: records, cursor)
    }

    private func results() throws -> WholeResults {
        WholeResults(try LiveOperations.request("FirstLive").operation, variables: [:])
    }

    private func text(_ step: WholeResults.Step) -> String? {
        step.response.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func patchesBecomeWholeResults() throws {
        var results = try results()
        #expect(results.receive(Self.first).response == Self.first)
        #expect(
            text(results.receive(Self.patch(#"{"A":{"text":"b"}}"#, "2"))) == """
                {"data":{"user":{"id":"U","todos":{"edges":[{"node":{"id":"A","text":"b"}}]}}},\
                "extensions":{"relay":{"cursor":"2"}}}
                """)
        let added = """
            {"\(Self.edges)":{"edges":{"splice":[1,0,["\(Self.edges):edges:B"]]}},\
            "\(Self.edges):edges:B":{"__typename":"TodoEdge","node":{"ref":"B"}},\
            "B":{"__typename":"Todo","id":"B","text":"new"}}
            """
        #expect(text(results.receive(Self.patch(added, "3")))?.contains(#""text":"new""#) == true)
        // Nothing is left of the result.
        let gone = """
            {"client:root":{"user":null},"U":null,"\(Self.edges)":null,"\(Self.edges):edges:A":null,\
            "\(Self.edges):edges:B":null,"A":null,"B":null}
            """
        #expect(
            text(results.receive(Self.patch(gone, "4")))
                == #"{"data":{"user":null},"extensions":{"relay":{"cursor":"4"}}}"#)
    }

    /// What a patch says and the result does not show, or the other way round, is no patch of this operation.
    @Test(arguments: [
        #"{"X":{"text":"b"}}"#, #"{"A":{"title":"b"}}"#, #"{"A":null}"#, #"{"A":"b"}"#,
        #"{"A":{"text":{"unset":true},"x":{"unset":true}}}"#, #"{"U":{"id":{"splice":[0,0,[]]}}}"#,
        #"{"client:U:todos(first:100)":{"edges":{"splice":[0,2,[]]}}}"#,
        #"{"client:U:todos(first:100)":{"edges":{"splice":[-1,0,[]]}}}"#,
        #"{"client:U:todos(first:100)":{"edges":{"splice":[9223372036854775807,9223372036854775807,[]]}}}"#,
        #"{"client:U:todos(first:100)":{"edges":{"splice":[0]}}}"#,
        #"{"client:U:todos(first:100)":{"edges":{"refs":[1]}}}"#,
        #"{"client:U:todos(first:100)":{"edges":{"refs":["Q"]}}}"#,
        #"{"client:U:todos(first:100)":{"edges":"no"}}"#, #"{"client:root":{"user":"no"}}"#,
    ])
    func aPatchThatDoesNotFitIsGivenUp(_ records: String) throws {
        var results = try results()
        _ = results.receive(Self.first)
        let step = results.receive(Self.patch(records, "2"))
        #expect(step.response == nil && step.renounces && step.cursor == "1")
        // What was on its way is sent anew behind the mark.
        #expect(results.receive(Self.patch(#"{"A":{"text":"c"}}"#, "3")).response == nil)
        #expect(results.receive(RenewalMark.bytes).response == nil)
        #expect(results.receive(Self.first).response == Self.first)
    }

    /// The server resumes without patches: at once, or behind what its reader has taken, if it wanted none before.
    @Test(arguments: [true, false])
    func aServerThatHasNoRecordsAnyMoreSendsWholeResults(_ isRenounced: Bool) throws {
        var results = try results()
        _ = results.receive(Self.first)
        if isRenounced {
            let misfit = results.receive(Self.patch(#"{"X":{"text":"b"}}"#, "2"))
            #expect(misfit.renounces)
        }
        let step = results.receive(RenewalMark.refusal)
        #expect(step.response == nil && !step.renounces)
        if isRenounced {
            #expect(results.receive(Self.first).response == nil)
            #expect(results.receive(RenewalMark.bytes).response == nil)
        }
        #expect(results.receive(Self.first).response == Self.first)
    }

    /// A response with what the nodes don't select: text and nodes are not the same operation.
    @Test func aResultThatCannotBeMadeAgainIsDeliveredAndPatchesAreGivenUp() throws {
        var results = try results()
        let other = Self.message(data: #"{"user":{"id":"U","name":"n","todos":null}}"#, "1")
        let step = results.receive(other)
        #expect(step.response == other && step.renounces && step.cursor == "1")
    }

    @Test func aServerThatKnowsNoRecordsIsLeftAlone() throws {
        var results = try results()
        let other = Array(#"{"data":{"user":{"name":"n"}}}"#.utf8)
        for bytes in [other, GapNotice.bytes, Array("no JSON".utf8), other] {
            let step = results.receive(bytes)
            #expect(step.response == bytes && !step.renounces)
        }
    }

    /// One record in a great many places would be a great result from a small message.
    @Test func aPatchThatGrowsBeyondAnyMessageIsGivenUp() throws {
        var results = try results()
        _ = results.receive(Self.first)
        let text = String(repeating: "x", count: 1 << 20)
        let places = (0..<80).map { _ in #""\#(Self.edges):edges:A""# }.joined(separator: ",")
        let step = results.receive(
            Self.patch(
                #"{"A":{"text":"\#(text)"},"\#(Self.edges)":{"edges":{"refs":[\#(places)]}}}"#, "2")
        )
        #expect(step.response == nil && step.renounces)
    }
}

/// Operations whose results come again and again, compiled when the tests run.
enum LiveOperations {
    static let text = """
        query FirstLive @live {
          user { id todos(first: 100) { edges { node { id text } } } }
        }

        query ListsLive($status: Boolean) @live {
          user { id totalCount completedCount
            all: todos(first: 100) { edges { cursor node { id text complete } } }
            todos(complete: $status, first: 5) { edges { node { ...Item } } pageInfo { hasNextPage } }
          }
        }
        fragment Item on Todo { id label: text ... on Node { id } }

        query AnyLive @live {
          nodes(ids: ["VG9kbzow", "VXNlcjptZQ==", "VG9kbzox"]) {
            __typename ... on Todo { text complete } ... on User { totalCount }
          }
        }

        query LongLive @live {
          user { id todos(first: 1000) { edges { cursor node { id text complete } } } }
        }

        query CountLive @live { user { id totalCount } }

        fragment Text on Todo { text }

        subscription UserLive { user { id totalCount lasts: todos(last: 3) { edges { node { id text } } } } }

        subscription TodoLive($id: ID!) { todo(id: $id) { id text complete } }

        subscription Added { todoAdded { todo { id text } user { totalCount } } }
        """

    static func request(_ name: String) throws -> ConcreteRequest {
        try #require(try documents().operation(name)?.request)
    }

    static func fragment(_ name: String) throws -> ReaderFragment {
        try #require(try documents().fragment(name)?.node)
    }

    private static func documents() throws -> RelayDocuments {
        let schema = try Schema.build(
            [Source(try ServedTodos.example("todo.graphql"), name: "todo.graphql")],
            predefined: [
                Source(try ServedTodos.example("directives.graphql"), name: "directives.graphql")
            ])
        return try RelayDocuments(Document(parsing: text), schema: schema)
    }
}
