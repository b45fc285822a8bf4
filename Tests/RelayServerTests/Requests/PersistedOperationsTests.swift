import GraphQLExecution
import HTTPMessages
import RelayJSON
import SchemaService
import Testing
import WebSocketIO

@testable import RelayServer
@testable import StoreEngine

@Suite(.bounded, .timeLimit(.minutes(10)))
struct PersistedOperationsTests {
    private static let text = "{ __typename }"
    /// Of `text`, by sha256sum.
    private static let hash = "7f56e67dd21ab3f30d1ff8b7bed08893f0a0db86449836189b361dd1e56ddb4b"

    private func request(_ id: DocumentID?, _ query: String = "") -> GraphQLRequest {
        var request = GraphQLRequest(query: query)
        request.documentID = id
        return request
    }

    private func code(
        _ operations: PersistedOperations, _ request: GraphQLRequest
    ) throws -> String? {
        let error = #expect(throws: ExecutionError.self) { try operations.text(of: request) }
        return error?.code?.rawValue
    }

    // MARK: Registered by clients

    @Test func textAndHashTogetherAreRememberedUnderTheHash() throws {
        let operations = PersistedOperations()
        #expect(
            try code(operations, request(.sha256(Self.hash))) == "PERSISTED_QUERY_NOT_FOUND")
        #expect(try operations.text(of: request(.sha256(Self.hash), Self.text)) == Self.text)
        #expect(try operations.text(of: request(.sha256(Self.hash))) == Self.text)
        #expect(operations.findText(of: request(.sha256(Self.hash))) == Self.text)
    }

    @Test func aHashOfAnotherTextIsRefusedAndNotRemembered() throws {
        let operations = PersistedOperations()
        let wrong = request(.sha256(Self.hash), "{ user { id } }")
        #expect(try code(operations, wrong) == "PERSISTED_QUERY_HASH_MISMATCH")
        #expect(
            try code(operations, request(.sha256(Self.hash))) == "PERSISTED_QUERY_NOT_FOUND")
    }

    @Test func clientsCannotRegisterUnderNames() throws {
        let operations = PersistedOperations()
        let named = request(.custom("mine"), Self.text)
        #expect(try code(operations, named) == "PERSISTED_QUERY_NOT_FOUND")
        #expect(
            try code(operations, request(.custom("mine"))) == "PERSISTED_QUERY_NOT_FOUND")
    }

    // MARK: Given by the operator

    @Test func documentsOfTheMapAreFoundByEveryNameOfTheirs() throws {
        let operations = PersistedOperations(documents: [
            "list": "{ a }", Self.hash: Self.text, "sha256:prefixed": "{ b }",
        ])
        #expect(try operations.text(of: request(.custom("list"))) == "{ a }")
        #expect(try operations.text(of: request(.sha256("list"))) == "{ a }")
        #expect(try operations.text(of: request(.sha256(Self.hash))) == Self.text)
        #expect(try operations.text(of: request(.sha256("prefixed"))) == "{ b }")
        #expect(try operations.text(of: request(nil, "{ c }")) == "{ c }")
        #expect(
            try code(operations, request(.custom("list"), "{ other }"))
                == "PERSISTED_QUERY_HASH_MISMATCH")
    }

    @Test func anExclusiveMapRefusesEverythingElse() throws {
        let operations = PersistedOperations(documents: ["list": Self.text], isExclusive: true)
        #expect(try operations.text(of: request(.custom("list"))) == Self.text)
        #expect(try operations.text(of: request(.custom("list"), Self.text)) == Self.text)
        #expect(try code(operations, request(nil, Self.text)) == "PERSISTED_QUERY_ID_REQUIRED")
        let other = request(.sha256(Self.hash), Self.text)
        #expect(try code(operations, other) == "PERSISTED_QUERY_NOT_IN_LIST")
        #expect(operations.findText(of: request(nil, Self.text)) == nil)
    }

    @Test(arguments: [
        (#"{"a": "{ x }", "b": "{ y }"}"#, nil),
        ("{", "Invalid JSON at byte 1: the text ends too early."),
        ("[]", "It must hold a JSON object from ids to documents, not a list."),
        (#"{"a": {}}"#, "The document \"a\" must be a string, not an object."),
    ])
    func filesAreReadOrExplained(text: String, mistake: String?) {
        do throws(PersistedFileError) {
            let documents = try PersistedFile.read(Array(text.utf8))
            #expect(mistake == nil)
            #expect(documents == ["a": "{ x }", "b": "{ y }"])
        } catch {
            #expect(error.description == mistake)
        }
    }

    @Test func documentsThatCannotBeExecutedAreFoundAtTheStart() throws {
        let operations = PersistedOperations(documents: [
            "good": "{ __typename }", "several": "query A { __typename } query B { __typename }",
            "open": "{", "unknown": "{ nothing }",
        ])
        let cache = OperationCache(
            schema: try ServiceUnderTest.todo().service.executable, persisted: operations)
        let mistakes = cache.persistedMistakes()
        #expect(mistakes.map(\.id) == ["open", "unknown"])
        #expect(
            mistakes.map(\.error.message) == [
                "Syntax Error: Expected Name, found <EOF>.",
                "Cannot query field \"nothing\" on type \"Query\".",
            ])
    }

    // MARK: Over every transport

    @Test func automaticPersistedQueriesWorkOverBothTransports() async throws {
        try await RunningServer.run { server in
            let named: JSONObject = [
                "query": "",
                "extensions": ["persistedQuery": ["version": 1, "sha256Hash": .string(Self.hash)]],
            ]
            var full = named
            full["query"] = .string(Self.text)
            let unknown = try await server.request(named)
            #expect(unknown.firstErrorMessage == "PersistedQueryNotFound")
            #expect(unknown.firstErrorCode == "PERSISTED_QUERY_NOT_FOUND")
            let unknownOverHTTP = try await server.post(.object(named))
            #expect(unknownOverHTTP.errorCode == "PERSISTED_QUERY_NOT_FOUND")

            // Registered over one, it is known over the other.
            let registered = try await server.request(full)
            #expect(registered["data"] == ["__typename": "Query"])
            let overHTTP = try await server.post(.object(named))
            #expect(overHTTP.json?["data"] == ["__typename": "Query"])
            let get = try await server.get([
                ("extensions", try #require(named["extensions"]).text)
            ])
            #expect(get.json?["data"] == ["__typename": "Query"])
            let known = try await server.request(named)
            #expect(known["data"] == ["__typename": "Query"])
        }
    }

    @Test func aServerOfPersistedOperationsRunsNoOthers() async throws {
        let documents = [
            "add": #"mutation { addTodo(input: { text: "x" }) { todo { text } } }"#,
            "count": "{ user { totalCount } }",
        ]
        try await RunningServer.run({
            $0.usePersistedOperations(documents, isExclusive: true)
        }) { server in
            // Not even parsed.
            for text in ["{ __typename }", "{", ""] {
                let response = try await server.post(["query": .string(text)])
                #expect(response.errorCode == "PERSISTED_QUERY_ID_REQUIRED")
                let result = try await server.request(["query": .string(text)])
                #expect(result.firstErrorCode == "PERSISTED_QUERY_ID_REQUIRED")
            }
            let added = try await server.post(["documentId": "add"])
            #expect(added.json?["data"]?["addTodo"]?["todo"]?["text"] == "x")
            // graphql-transport-ws wants a query, be it an empty one.
            let counted = try await server.request(["query": "", "documentId": "count"])
            #expect(counted["data"] == ["user": ["totalCount": 3]])
            let get = try await server.get([("documentId", "add")])
            #expect(get.status == 405)
        }
    }
}
