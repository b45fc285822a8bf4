import BoundedTesting
import GraphQLTransportWS
import HTTPMessages
import RelayJSON
import SchemaService
import StoreEngine
import Testing
import WebSocketIO
import WebSocketTesting

@testable import RelayServer

/// Subscriptions over real sockets: resuming, progress, slow consumers, limits.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct StreamTests {
    static let todoAdded = "subscription { todoAdded { todo { text } } }"

    @Test func aStreamGoesOnAfterItsConnectionWasCut() async throws {
        try await RunningServer.run { server in
            let writer = try await GraphQLClient(server)
            let first = try await GraphQLClient(server)
            first.subscribe("1", "subscription { user { totalCount } }")
            let cursor = try #require(try await first.result().cursor)
            first.channel.connection.abort()
            for number in 0..<3 { try await writer.addTodo("\(number)") }

            let second = try await GraphQLClient(server)
            second.subscribe("1", Self.todoAdded, relay: ["resume": .string(cursor)])
            let head = try await second.result()
            #expect(head["data"] == .null)
            #expect(head.recovered == true)
            for number in 0..<3 {
                #expect(try await second.result().text(of: "todoAdded") == "\(number)")
            }
            try await writer.addTodo("live")
            #expect(try await second.result().text(of: "todoAdded") == "live")
        }
    }

    @Test func silenceIsBrokenByAPingThatSaysHowFarEverythingWasDelivered() async throws {
        try await RunningServer.run {
            $0.limits.socket.progressInterval = .milliseconds(20)
        } _: {
            server in
            let client = try await GraphQLClient(server)
            client.subscribe("1", "subscription { user { totalCount } }")
            let start = try #require(try await client.result().cursor)
            func pinged() async throws -> String? {
                while true {
                    guard case .ping(let payload) = try await client.next() else { continue }
                    return payload?["relay"]?["cursor"]?.string
                }
            }
            #expect(try await pinged() == start)
            // A commit that concerns nobody here moves it on.
            let writer = try await GraphQLClient(server)
            let renamed = try await writer.run(
                #"mutation { renameTodo(input: {id: "VG9kbzox", text: "x"}) { todo { id } } }"#)
            let end = try #require(renamed.cursor)
            while let cursor = try await pinged(), cursor != end { #expect(cursor == start) }
        }
    }

    @Test func whoDoesNotReadLosesItsEventStreamAndKeepsItsNewestLiveResult() async throws {
        try await RunningServer.run {
            $0.limits.socket.streamQueueBytes = 10_000
        } _: { server in
            let slow = try await GraphQLClient(server)
            slow.subscribe("events", "subscription { todoAdded { todo { text } } }")
            slow.subscribe(
                "live",
                "subscription { user { totalCount todos(last: 1) { edges { node { text } } } } }")
            let first = try #require(try await slow.result().cursor)
            slow.channel.connection.pauseReading()
            let writer = try await GraphQLClient(server)
            // Far more than the socket's buffers take.
            let text = String(repeating: "x", count: 200_000)
            let count = 80
            for number in 0..<count { try await writer.addTodo("\(number)\(text)") }
            slow.channel.connection.resumeReading()

            var told = 0
            var last = first
            var end: JSONValue?
            var state: JSONValue?
            while end == nil || state?["totalCount"] != .int(Int64(2 + count)) {
                switch try await slow.next() {
                case .next("events", let payload):
                    told += 1
                    last = payload["extensions"]?["relay"]?["cursor"]?.string ?? last
                case .next("live", let payload): state = payload["data"]?["user"]
                case .error("events", let errors): end = errors.first
                default: continue
                }
            }
            #expect(told < count)
            #expect(end?["extensions"]?["code"] == "SLOW_CONSUMER")
            #expect(end?["extensions"]?["relay"]?["cursor"]?.string == last)
            // The cursor is good for the rest.
            slow.subscribe(
                "again", "subscription { todoAdded { todo { id } } }",
                relay: ["resume": .string(last)])
            var rest = -1
            while told + rest < count {
                if case .next("again", _) = try await slow.next() { rest += 1 }
            }
        }
    }

    @Test func whoStopsWhileTheOperationIsPreparedLeavesNothingBehind() async throws {
        try await RunningServer.run {
            $0.limits.socket.requestsInProgress = 2
        } _: { server in
            let client = try await GraphQLClient(server)
            let count = 40
            // Each is new to the server, and takes it a while.
            let fields = (0..<400).map { "a\($0): totalCount" }.joined(separator: " ")
            for number in 0..<count {
                let query = "subscription S\(number) { user { \(fields) } }"
                let messages: [ClientMessage] = [
                    .subscribe(id: "1", payload: ["query": .string(query)]), .complete(id: "1"),
                ]
                // In one go, so that the end has come before the beginning is done.
                let connection = client.channel.connection
                server.loop.perform {
                    for message in messages {
                        connection.send(OutgoingMessage(.text, message.bytes))
                    }
                }
            }
            client.subscribe("end", "{ user { totalCount } }")
            var told = 0
            reading: while true {
                switch try await client.next() {
                case .next("end", _): break reading
                case .next("1", _): told += 1
                case .ping: continue
                case let other: Issue.record("\(other)")
                }
            }
            #expect(told < count)
            try await eventually("nobody to be subscribed") {
                let metrics = try await server.send("GET", "/metrics").body
                let lines = String(decoding: metrics, as: UTF8.self).split(separator: "\n")
                return lines.contains("relay_subscriptions 0") ? true : nil
            }
        }
    }

    @Test func moreOperationsThanTheLimitAreRefused() async throws {
        try await RunningServer.run {
            $0.limits.socket.operations = 2
        } _: { server in
            let client = try await GraphQLClient(server)
            for id in ["1", "2", "3"] { client.subscribe(id, Self.todoAdded) }
            #expect(try await client.result().firstErrorCode == "LIMIT_EXCEEDED")
        }
    }

    @Test func whoAsksFasterThanAllowedIsServedAllTheSame() async throws {
        try await RunningServer.run {
            $0.limits.socket.requestsPerSecond = 200
            $0.limits.socket.requestsInProgress = 4
        } _: { server in
            let client = try await GraphQLClient(server)
            for number in 0..<250 { client.subscribe("\(number)", "{ user { totalCount } }") }
            for _ in 0..<250 {
                #expect(try await client.result()["data"]?["user"]?["totalCount"] == 2)
            }
        }
    }

    /// The first is new to the server and takes its time; the third has the text of the second.
    @Test func pipelinedMutationsKeepTheirOrder() async throws {
        try await RunningServer.run { server in
            let client = try await GraphQLClient(server)
            for round in 0..<15 {
                let aliases = (0..<300).map { "a\(round)x\($0): text" }.joined(separator: " ")
                let small =
                    "mutation M\(round) { addTodo(input: {text: \"b\"}) { user { totalCount } } }"
                client.subscribe(
                    "1",
                    "mutation { addTodo(input: {text: \"a\"}) { user { totalCount } todo { \(aliases) } } }"
                )
                client.subscribe("2", small)
                client.subscribe("3", small)
                var counts: [String: JSONValue] = [:]
                while counts.count < 3 {
                    guard case .next(let id, let result) = try await client.next() else { continue }
                    counts[id] = result["data"]?["addTodo"]?["user"]?["totalCount"]
                }
                let first = Int64(3 + round * 3)
                #expect(
                    counts == ["1": .int(first), "2": .int(first + 1), "3": .int(first + 2)])
            }
        }
    }

    /// A server whose mutation `fetchItem` waits for what `upstream` gives, and whose stop waits for it.
    private func withWaitingMutation(
        _ body: (RunningServer, _ upstream: Upstream) async throws -> Void
    ) async throws {
        let upstream = Upstream()
        var handlers = HandlerSchema.handlers()
        handlers.mutation(
            "fetchItem",
            waitingFor: { _, _, _ in
                let text = try await upstream.answer()
                return { records, _, _ in
                    let item = records.create(typeName: "Item")
                    item["text"] = text
                    item["done"] = false
                    return item.dataID
                }
            })
        try await RunningServer.run { [handlers] in
            $0.schema = HandlerSchema.base
            $0.seed = Array(HandlerSchema.seed.utf8)
            $0.handlers = handlers
            $0.stopDeadline = .testDeadline
        } _: {
            try await body($0, upstream)
        }
    }

    @Test func aMutationThatIsUnderWayIsAnsweredBeforeAStop() async throws {
        try await withWaitingMutation { server, upstream in
            let client = try await GraphQLClient(server)
            client.subscribe(
                "1", "mutation { fetchItem(input: {text: \"\", listId: \"l1\"}) { item { text } } }"
            )
            try await upstream.isAsked()
            async let stopped: Void = server.server.stop()
            try await eventually("the stop") {
                try await server.send("GET", "/readyz").status == 503 ? true : nil
            }
            let late = try await server.post([
                "query": "mutation { addItem(input: {text: \"\", listId: \"l1\"}) { item { id } } }"
            ])
            #expect(late.status == 503 && late.errorCode == "OVERLOADED")
            #expect(late.headers["connection"] == "close")
            upstream.give("in time")
            #expect(try await client.result()["data"]?["fetchItem"]?["item"]?["text"] == "in time")
            await stopped
        }
    }

    /// More than may wait for a client comes in one turn of the loop, and the client takes it.
    @Test func aBurstEndsNoStreamOfAClientThatReads() async throws {
        try await RunningServer.run { server in
            let reader = try await GraphQLClient(server)
            reader.subscribe("1", "subscription { todoAdded { todo { text } } }")
            try await eventually("the subscription") {
                try await server.metric("relay_subscriptions") == 1 ? true : nil
            }
            let count = 13
            let text = String(repeating: "x", count: 100_000)
            let fields = (0..<count).map { "a\($0): addTodo(input: {text: $text}) { todo { id } }" }
            let writer = try await GraphQLClient(server)
            writer.send(
                .subscribe(
                    id: "1",
                    payload: [
                        "query": .string("mutation($text: String!) { \(fields.joined()) }"),
                        "variables": ["text": .string(text)],
                    ]))
            #expect(try await writer.result()["errors"] == nil)
            for number in 0..<count {
                let told = try await reader.result()
                #expect(
                    told["data"]?["todoAdded"]?["todo"]?["text"]?.string == text,
                    "\(number): \(told["errors"]?.text ?? "another text")")
            }
        }
    }

    /// More than the sockets' buffers take, in steps that are larger than what may wait for it. Told by the publisher,
    /// from memory, and from the log.
    @Test(arguments: [(30, 4_096), (60, 4_096), (60, 1)])
    func aReaderIsNotEndedByWhatItHasMissed(_ count: Int, _ recentCommits: Int) async throws {
        let text = String(repeating: "x", count: 200_000)
        try await RunningServer.run {
            $0.limits.recentCommits = recentCommits
        } _: { server in
            let writer = try await GraphQLClient(server)
            let cursor = try #require(try await writer.run("{ user { totalCount } }").cursor)
            for number in 0..<count { try await writer.addTodo("\(number)\(text)") }

            let reader = try await GraphQLClient(server)
            reader.channel.connection.pauseReading()
            for id in ["1", "2"] {
                reader.subscribe(id, Self.todoAdded, relay: ["resume": .string(cursor)])
            }
            let waiting = try await server.waitingBytes()
            #expect(waiting < (1 << 19) + 2 * text.utf8.count)
            reader.channel.connection.resumeReading()
            // What happens now finds its place behind it, too.
            try await writer.addTodo("live")
            var told: [String: [String]] = [:]
            while told.values.reduce(0, { $0 + $1.count }) < 2 * (count + 1) {
                switch try await reader.next() {
                case .next(let id, let payload):
                    guard let added = JSONValue.object(payload).text(of: "todoAdded") else {
                        continue
                    }
                    told[id, default: []].append(String(added.prefix { $0 != "x" }))
                case .error(let id, let errors):
                    Issue.record("\(id): \(errors)")
                    return
                default: continue
                }
            }
            let expected = (0..<count).map { "\($0)" } + ["live"]
            #expect(told == ["1": expected, "2": expected])
        }
    }

    /// Its client sends it again when the connection ends; an error would be the last word.
    @Test func aMutationThatIsPreparedWhileTheServerStopsGetsNoError() async throws {
        try await withWaitingMutation { server, upstream in
            let client = try await GraphQLClient(server)
            client.subscribe(
                "0", "mutation { fetchItem(input: {text: \"\", listId: \"l1\"}) { item { id } } }")
            try await upstream.isAsked()
            // Each text is new, so each is prepared off the loop.
            for number in 1...400 {
                client.subscribe(
                    "\(number)",
                    "mutation { a\(number): addItem(input: {text: \"\", listId: \"l1\"}) { item { id } } }"
                )
            }
            _ = try await client.next()
            async let stopped: Void = server.server.stop()
            try await eventually("the stop") {
                try await server.send("GET", "/readyz").status == 503 ? true : nil
            }
            upstream.give("in time")
            var refusals: [JSONValue] = []
            while let message = try? await client.next() {
                if case .error(let id, let errors) = message, id != "0" { refusals += errors }
            }
            #expect(refusals == [])
            await stopped
        }
    }

    /// It is no way round the checks of the others.
    @Test func theEchoSubprotocolAsksForOriginAndToken() async throws {
        try await RunningServer.run {
            $0.echoes = true
            $0.tokens = ["sesame"]
        } _: { server in
            let refused: [HTTPHeaders] = [
                [:], ["authorization": "Bearer wrong"],
                ["authorization": "Bearer sesame", "origin": "https://elsewhere.example"],
            ]
            for headers in refused {
                await #expect(throws: (any Error).self) {
                    try await server.connect(headers: headers, subprotocols: ["echo"])
                }
            }
            let channel = try await server.connect(
                headers: ["authorization": "Bearer sesame"], subprotocols: ["echo"])
            channel.connection.close()
        }
    }

    @Test func theEchoSubprotocolExistsOnlyWhenItIsAskedFor() async throws {
        try await RunningServer.run {
            $0.echoes = true
        } _: { server in
            let channel = try await server.connect(subprotocols: ["echo"])
            channel.connection.send(OutgoingMessage(.binary, [0, 255, 7]))
            var messages = channel.makeAsyncIterator()
            #expect(await messages.next() == WebSocketMessage(.binary, [0, 255, 7]))
            channel.connection.close()
        }
        try await RunningServer.run { server in
            await #expect(throws: (any Error).self) {
                try await server.connect(subprotocols: ["echo"])
            }
        }
    }
}
