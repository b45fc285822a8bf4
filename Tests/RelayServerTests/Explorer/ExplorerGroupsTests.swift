import BoundedTesting
import GraphQLTransportWS
import HTTPMessages
import RelayJSON
import Testing
import WebSocketIO
import WebSocketTesting

@testable import RelayServer

/// `GET /explorer/groups`: which live groups there are, and what they cost.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct ExplorerGroupsTests {
    private static func groups(
        _ server: RunningServer, _ query: String = "", headers: HTTPHeaders = [:]
    ) async throws -> [JSONValue] {
        let response = try await server.send("GET", "/explorer/groups" + query, headers: headers)
        #expect(response.status == 200)
        #expect(response.mediaType == "application/x-ndjson")
        return try String(decoding: response.body, as: UTF8.self).split(separator: "\n")
            .map { try JSONValue(parsing: String($0)) }
    }

    /// Subscribes, and waits for the first result of each.
    private static func subscribe(
        _ server: RunningServer, _ documents: [String]
    ) async throws -> WebSocketChannel {
        let channel = try await server.connect()
        func send(_ message: ClientMessage) {
            channel.connection.send(OutgoingMessage(.text, message.bytes))
        }
        send(.connectionInit(payload: nil))
        // Before it is acknowledged, nothing may be asked for.
        var messages = channel.makeAsyncIterator()
        _ = await messages.next()
        for (number, document) in documents.enumerated() {
            send(.subscribe(id: String(number), payload: ["query": .string(document)]))
        }
        return channel
    }

    @Test func groupsSayWhatTheyCost() async throws {
        try await RunningServer.run { server in
            #expect(try await Self.groups(server).isEmpty)
            let live = "subscription { user { totalCount } }"
            let named = "subscription Titles { user { totalCount completedCount } }"
            let channel = try await Self.subscribe(server, [live, live, named])
            defer { channel.connection.close() }
            try await eventually("three subscribers in two groups") {
                let counts = try await Self.groups(server)
                    .map { "\($0["operation"]?.string ?? "") \($0["subscribers"]?.int ?? 0)" }
                return counts.sorted() == ["Titles 1", "user 2"] ? true : nil
            }
            for group in try await Self.groups(server) {
                #expect(group["runs"] == 1)
                #expect(Double(group["milliseconds"]?.text ?? "") ?? -1 >= 0)
                let isNamed = group["operation"] == "Titles"
                #expect(group["document"]?.string == (isNamed ? named : live))
            }
            _ = try await server.post([
                "query": #"mutation { addTodo(input: { text: "x" }) { todo { id } } }"#
            ])
            try await eventually("a run of each") {
                try await Self.groups(server).allSatisfy { $0["runs"] == 2 } ? true : nil
            }
            #expect(try await Self.groups(server, "?limit=1").count == 1)
            let head = try await server.send("HEAD", "/explorer/groups")
            #expect(head.status == 200 && head.body.isEmpty)
        }
    }

    @Test func longDocumentsAreCut() async throws {
        try await RunningServer.run { server in
            let comment = "#" + String(repeating: "é", count: 5_000) + "\n"
            let channel = try await Self.subscribe(
                server, [comment + "subscription { user { totalCount } }"])
            defer { channel.connection.close() }
            let group = try await eventually("the group") { try await Self.groups(server).first }
            #expect(group["document"]?.string == String(comment.prefix(2_000)))
            #expect(group["operation"] == "user")
        }
    }

    /// They tell of everybody's requests.
    @Test func onlyWhoMaySeeEverythingIsTold() async throws {
        try await RunningServer.run({ configuration in
            configuration.tokens = ["root"]
            configuration.viewerTokens = [.init(viewer: "bob", token: "bobs")]
        }) { server in
            let unknown = try await server.send("GET", "/explorer/groups")
            #expect(unknown.status == 401)
            #expect(unknown.headers["www-authenticate"] == "Bearer")
            let bob = try await server.send(
                "GET", "/explorer/groups", headers: ["authorization": "Bearer bobs"])
            #expect(bob.status == 403)
            #expect(
                try await Self.groups(server, headers: ["authorization": "Bearer root"]).isEmpty)
        }
    }
}
