import EventLog
import EventStore
import HTTPMessages
import PostgreSQLTesting
import RelayJSON
import SharedJournal
import Testing
import WebSocketIO

@testable import Cluster
@testable import RelayServer
@testable import StoreEngine

/// Servers on one journal in PostgreSQL, asked over the network.
@Suite(.bounded, .needsPostgreSQL, .timeLimit(.minutes(10)), .serialized)
struct ClusterServerTests {
    private let database: PostgreSQLServer

    init() throws { database = try PostgreSQLServer.shared.get() }

    /// Runs so many servers, and stops them.
    private func cluster(
        _ count: Int, _ change: @escaping ServedCluster.Change = { _, _ in },
        _ body: (ServedCluster) async throws -> Void
    ) async throws {
        let url = database.url(schema: PostgreSQLServer.newSchema())
        let cluster = try ServedCluster(url, change: change)
        do {
            for number in 0..<count { try await cluster.start(number) }
            try await body(cluster)
        } catch {
            await cluster.stop()
            throw error
        }
        await cluster.stop()
    }

    private static func addTodo(_ text: String) -> String {
        #"mutation { addTodo(input: { text: "\#(text)" }) { todo { id text } } }"#
    }

    private static let texts = "{ user { todos { edges { node { text } } } } }"

    private static func texts(in answer: JSONValue?) -> [String]? {
        answer?["data"]?["user"]?["todos"]?["edges"]?.array?
            .compactMap { $0["node"]?["text"]?.string }
    }

