import HTTPMessages
import RelayJSON
import StoreEngine
import Testing
import Threads
import WebSocketIO

@testable import RelayServer

/// Server-sent events (graphql-sse, distinct connections).
@Suite(.bounded, .timeLimit(.minutes(10)))
struct EventStreamTests {
    private static func post(
        _ query: String, relay: JSONObject = [:], headers: String = ""
    ) -> String {
        let body = JSONValue.object([
            "query": .string(query), "extensions": ["relay": .object(relay)],
        ]).text
        return """
            POST /graphql HTTP/1.1\r
            Host: localhost\r
            Accept: text/event-stream\r
            Content-Type: application/json\r
            \(headers)Content-Length: \(body.utf8.count)\r
            \r
            \(body)
            """
    }

    @Test func aQueryIsOneNextAndTheEnd() async throws {
        try await RunningServer.run { server in
            let reply = try await server.post(
                ["query": "{ user { totalCount } }"], accept: "text/event-stream")
            #expect(reply.status == 200)
            #expect(reply.mediaType == "text/event-stream")
            let text = String(decoding: reply.body, as: UTF8.self)
            #expect(text.hasPrefix("id: memory-"))
            #expect(
                text.contains("\nevent: next\ndata: {\"data\":{\"user\":{\"totalCount\":2}},"))
            #expect(text.hasSuffix("}\n\nevent: complete\ndata:\n\n"))
        }
    }

    @Test func mistakesOfTheOperationAreToldInTheStream() async throws {
        try await RunningServer.run { server in
            let reply = try await server.post(
                ["query": "{ nothing }"], accept: "text/event-stream")
            #expect(reply.status == 200)
            let text = String(decoding: reply.body, as: UTF8.self)
            #expect(text.hasPrefix("event: next\ndata: {\"errors\":[{"))
            #expect(text.hasSuffix("\n\nevent: complete\ndata:\n\n"))
        }
    }

    @Test func whatIsNoGraphQLRequestGetsAStatus() async throws {
        try await RunningServer.run { server in
            let reply = try await server.post([], accept: "text/event-stream")
            #expect(reply.status == 400)
            #expect(reply.mediaType == "application/graphql-response+json")
            let mutation = try await server.get(
                [("query", "mutation { addTodo(input: {text: \"a\"}) { todo { id } } }")],
                headers: ["accept": "text/event-stream"])
            #expect(mutation.status == 405)
        }
        try await RunningServer.run {
            $0.tokens = ["secret"]
        } _: { server in
            let reply = try await server.post(
                ["query": "{ user { id } }"], accept: "text/event-stream")
            #expect(reply.status == 401)
        }
    }

    @Test func aSubscriptionGoesOnAndABrowserThatConnectsAnewMissesNothing() async throws {
        try await RunningServer.run { server in
            let writer = try await GraphQLClient(server)
            let first = try RawClient(port: server.server.port)
            try first.send(Self.post("subscription { todoAdded { todo { text } } }"))
            _ = try await first.read(through: "\r\n\r\n")
            try await eventually("the subscription") {
                try await server.metric("relay_subscriptions") == 1 ? true : nil
            }
            try await writer.addTodo("a")
            let event = try await first.read(through: "\n\n")
            #expect(event.contains("{\"data\":{\"todoAdded\":{\"todo\":{\"text\":\"a\"}}}"))
            let id = try #require(event.firstMatch(of: /id: (.*)\n/)?.1)
            first.shutDown()
            try await eventually("its end") {
                try await server.metric("relay_subscriptions") == 0 ? true : nil
            }

            for text in ["b", "c"] { try await writer.addTodo(text) }
            let second = try RawClient(port: server.server.port)
            try second.send(
                Self.post(
                    "subscription { todoAdded { todo { text } } }",
                    headers: "Last-Event-ID: \(id)\r\n"))
            _ = try await second.read(through: "\r\n\r\n")
            #expect(try await second.read(through: "\n\n").contains("\"recovered\":true"))
            for text in ["b", "c"] {
                #expect(try await second.read(through: "\n\n").contains("\"text\":\"\(text)\""))
            }
        }
    }

    /// A browser sends what it was given; others send what they like.
    @Test func anyLastEventIDIsGoodOrLost() async throws {
        let sequences = ["0", "1", "7fffffffffffffff", "8000000000000000", "ffffffffffffffff"]
        let places = sequences.map { String(repeating: "0", count: 16 - $0.utf8.count) + $0 }
        let others = ["-", "memory", "memory--", "18446744073709551616"]
        let ids = places.flatMap { epoch in places.map { "memory-\(epoch)-\($0)" } } + others
        try await RunningServer.run { server in
            for id in ids {
                let client = try RawClient(port: server.server.port)
                try client.send(
                    Self.post(
                        "subscription { todoAdded { todo { text } } }",
                        headers: "Last-Event-ID: \(id)\r\n"))
                _ = try await client.read(through: "\r\n\r\n")
                let first = try await client.read(through: "\n\n")
                #expect(first.contains("\"recovered\":false"), "\(id): \(first)")
            }
        }
    }

    @Test func silenceIsBrokenByACommentThatMovesTheLastEventOn() async throws {
        try await RunningServer.run {
            $0.limits.socket.progressInterval = .milliseconds(20)
        } _: {
            server in
            let client = try RawClient(port: server.server.port)
            try client.send(Self.post("subscription { todoAdded { todo { text } } }"))
            _ = try await client.read(through: "\r\n\r\n")
            let notice = try await client.read(through: "\n\n")
            #expect(notice.contains(": so far\nid: memory-"))
        }
    }

    @Test func whoDoesNotReadLosesItsEventStreamAndKeepsItsNewestLiveResult() async throws {
        try await RunningServer.run {
            $0.limits.socket.streamQueueBytes = 10_000
        } _: { server in
            let events = try RawClient(port: server.server.port, receiveBufferBytes: 4_096)
            try events.send(Self.post("subscription { todoAdded { todo { text } } }"))
            let live = try RawClient(port: server.server.port, receiveBufferBytes: 4_096)
            let todos = "todos(last: 1) { edges { node { text } } }"
            try live.send(Self.post("subscription { user { totalCount \(todos) } }"))
            for client in [events, live] { _ = try await client.read(through: "\r\n\r\n") }
            try await eventually("the subscriptions") {
                try await server.metric("relay_subscriptions") == 2 ? true : nil
            }
            let writer = try await GraphQLClient(server)
            // Far more than the sockets' buffers take.
            let text = String(repeating: "x", count: 200_000)
            let count = 80
            for number in 0..<count { try await writer.addTodo("\(number)\(text)") }
            for client in [events, live] { client.setReceiveBuffer(1 << 20) }

            var told: [String] = []
            while true {
                let event = try await events.read(through: "\n\n")
                try #require(!event.isEmpty, "it ended without a word")
                told.append(event)
                if event.contains("event: complete") { break }
            }
            // The last two are the error and the end.
            #expect(told.count < count + 2)
            #expect(told.suffix(2).first?.contains("SLOW_CONSUMER") == true)
            var results = 0
            while true {
                let event = try await live.read(through: "\n\n")
                try #require(!event.isEmpty, "it ended without a word")
                results += 1
                if event.contains("\"totalCount\":\(2 + count),") { break }
            }
            #expect(results < count)

            // The last event's id is good for the rest.
            let missed = count - (told.count - 2)
            let last = try #require(told.dropLast(2).last?.firstMatch(of: /id: (.*)\n/)?.1)
            let again = try RawClient(port: server.server.port)
            try again.send(
                Self.post(
                    "subscription { todoAdded { todo { id } } }",
                    headers: "Last-Event-ID: \(last)\r\n"))
            _ = try await again.read(through: "\r\n\r\n")
            #expect(try await again.read(through: "\n\n").contains("\"recovered\":true"))
            for _ in 0..<missed {
                #expect(try await again.read(through: "\n\n").contains("\"todoAdded\":{"))
            }
        }
    }

    /// As StreamTests has it for WebSockets.
    @Test(arguments: [(30, 4_096), (60, 4_096), (60, 1)])
    func aReaderIsNotEndedByWhatItHasMissed(_ count: Int, _ recentCommits: Int) async throws {
        let text = String(repeating: "x", count: 200_000)
        try await RunningServer.run {
            $0.limits.recentCommits = recentCommits
        } _: { server in
            let writer = try await GraphQLClient(server)
            let cursor = try #require(try await writer.run("{ user { totalCount } }").cursor)
            for number in 0..<count { try await writer.addTodo("\(number)\(text)") }

            let reader = try RawClient(port: server.server.port, receiveBufferBytes: 4_096)
            try reader.send(
                Self.post(
                    "subscription { todoAdded { todo { text } } }",
                    headers: "Last-Event-ID: \(cursor)\r\n"))
            let waiting = try await server.waitingBytes()
            #expect(waiting < (1 << 19) + 2 * text.utf8.count)
            reader.setReceiveBuffer(1 << 20)
            try await writer.addTodo("live")
            _ = try await reader.read(through: "\r\n\r\n")
            #expect(try await reader.read(through: "\n\n").contains("\"recovered\":true"))
            for expected in (0..<count).map({ "\($0)x" }) + ["live"] {
                let event = try await reader.read(through: "\n\n")
                try #require(
                    event.contains("\"text\":\"\(expected)"), "\(expected): \(event.prefix(500))")
            }
        }
    }

    @Test func streamsEndWhenTheServerStops() async throws {
        let client = Lock<RawClient?>(nil)
        try await RunningServer.run { server in
            let raw = try RawClient(port: server.server.port)
            try raw.send(Self.post("subscription { user { totalCount } }"))
            _ = try await raw.read(through: "\n\n")
            client.withLock { $0 = raw }
        }
        let raw = try #require(client.withLock { $0 })
        #expect(try await raw.read(through: nil).hasSuffix("0\r\n\r\n"))
    }
}

extension RunningServer {
    /// Bytes that wait for clients, once there are some.
    func waitingBytes() async throws -> Int {
        try await eventually("something to wait for a client") {
            let waiting = try await metric("relay_queue_bytes") ?? 0
            return waiting > 0 ? waiting : nil
        }
    }

    /// A number of /metrics.
    func metric(_ name: String) async throws -> Int? {
        let reply = try await send("GET", "/metrics")
        for line in String(decoding: reply.body, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ")
            if parts.first == name[...] { return Int(parts[1]) }
        }
        return nil
    }
}
