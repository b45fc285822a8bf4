import BoundedTesting
import HTTPMessages
import RelayJSON
import Testing
import WebSocketIO

@testable import RelayServer

/// `POST /explorer/document`: who may ask, what is refused, and by which limits a document is looked at.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct ExplorerDocumentTests {
    private static func ask(
        _ server: RunningServer, _ body: String, headers: HTTPHeaders = [:]
    ) async throws -> HTTPResponse {
        var all: HTTPHeaders = ["content-type": "application/json"]
        for field in headers.fields { all.append(field.name, field.value) }
        return try await server.send(
            "POST", "/explorer/document", headers: all, body: Array(body.utf8))
    }

    @Test func whatCanBeWrittenComesFromTheServedSchema() async throws {
        try await RunningServer.run { server in
            let response = try await Self.ask(
                server, #"{"text": "{ user { userId tot } }", "offset": 19, "format": true}"#)
            #expect(response.status == 200)
            #expect(response.mediaType == "application/json")
            #expect(response.headers["cache-control"] == "no-store")
            #expect(response.json?["replaced"]?.text == "[16,19]")
            let names = response.json?["suggestions"]?.array?.compactMap { $0["text"]?.string }
            #expect(names?.first == "totalCount")
            #expect(response.json?["errors"]?.array?.count == 1)
            #expect(response.json?["formatted"]?.string?.contains("  user {\n") == true)
        }
    }

    /// Two units of UTF-16 and four bytes stand before it.
    @Test func placesAreCountedInUTF16() async throws {
        try await RunningServer.run { server in
            let response = try await Self.ask(
                server, ##"{"text": "# 😀é\n{ user { tot } }", "offset": 18}"##)
            #expect(response.json?["replaced"]?.text == "[15,18]")
        }
    }

    @Test(arguments: [
        ("", 400), ("{", 400), ("[]", 400), ("{}", 400), (#"{"text": 1}"#, 400),
        (#"{"text": "", "offset": 1.5}"#, 400), (#"{"text": "", "offset": null}"#, 400),
        (#"{"text": "", "format": "yes"}"#, 400), (#"{"text": "", "offset": -1}"#, 200),
        (#"{"text": "", "offset": 9223372036854775807}"#, 200),
        (#"{"text": "\u0000\ud800{", "offset": 2}"#, 200),
    ])
    func wrongQuestionsAreRefused(_ body: String, _ status: Int) async throws {
        try await RunningServer.run { server in
            let response = try await Self.ask(server, body)
            #expect(response.status == status)
            if status != 200 { #expect(response.json?.firstErrorMessage != nil) }
        }
    }

    @Test func otherTypesAndMethodsAreRefused() async throws {
        try await RunningServer.run { server in
            let body = Array(#"{"text": ""}"#.utf8)
            for headers in [
                [:], ["content-type": "text/plain"],
                ["content-type": "application/json; charset=latin1"],
                ["content-type": "application/json", "content-encoding": "gzip"],
            ] as [HTTPHeaders] {
                let response = try await server.send(
                    "POST", "/explorer/document", headers: headers, body: body)
                #expect(response.status == 415)
            }
            for method in ["GET", "HEAD", "PUT"] {
                let response = try await server.send(method, "/explorer/document")
                #expect(response.status == 405)
                #expect(response.headers["allow"] == "POST, OPTIONS")
            }
        }
    }

    @Test func longDocumentsAreRefused() async throws {
        try await RunningServer.run { server in
            for (count, status) in [(65_536, 200), (65_537, 413), (2_000_000, 413)] {
                let text = String(repeating: " ", count: count)
                let response = try await Self.ask(server, #"{"text": "\#(text)", "offset": 9}"#)
                #expect(response.status == status, "\(count)")
            }
            // Before a body comes.
            let client = try RawClient(port: server.server.port)
            try client.send(
                """
                POST /explorer/document HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                content-length: 4000000\r\nexpect: 100-continue\r\n\r\n
                """)
            #expect(try await client.read(through: "\r\n").hasPrefix("HTTP/1.1 413"))
        }
    }

    /// What a request could not ask for is a mistake here, too.
    @Test func theServersOwnLimitsHold() async throws {
        try await RunningServer.run({ configuration in
            configuration.limits.documentDepth = 5
            configuration.limits.documentTokens = 100
        }) { server in
            for text in [
                "{ __schema { types { fields { type { ofType { name } } } } } }",
                String(repeating: "a ", count: 200),
                String(repeating: "{a", count: 30_000),
            ] {
                let response = try await Self.ask(
                    server, #"{"text": "\#(text)", "offset": 3, "format": true}"#)
                #expect(response.status == 200)
                #expect(response.json?["errors"]?.array?.isEmpty == false)
            }
        }
    }

    @Test func manyMistakesAreNotAllListed() async throws {
        try await RunningServer.run { server in
            let text = String(repeating: "a b c d ", count: 2_000)
            let response = try await Self.ask(server, #"{"text": "{ \#(text) }"}"#)
            #expect(response.status == 200)
            let count = response.json?["errors"]?.array?.count ?? 0
            #expect(0 < count && count <= 101)
        }
    }

    @Test func whoMayQueryMayAsk() async throws {
        try await RunningServer.run({ configuration in
            configuration.tokens = ["root"]
            configuration.viewerTokens = [.init(viewer: "bob", token: "bobs")]
        }) { server in
            for (headers, status) in [
                ([:], 200), (["authorization": "Bearer bobs"], 200),
                (["authorization": "Bearer root"], 200), (["authorization": "Bearer x"], 401),
            ] as [(HTTPHeaders, Int)] {
                let response = try await Self.ask(server, #"{"text": "{"}"#, headers: headers)
                #expect(response.status == status)
            }
        }
    }

    /// Otherwise it would tell what the schema has to who may not even send a document.
    @Test func aServerOfPersistedOperationsLooksAtNoOthers() async throws {
        try await RunningServer.run({
            $0.usePersistedOperations(["x": "{ __typename }"], isExclusive: true)
        }) { server in
            let response = try await Self.ask(server, #"{"text": "{ u", "offset": 3}"#)
            #expect(response.status == 403)
        }
    }

    @Test func manyQuestionsAtOnceAreAllAnswered() async throws {
        try await RunningServer.run { server in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        try await Self.ask(server, #"{"text": "{ user { ", "offset": 9}"#).status
                    }
                }
                return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses.keys.allSatisfy { [200, 503].contains($0) })
            #expect(statuses.values.reduce(0, +) == 100)
            #expect(statuses[200] ?? 0 >= 64)
        }
    }
}
