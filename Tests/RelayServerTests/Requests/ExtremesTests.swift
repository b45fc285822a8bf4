import BoundedTesting
import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import StoreEngine
import Testing
import WebSocketIO

@testable import RelayServer

/// Every number that a client, a seed file or a flag can give, at its extremes. `script/fuzz` goes on from here.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct ExtremesTests {
    /// Around every power of two at which some type ends.
    static let integers: [String] = [
        "-1" + String(repeating: "0", count: 40), "-18446744073709551616", "-9223372036854775809",
        "-9223372036854775808", "-9223372036854775807", "-9007199254740993", "-4294967296",
        "-2147483649", "-2147483648", "-2", "-1", "0", "1", "2", "3", "255", "256", "65536",
        "2147483647", "2147483648", "4294967295", "4294967296", "9007199254740993",
        "4611686018427387904", "9223372036854775806", "9223372036854775807",
        "9223372036854775808", "18446744073709551614", "18446744073709551615",
        "18446744073709551616", "1" + String(repeating: "0", count: 400),
    ]
    static let floats: [String] = [
        "-0.0", "4.9e-324", "1e-400", "0.1", "1.7976931348623157e308", "-1.7976931348623157e308",
        "1e309", "-1e400", "1e9223372036854775808",
    ]

    private func tracker() async throws -> EngineUnderTest {
        try await EngineUnderTest(
            sdl: Example.text("tracker.graphql"), handlers: Handlers(),
            seed: """
                {"id":"p1","type":"Person","fields":{"login":"ada"}}
                {"id":"j1","type":"Project","fields":{"key":"relay","title":"Relay","issues":{"refs":["i1","i2","i3"]}}}
                {"id":"i1","type":"Issue","fields":{"title":"1","open":true,"priority":"HIGH"}}
                {"id":"i2","type":"Issue","fields":{"title":"2","open":true,"priority":"LOW"}}
                {"id":"i3","type":"Issue","fields":{"title":"3","open":true,"priority":"LOW"}}
                """)
    }

    private func cursor(_ digits: String) -> String {
        Base64URL.encode(Array("p\(digits)".utf8))
    }

    // MARK: Pages

    @Test func anyPageIsASliceOfTheListOrAnError() async throws {
        let engine = try await tracker()
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let lists = ["issues", "project(key: \"relay\") { issues"]
        for _ in 0..<600 {
            let list = random.pick(lists)
            let arguments = ["first", "last", "after", "before"].compactMap { name in
                switch random.below(4) {
                case 0: nil as String?
                case _ where name == "first" || name == "last":
                    "\(name): \(random.pick(Self.integers))"
                default: "\(name): \"\(cursor(random.pick(Self.integers)))\""
                }
            }
            let page =
                arguments.isEmpty ? list : "\(list)(\(arguments.joined(separator: ", ")))"
            let close = list.hasPrefix("project") ? "}" : ""
            let query = "{ \(page) { edges { node { id } cursor } } \(close) }"
            let result = try await engine.run(query)
            let data = result["data"]?["project"] ?? result["data"]
            guard let edges = data?["issues"]?["edges"]?.array else {
                #expect(result.firstErrorMessage != nil, "seed \(seed): \(query)")
                continue
            }
            let ids = edges.compactMap { $0["node"]?["id"]?.string }.joined(separator: " ")
            #expect("i1 i2 i3".contains(ids), "seed \(seed): \(query)")
        }
    }

    /// One of them once ended the server; the random pages meet it now and then only.
    @Test func everyExtremeCursorHasAPageOrAnError() async throws {
        let engine = try await tracker()
        for digits in Self.integers {
            for page in ["first: 1, after", "last: 1, before", "first: 2147483647, before"] {
                let query = "{ issues(\(page): \"\(cursor(digits))\") { edges { cursor } } }"
                let result = try await engine.run(query)
                let count = result["data"]?["issues"]?["edges"]?.array?.count
                #expect(count.map { $0 <= 3 } ?? (result.firstErrorMessage != nil), "\(query)")
            }
        }
    }

    // MARK: What a request says beyond GraphQL

    @Test func anyEventIsExplainedOrRefused() async throws {
        let engine = try await tracker()
        let subscription = "subscription { issueAdded { issue { id } } }"
        for text in Self.integers + Self.floats {
            for event in [.string(text), try? JSONValue(parsing: text)].compactMap({ $0 }) {
                let result = try await engine.runOrSubscribe(
                    subscription, relay: ["explain": event])
                let isExplained = result.relay?["explain"]?["told"] == false
                #expect(isExplained || result.firstErrorCode == "BAD_USER_INPUT", "\(event)")
            }
        }
    }

    @Test func anyPointOfThePastHasAStateOrIsRefused() async throws {
        let engine = try await tracker()
        let query = "{ issues { edges { cursor } } }"
        let times = [
            "0000-01-01T00:00:00Z", "0000-01-01T00:00:00+23:59", "9999-12-31T23:59:60-23:59",
            "9999-12-31T23:59:59.999999999999999999999999Z",
        ]
        for text in Self.integers + Self.floats + times {
            for at in [.string(text), try? JSONValue(parsing: text)].compactMap({ $0 }) {
                let result = try await engine.run(query, relay: ["at": at])
                let hasState = result["data"]?["issues"]?["edges"]?.array?.count == 3
                #expect(hasState || result.firstErrorCode == "BAD_USER_INPUT", "\(at)")
            }
        }
    }

    @Test func anyCursorOfAStreamIsGoodOrLost() async throws {
        let engine = try await tracker()
        let numbers = [
            "0", "1", "2", "7fffffffffffffff", "8000000000000000", "fffffffffffffffe",
            "ffffffffffffffff", "10000000000000000", "+1", "",
        ]
        let subscription = "subscription { issueAdded { issue { id } } }"
        for epoch in numbers + ["7", "0000000000000007"] {
            for sequence in numbers {
                let result = try await engine.runOrSubscribe(
                    subscription, relay: ["resume": .string("test-\(epoch)-\(sequence)")])
                #expect(result.recovered != nil, "\(epoch) \(sequence)")
            }
        }
    }

    @Test func anyNumberOfAMutationIsCarriedOutOnceOrRefused() async throws {
        let engine = try await tracker()
        for (place, number) in Self.integers.enumerated() {
            let mutation = "mutation { addPerson(input: {login: \"x\(place)\"}) { person { id } } }"
            let id = "c:\(number)"
            let first = try await engine.run(mutation, mutationID: id)
            let again = try await engine.run(mutation, mutationID: id)
            #expect(first["data"] == again["data"], "\(id)")
            #expect(first["data"]?["addPerson"] != nil || first.firstErrorCode != nil, "\(id)")
        }
        let count = try await engine.run("{ node(id: \"p1\") { id } }")
        #expect(count["data"]?["node"]?["id"] == "p1")
    }

    // MARK: Values

    @Test func anyNumberOfAVariableIsTakenAsItIsOrRefused() async throws {
        let engine = try await tracker()
        let mutation = """
            mutation M($n: Float, $k: String!) {
              addIssue(input: {projectId: "j1", title: $k, estimate: $n}) { issue { estimate } }
            }
            """
        for text in Self.integers + Self.floats {
            guard let value = try? JSONValue(parsing: text) else { continue }
            for variable in ["n", "k"] {
                var variables: JSONObject = ["n": 1, "k": "k"]
                variables[variable] = value
                let result = try await engine.run(mutation, variables: variables)
                let estimate = result["data"]?["addIssue"]?["issue"]?["estimate"]
                if variable == "n" {
                    #expect(estimate?.number == value.number, "\(text)")
                } else {
                    #expect(result.firstErrorCode == "BAD_USER_INPUT", "\(text)")
                }
            }
        }
    }

    @Test func anyNumberOfASeedFileIsTakenOrRefused() throws {
        let schema = try ServiceSchema(
            """
            interface Node { id: ID! }
            type Query { node(id: ID!): Node }
            type T implements Node { id: ID! int: Int float: Float! list: [Int!] name: ID }
            """)
        for text in Self.integers + Self.floats {
            for field in ["int", "float", "name"] {
                let line = #"{"id":"a","type":"T","fields":{"float":0,"\#(field)":\#(text)}}"#
                do {
                    let seed = try SeedFile.read(
                        Array(line.utf8), for: schema, timeMicroseconds: .max)
                    #expect(!seed.writes.isEmpty)
                } catch {
                    #expect(error.errors.count >= 1)
                }
            }
        }
    }

    // MARK: Flags

    @Test func aServerWhoseLimitsAreAtTheirHighestServes() async throws {
        try await RunningServer.run({
            $0.limits.waitingMutations = .max
            $0.limits.pastEvents = .max
            $0.limits.recentCommits = .max
            $0.limits.resumeEvents = .max
            $0.limits.engine.document.bytes = .max
            $0.limits.engine.document.tokens = .max
            $0.limits.engine.document.depth = Server.Limits.greatestDepth
            $0.limits.engine.document.aliases = .max
            $0.limits.engine.document.directives = .max
            $0.limits.engine.document.rootFields = .max
            $0.limits.engine.document.complexity = .max
            $0.limits.engine.document.assumedListSize = .max
            $0.limits.connection.messageBytes = .max
            $0.limits.connection.bodyBytes = .max
            $0.limits.connection.queuedBytes = .max
            $0.limits.connection.compressedConnections = .max
            $0.limits.connection.handshakeTimeout = .seconds(Int64.max)
            $0.limits.connection.keepAlive = .seconds(Int64.max)
            $0.limits.connection.writeStuckTimeout = .seconds(Int64.max)
            $0.limits.socket.operations = .max
            $0.limits.socket.requestsInProgress = .max
            $0.limits.socket.requestsPerSecond = .max
            $0.limits.socket.streamQueueBytes = .max
            $0.limits.socket.progressInterval = .seconds(Int64.max)
            $0.limits.socket.initialisationTimeout = .seconds(Int64.max)
        }) { server in
            let query: JSONObject = ["query": "{ user { todos(first: 2) { edges { cursor } } } }"]
            let answered = try await server.post(.object(query))
            #expect(answered.json?["data"]?["user"]?["todos"]?["edges"]?.array?.count == 2)
            #expect(try await server.request(query)["data"] == answered.json?["data"])
            let live = try await server.request(["query": "query @live { user { totalCount } }"])
            #expect(live["data"]?["user"]?["totalCount"] == 2)
            let past = try await server.post(
                ["query": "{ user { totalCount } }", "extensions": ["relay": ["at": 1]]])
            #expect(past.json?["data"]?["user"]?["totalCount"] == 2)
        }
    }

    /// A document as deep as may be is read and refused, or carried out, on the stack of any thread.
    @Test func theGreatestDepthIsNotTooDeep() async throws {
        let depth = Server.Limits.greatestDepth
        try await RunningServer.run({
            // Depth alone is what refuses.
            ($0.limits.documentDepth, $0.limits.documentTokens) = (depth, 1_000_000)
        }) { server in
            for deep in [depth - 10, depth, 10 * depth] {
                let documents = [
                    "{ user " + String(repeating: "{ ... ", count: deep) + "{ id }"
                        + String(repeating: "}", count: deep) + "}",
                    "{ node(id: " + String(repeating: "[", count: deep)
                        + String(repeating: "]", count: deep) + ") { id } }",
                    "query($a: " + String(repeating: "[", count: deep) + "ID"
                        + String(repeating: "]", count: deep) + ") { node(id: $a) { id } }",
                ]
                for (index, document) in documents.enumerated() {
                    let answer = try await server.post(["query": .string(document)])
                    let comment: Comment = "document \(index), \(deep) deep"
                    if deep > depth { #expect(answer.errorCode == "LIMIT_EXCEEDED", comment) }
                    if deep < depth { #expect(answer.errorCode != "LIMIT_EXCEEDED", comment) }
                    // The other two are as deep, and wrong.
                    guard index == 0, deep < depth else { continue }
                    #expect(answer.json?["data"]?["user"]?["id"] != nil, comment)
                }
            }
        }
    }

    @Test(arguments: [Int.min, -1])
    func aLimitThatNothingCanBeServedWithIsNamed(_ number: Int) async throws {
        func start(_ change: (inout Server.Configuration) -> Void) async throws {
            var configuration = Server.Configuration(
                schema: "type Query { a: Int }", storage: .memory)
            configuration.port = 0
            change(&configuration)
            await #expect(throws: ConfigurationError.self) {
                _ = try await Server.start(configuration)
            }
        }
        try await start { $0.limits.recentCommits = number }
        try await start { $0.limits.connections = number }
        try await start { $0.limits.keepAlive = .seconds(number) }
        try await start { $0.limits.documentDepth = Server.Limits.greatestDepth + 1 }
        try await start { $0.loops = number }
        try await start { $0.tokens = ["secret", ""] }
    }

    @Test(arguments: [Int64.min, -1, 0, 1, .max])
    func aReplayPausesAYearAtMostWhateverTheTimesOfItsEvents(_ time: Int64) {
        for other in [Int64.min, -1, 0, 1, .max] {
            for speed in [Double.leastNonzeroMagnitude, 1, .greatestFiniteMagnitude] {
                var pace = ReplayServer.Pace()
                pace.speed = speed
                #expect(
                    (.zero ... .seconds(31_536_000)).contains(pace.pause(from: time, to: other)))
                if other <= time { #expect(pace.pause(from: time, to: other) == .zero) }
                pace.longestPause = .milliseconds(1)
                #expect(pace.pause(from: time, to: other) <= .milliseconds(1))
            }
        }
    }
}

extension JSONValue {
    fileprivate var number: Double? {
        switch self {
        case .int(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }
}
