import BoundedTesting
import Digests
import Foundation
import HTTPMessages
import RelayJSON
import Testing
import WebSocketIO

@testable import RelayServer

/// The page itself: what it is, where it is, and what browsers are told about it.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct ExplorerPageTests {
    private static let browser: HTTPHeaders = [
        "accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    ]

    private static func file() throws -> [UInt8] {
        let sources = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return Array(
            try Data(
                contentsOf: sources.appending(path: "Sources/RelayServer/Explorer/explorer.html")))
    }

    /// `script/explorer-page` writes the literal; run it again when this fails.
    @Test func theProgramHasThePageOfTheFile() throws {
        #expect(ExplorerPage.html.withUTF8Buffer { Array($0) } == (try Self.file()))
    }

    @Test func thePageIsServedAsItIs() async throws {
        try await RunningServer.run { server in
            let page = try Self.file()
            for (path, headers) in [("/", [:]), ("/", Self.browser), ("/graphql", Self.browser)]
                as [(String, HTTPHeaders)]
            {
                let response = try await server.send("GET", path, headers: headers)
                #expect(response.status == 200)
                #expect(response.body == page)
                #expect(response.headers["content-type"] == "text/html; charset=utf-8")
                #expect(response.headers["x-frame-options"] == "DENY")
                #expect(response.headers["x-content-type-options"] == "nosniff")
                #expect(response.headers["referrer-policy"] == "no-referrer")
                #expect(response.headers["cache-control"] == "no-cache")
                let head = try await server.send("HEAD", path, headers: headers)
                #expect(head.status == 200)
                #expect(head.body.isEmpty)
                #expect(head.headers["etag"] == response.headers["etag"])
            }
            #expect(server.server.explorerURL == "http://127.0.0.1:\(server.server.port)/")
        }
    }

    /// Nothing runs but what stands in the page.
    @Test func thePolicyHasTheHashesOfScriptAndStyle() async throws {
        try await RunningServer.run { server in
            let response = try await server.send("GET", "/")
            let text = String(decoding: response.body, as: UTF8.self)
            func hash(_ element: String) throws -> String {
                let parts = text.components(separatedBy: "<\(element)>")
                #expect(parts.count == 2, "There is one <\(element)>.")
                let content = try #require(
                    parts.last?.components(separatedBy: "</\(element)>").first)
                let hash = SHA256()
                hash.update(Array(content.utf8))
                return Data(hash.finish()).base64EncodedString()
            }
            #expect(
                response.headers["content-security-policy"] == """
                    default-src 'none'; script-src 'sha256-\(try hash("script"))'; \
                    style-src 'sha256-\(try hash("style"))'; connect-src 'self'; base-uri 'none'; \
                    form-action 'none'; frame-ancestors 'none'
                    """)
        }
    }

    @Test func aBrowserThatHasThePageDoesNotGetItAgain() async throws {
        try await RunningServer.run { server in
            let tag = try #require(try await server.send("GET", "/").headers["etag"])
            for known in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
                let response = try await server.send(
                    "GET", "/", headers: ["if-none-match": known])
                #expect(response.status == 304, "\(known)")
                #expect(response.body.isEmpty)
                #expect(response.headers["etag"] == tag)
            }
            let other = try await server.send("GET", "/", headers: ["if-none-match": "\"other\""])
            #expect(other.status == 200)
        }
    }

    /// Programs get what they always got at the path of GraphQL.
    @Test(arguments: [
        ("/graphql?query={__typename}", "text/html", "application/graphql-response+json"),
        ("/graphql", "application/json", "application/json"),
        ("/graphql", "application/json, text/html", "application/json"),
        ("/graphql", "application/json, text/html;q=0.9", "application/json"),
        ("/graphql", "*/*", "application/json"),
        ("/graphql", "text/html;q=0.9, application/json;q=0.8", "text/html"),
        ("/graphql", "text/*", "text/html"),
    ])
    func graphQLIsForPrograms(_ path: String, _ accept: String, _ type: String) async throws {
        try await RunningServer.run { server in
            let response = try await server.send("GET", path, headers: ["accept": accept])
            if path == "/graphql?query={__typename}" {
                // It cannot be given as a page, and is not.
                #expect(response.status == 406)
            } else {
                #expect(response.mediaType == type, "\(response.status)")
            }
            let posted = try await server.post(["query": "{ __typename }"], accept: accept)
            #expect(posted.mediaType != "text/html")
        }
    }

    @Test func thePageIsOnlyRead() async throws {
        try await RunningServer.run { server in
            for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
                let response = try await server.send(method, "/", body: [])
                #expect(response.status == 405, "\(method)")
                #expect(response.headers["allow"] == "GET, HEAD")
            }
        }
    }

    // MARK: Where it is

    private static let paths = [
        "/", "/explorer/groups", "/explorer/types", "/explorer/records", "/explorer/what-if",
        "/explorer/document",
    ]

    @Test(
        arguments: [
            ("127.0.0.1", nil, true), ("127.0.0.1", false, false), ("0.0.0.0", nil, false),
            ("0.0.0.0", true, true),
        ] as [(String, Bool?, Bool)])
    func itIsOnLoopbackUnlessSomethingElseIsSaid(
        _ host: String, _ explorer: Bool?, _ isServed: Bool
    ) async throws {
        try await RunningServer.run({ configuration in
            configuration.host = host
            configuration.isOpen = true
            configuration.explorer = explorer
        }) { server in
            #expect((server.server.explorerURL != nil) == isServed)
            for path in Self.paths {
                let response = try await server.send("GET", path)
                #expect((response.status == 404) == !isServed, "\(path): \(response.status)")
            }
            let page = try await server.send("GET", "/graphql", headers: Self.browser)
            #expect((page.mediaType == "text/html") == isServed)
            #expect(try await server.send("GET", "/log/events").status == 200)
        }
    }

    /// It asks for the token, and so comes without one.
    @Test func thePageNeedsNoToken() async throws {
        try await RunningServer.run({ $0.tokens = ["sesame"] }) { server in
            #expect(try await server.send("GET", "/").status == 200)
            for path in Self.paths.dropFirst() {
                let response = try await server.send(
                    path == "/explorer/document" ? "POST" : "GET", path,
                    headers: ["content-type": "application/json"], body: [])
                #expect(response.status == 401, "\(path)")
                #expect(response.headers["www-authenticate"] == "Bearer")
                #expect(response.json?.firstErrorMessage == Authentication.refusal)
            }
        }
    }

    @Test func aForeignHostGetsNoPage() async throws {
        try await RunningServer.run { server in
            for path in Self.paths {
                let client = try RawClient(port: server.server.port)
                try client.send("GET \(path) HTTP/1.1\r\nhost: evil.example\r\n\r\n")
                let line = try await client.read(through: "\r\n")
                #expect(line == "HTTP/1.1 421 Misdirected Request\r\n", "\(path)")
            }
        }
    }
}