    @Test func everyServerTakesMutationsAndSeesThem() async throws {
        try await cluster(3) { cluster in
            var newest: String?
            for number in 0..<3 {
                let server = try cluster.server(number)
                let answer = try await server.post(["query": .string(Self.addTodo("\(number)"))])
                #expect(answer.json?["data"]?["addTodo"]?["todo"]?["text"] == .string("\(number)"))
                newest = answer.cursor
                // Who asks the same server next sees it.
                let seen = Self.texts(
                    in: try await server.post(["query": .string(Self.texts)]).json)
                #expect(seen?.suffix(number + 1) == (0...number).map { "\($0)" }[...])
            }
            for number in 0..<3 {
                let relay: JSONValue = ["atLeast": .string(try #require(newest))]
                let answer = try await cluster.server(number).post([
                    "query": .string(Self.texts), "extensions": ["relay": relay],
                ])
                #expect(Self.texts(in: answer.json)?.suffix(3) == ["0", "1", "2"])
            }
        }
    }

    @Test func mistakesAreToldTheSameEverywhere() async throws {
        try await cluster(2) { cluster in
            try await cluster.leader()
            let wrong = [
                "mutation { addTodo(input: {}) { todo { id } } }",
                #"mutation { changeTodoStatus(input: { id: "x", complete: true }) { todo { id } } }"#,
                #"mutation { removeTodo(input: { id: "me" }) { deletedId } }"#,
            ]
            for text in wrong {
                var answers: [HTTPResponse] = []
                for number in 0..<2 {
                    answers.append(
                        try await cluster.server(number).post(
                            ["query": .string(text)], accept: "application/graphql-response+json"))
                }
                #expect(answers[0].status == answers[1].status, "\(text)")
                #expect(answers[0].json?["errors"] == answers[1].json?["errors"], "\(text)")
                #expect(answers[0].json?["errors"] != nil)
            }
        }
    }

    @Test func theNextOneLeadsWhenTheLeaderStops() async throws {
        try await cluster(3) { cluster in
            let first = try await cluster.leader()
            let others = [0, 1, 2].filter { $0 != first }
            let id: JSONValue = ["relay": ["mutationId": "c:1"]]
            let request: JSONValue = ["query": .string(Self.addTodo("once")), "extensions": id]
            let before = try await cluster.server(others[0]).post(request)
            #expect(before.json?["data"]?["addTodo"] != nil)
            await cluster.stop(first)
            // Sent again to another server, it is carried out once.
            let after = try await cluster.server(others[1]).post(request)
            #expect(after.json?["data"] == before.json?["data"])
            let more = try await cluster.server(others[0]).post(
                ["query": .string(Self.addTodo("more"))])
            #expect(more.json?["data"]?["addTodo"] != nil)
            try await cluster.start(first)
            let cursor = try #require(more.cursor)
            let seen = try await cluster.server(first).post([
                "query": .string(Self.texts),
                "extensions": ["relay": ["atLeast": .string(cursor)]],
            ])
            #expect(Self.texts(in: seen.json)?.suffix(2) == ["once", "more"])
            let statuses = try await eventually("equal hashes") {
                let nodes = try cluster.nodes()
                let states = Set(nodes.compactMap(\.node.state))
                return nodes.count == 3 && states.count == 1
                    && nodes.allSatisfy { $0.node.state?.sequence == nodes[0].node.sequence }
                    ? nodes : nil
            }
            #expect(statuses.count(where: { $0.node.role == .writer }) == 1)
        }
    }

    @Test func aSubscriptionMovesToAnotherServer() async throws {
        try await cluster(2) { cluster in
            let leader = try await cluster.leader()
            let subscription = "subscription { todoAdded { todo { text } } }"
            func add(_ numbers: Range<Int>) async throws {
                for number in numbers {
                    _ = try await cluster.server(number % 2).post(
                        ["query": .string(Self.addTodo("\(number)"))])
                }
            }
            func text(_ event: JSONValue) -> String? {
                event["data"]?["todoAdded"]?["todo"]?["text"]?.string
            }
            let first = try await cluster.server(leader).events(
                ["query": .string(subscription)], count: 3
            ) { try await add(0..<3) }
            #expect(first.map(text) == ["0", "1", "2"])
            try await add(3..<5)
            let cursor = try #require(first.last?["extensions"]?["relay"]?["cursor"])
            let rest = try await cluster.server(1 - leader).events(
                ["query": .string(subscription), "extensions": ["relay": ["resume": cursor]]],
                count: 4
            ) { try await add(5..<7) }
            #expect(rest.map(text) == ["3", "4", "5", "6"])
        }
    }

    /// Todos are made by viewers only, and one has a token.
    private static let withRules: ServedCluster.Change = { _, configuration in
        let rules = """
            extend schema @access(default: OPEN)
            extend type Todo @access(read: { all: [] }, create: { viewer: true })
            """
        configuration.viewerTokens = [.init(viewer: "u1", token: "secret-1")]
        configuration.add(schema: rules, name: "access.graphql")
    }

    /// Rules are judged by who leads, for whoever has asked another server.
    @Test func whoAsksStaysTheSame() async throws {
        try await cluster(2, Self.withRules) { cluster in
            let leader = try await cluster.leader()
            for number in [1 - leader, leader] {
                let server = try cluster.server(number)
                let request: JSONValue = ["query": .string(Self.addTodo("mine"))]
                let nobody = try await server.post(request)
                #expect(nobody.errorCode == "UNAUTHENTICATED", "server \(number)")
                let known = try await server.post(
                    request, headers: ["authorization": "Bearer secret-1"])
                #expect(known.errorCode == nil && known.json?["data"] != nil, "server \(number)")
            }
        }
    }

    /// A document that a server has accepted by its id is carried out by one that has no such id.
    @Test func persistedMutationsAreHandedOn() async throws {
        try await cluster(2) { number, configuration in
            configuration.usePersistedOperations(
                ["add-\(number)": Self.addTodo("persisted \(number)")], isExclusive: true)
        } _: { cluster in
            try await cluster.leader()
            for number in 0..<2 {
                let server = try cluster.server(number)
                let answer = try await server.post(["documentId": .string("add-\(number)")])
                let text = answer.json?["data"]?["addTodo"]?["todo"]?["text"]
                #expect(text?.string == "persisted \(number)")
                let other = try await server.post(["query": .string(Self.addTodo("x"))])
                #expect(other.json?["errors"] != nil)
            }
        }
    }

    /// Only servers of the cluster may say for whom they ask.
    @Test func nobodyElseSpeaksForOthers() async throws {
        try await cluster(1) { _, configuration in
            configuration.viewerTokens = [.init(viewer: "u1", token: "secret-1")]
        } _: { cluster in
            let server = try cluster.server(0)
            let forged: HTTPHeaders = [
                "authorization": "Bearer " + String(repeating: "0", count: 64)
            ]
            await #expect(throws: IOError.self) { try await server.connect(headers: forged) }
        }
    }

    /// Servers hand mutations to who leads, with who asks, and nothing else.
    @Test func aServerTakesMutationsOfAnotherIfItLeads() async throws {
        try await cluster(2) { cluster in
            let leader = try await cluster.leader()
            let headers = try cluster.key().headers
            func code(of text: String, identity: JSONValue?, at number: Int) async throws -> String?
            {
                var payload: JSONObject = ["query": .string(text)]
                payload["identity"] = identity
                let server = try cluster.server(number)
                return try await server.request(payload, headers: headers).firstErrorCode
            }
            let mutation = Self.addTodo("handed on")
            let anybody: JSONValue = ["kind": "unrestricted"]
            #expect(try await code(of: mutation, identity: anybody, at: leader) == nil)
            #expect(
                try await code(of: mutation, identity: anybody, at: 1 - leader) == "NOT_LEADING")
            #expect(try await code(of: mutation, identity: nil, at: leader) == "BAD_USER_INPUT")
            #expect(
                try await code(of: Self.texts, identity: anybody, at: leader) == "BAD_USER_INPUT")
        }
    }

