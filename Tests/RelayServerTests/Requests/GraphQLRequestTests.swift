import GraphQLExecution
import RelayJSON
import Testing

@testable import StoreEngine

@Suite(.bounded)
struct GraphQLRequestTests {
    @Test func nullIsAsIfItWereNotThere() throws {
        let request = try GraphQLRequest(
            [
                "query": "{ a }", "operationName": nil, "variables": nil, "extensions": nil,
                "documentId": nil,
            ], from: .unrestricted)
        #expect(request == GraphQLRequest(query: "{ a }"))
    }

    @Test func namesItsDocument() throws {
        #expect(
            try GraphQLRequest(["documentId": "abc"], from: .nobody).documentID == .custom("abc"))
        #expect(
            try GraphQLRequest(["documentId": "sha256:abc"], from: .nobody).documentID
                == .sha256("abc"))
        #expect(
            try GraphQLRequest(["documentId": "x-app:abc"], from: .nobody).documentID
                == .custom("x-app:abc"))
        let persisted: JSONObject = [
            "query": "", "extensions": ["persistedQuery": ["version": 1, "sha256Hash": "abc"]],
        ]
        #expect(try GraphQLRequest(persisted, from: .nobody).documentID == .sha256("abc"))
    }

    @Test(
        arguments: [
            (
                ["optimisticResponse": []],
                "extensions.relay.optimisticResponse must be an object, not a list."
            ),
            (["resume": 7], "extensions.relay.resume must be a string, not a number."),
            (
                ["mutationId": "A:18446744073709551616"],
                """
                "A:18446744073709551616" is not a mutation id: it must be CLIENT:N, N being a whole number from 0 to \
                18446744073709551615.
                """
            ),
        ] as [(JSONObject, String)])
    func saysWhatIsWrongInRelaysExtensions(relay: JSONObject, message: String) throws {
        let request = GraphQLRequest(query: "{ a }", extensions: ["relay": .object(relay)])
        let error = #expect(throws: ExecutionError.self) { try RelayExtensions(request) }
        #expect(error?.message == message)
        #expect(error?.code == .badUserInput)
    }

    @Test(
        arguments: [
            ([:], "A request needs a \"query\" that is a string."),
            (["query": nil], "A request needs a \"query\" that is a string."),
            (["query": 7], "\"query\" of a request must be a string, not a number."),
            (
                ["query": "", "variables": []],
                "\"variables\" of a request must be an object, not a list."
            ),
            (["documentId": true], "\"documentId\" of a request must be a string, not a boolean."),
            (
                ["extensions": ["persistedQuery": ["version": 2, "sha256Hash": "abc"]]],
                "Unsupported persisted query version"
            ),
            (
                ["extensions": ["persistedQuery": ["version": 1]]],
                "The extension \"persistedQuery\" needs a \"sha256Hash\"."
            ),
            (
                ["extensions": ["persistedQuery": "abc"]],
                "\"persistedQuery\" of a request must be an object, not a string."
            ),
        ] as [(JSONObject, String)])
    func saysWhatIsWrong(parameters: JSONObject, message: String) {
        let error = #expect(throws: ExecutionError.self) {
            try GraphQLRequest(parameters, from: .nobody)
        }
        #expect(error?.message == message)
        #expect(error?.code == .badUserInput)
    }
}
