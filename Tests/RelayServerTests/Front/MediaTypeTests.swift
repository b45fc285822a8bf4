import HTTPMessages
import Testing
import WebSocketIO

@testable import RelayServer

@Suite(.bounded)
struct MediaTypeTests {
    @Test(arguments: [
        ("application/json", "application/json"),
        ("application/graphql-response+json", "application/graphql-response+json"),
        ("APPLICATION/JSON", "application/json"),
        // Of equals the one named first, whatever it is.
        (
            "application/graphql-response+json, application/json",
            "application/graphql-response+json"
        ),
        ("application/json, application/graphql-response+json", "application/json"),
        // The heavier one, wherever it stands.
        (
            "application/json;q=0.8, application/graphql-response+json;q=0.9",
            "application/graphql-response+json"
        ),
        ("application/graphql-response+json; q=0.1,application/json; q=0.2", "application/json"),
        // Ranges: the old type, unless it is excluded or the new one is named.
        ("*/*", "application/json"),
        ("application/*", "application/json"),
        ("text/html, */*;q=0.1", "application/json"),
        ("application/json;q=0, */*", "application/graphql-response+json"),
        ("*/*;q=0.5, application/graphql-response+json", "application/graphql-response+json"),
        // The closest range says the weight.
        ("application/*;q=0.9, application/json;q=0.1", "application/graphql-response+json"),
        ("application/json; charset=utf-8", "application/json"),
        ("application/json; charset=\"UTF-8\"; q=1", "application/json"),
        ("application/json; charset=latin1, application/*;q=0.1", "application/json"),
        ("application/json;q=seven", "application/json"),
        ("text/event-stream", "text/event-stream"),
        ("text/event-stream, */*;q=0.1", "text/event-stream"),
    ])
    func theTypeWantedMostIsChosen(accept: String, type: String) {
        #expect(ResponseMediaType.negotiated(["accept": accept])?.rawValue == type)
    }

    @Test(arguments: [
        "text/html", "application/xml, text/*", "application/json;q=0", "*/*;q=0",
        "application/json; charset=utf-16", "nonsense", ";;;", "/", "application/jsonx",
    ])
    func aClientThatTakesNeitherTypeGetsNone(accept: String) {
        #expect(ResponseMediaType.negotiated(["accept": accept]) == nil)
    }

    @Test func aClientThatDoesNotSayGetsTheNewerType() {
        #expect(ResponseMediaType.negotiated([:]) == .graphQLResponse)
        #expect(ResponseMediaType.negotiated(["accept": " , "]) == .graphQLResponse)
    }

    @Test func severalHeadersAreOneList() {
        var headers: HTTPHeaders = ["accept": "application/json;q=0.1"]
        headers.append("accept", "application/graphql-response+json;q=0.2")
        #expect(ResponseMediaType.negotiated(headers) == .graphQLResponse)
    }
}