    /// Whoever asks has no say in who that is.
    @Test func aClientsIdentityIsNotWhatItSays() async throws {
        try await cluster(2, Self.withRules) { cluster in
            try await cluster.leader()
            for number in 0..<2 {
                for identity: JSONValue in [
                    ["kind": "unrestricted"], ["kind": "viewer", "id": "u1", "claims": [:]],
                ] {
                    let answer = try await cluster.server(number).request(
                        ["query": .string(Self.addTodo("forged")), "identity": identity])
                    #expect(answer.firstErrorCode == "UNAUTHENTICATED", "server \(number)")
                }
            }
        }
    }

    /// What a client may send, its server can hand on, and nobody else notices.
    @Test func deepValuesAreHandedOn() async throws {
        try await cluster(2) { cluster in
            let follower = try cluster.server(1 - (try await cluster.leader()))
            var deep = JSONValue.int(1)
            for _ in 0..<510 { deep = .array([deep]) }
            let relay: JSONValue = ["mutationId": "c:1"]
            let answer = try await follower.post([
                "query": .string(Self.addTodo("deep")), "variables": ["unused": deep],
                "extensions": ["relay": relay],
            ])
            #expect(answer.status == 200 && answer.errorCode == nil)
            let next = try await follower.post(["query": .string(Self.addTodo("next"))])
            #expect(next.errorCode == nil)
        }
    }

    /// A server alone would acknowledge what the journal never has.
    @Test func aCopyIsServedWithItsJournalOnly() async throws {
        try await cluster(1) { cluster in
            await cluster.stop(0)
            let alone = Server.Configuration(
                schema: try Example.text("todo.graphql"), storage: .directory(cluster.path(0)))
            let error = await #expect(throws: ConfigurationError.self) {
                try await Server.start(alone)
            }
            #expect(error?.description.contains("--journal") == true)
            try await cluster.start(0)
        }
    }

    @Test func aServerTellsItsPartInTheCluster() async throws {
        try await cluster(2) { cluster in
            try await cluster.leader()
            let answer = try await cluster.server(0).send("GET", "/readyz")
            #expect(answer.status == 200)
            let metrics = try await cluster.server(0).send("GET", "/metrics")
            let text = String(decoding: metrics.body, as: UTF8.self)
            for line in [
                "relay_role{role=", "relay_term ", "relay_lag_events 0", "relay_failovers_total ",
            ] {
                #expect(text.contains(line), "\(line)")
            }
        }
    }

    /// Servers are upgraded one after another: the schema in the log is that of who leads.
    @Test func theLeadersSchemaIsInTheLog() async throws {
        try await cluster(2) { number, configuration in
            if number == 1 {
                configuration.add(schema: "extend type Todo { note: String }", name: "note.graphql")
            }
        } _: { cluster in
            for _ in 0..<2 {
                let leader = try await cluster.leader()
                let server = try cluster.server(leader)
                let answer = try await server.post(["query": .string(Self.addTodo("a"))])
                #expect(answer.json?["data"]?["addTodo"] != nil)
                let noted = try await cluster.server(1).post(
                    ["query": "{ user { todos(last: 1) { edges { node { note } } } } }"])
                #expect(noted.json?["errors"] == nil)
                let schema = try cluster.schemaInTheLog(of: leader)
                #expect(schema.contains("note: String") == (leader == 1))
                await cluster.stop(leader)
                if leader == 1 { break }
                _ = try await cluster.leader()
            }
        }
    }
}
