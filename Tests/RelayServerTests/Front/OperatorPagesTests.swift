import HTTPMessages
import RelayJSON
import Testing
import WebSocketIO

@testable import RelayServer

@Suite(.bounded, .timeLimit(.minutes(10)))
struct OperatorPagesTests {
    @Test func healthAndReadinessNeedNoToken() async throws {
        try await RunningServer.run({ $0.tokens = ["sesame"] }) { server in
            for path in ["/healthz", "/readyz"] {
                #expect(try await server.send("GET", path).status == 200)
                for method in ["PUT", "PATCH", "DELETE", "OPTIONS"] {
                    let response = try await server.send(method, path)
                    #expect(response.status == 405, "\(method) \(path)")
                    #expect(response.headers["allow"] == "GET, HEAD")
                }
            }
        }
    }

    @Test func thereIsNothingElsewhere() async throws {
        try await RunningServer.run { server in
            for path in ["/index.html", "/explorer", "/graphql/", "/graphqlx", "/favicon.ico"] {
                let response = try await server.send("GET", path)
                #expect(response.status == 404)
            }
        }
    }

    @Test func metricsNeedATokenWhereThereAreTokens() async throws {
        try await RunningServer.run({ $0.tokens = ["sesame"] }) { server in
            let refusal = try await server.send("GET", "/metrics")
            #expect(refusal.status == 401)
            #expect(refusal.headers["www-authenticate"] == "Bearer")
            let response = try await server.send(
                "GET", "/metrics", headers: ["authorization": "Bearer sesame"])
            #expect(response.status == 200)
        }
    }

    @Test func knownViewersMayNotSeeMetrics() async throws {
        try await RunningServer.run({
            $0.tokens = ["sesame"]
            $0.viewerTokens = [.init(viewer: "bob", token: "bobs")]
        }) { server in
            for (token, status) in [("bobs", 403), ("wrong", 401), ("sesame", 200)] {
                let response = try await server.send(
                    "GET", "/metrics", headers: ["authorization": "Bearer \(token)"])
                #expect(response.status == status, "\(token)")
                let text = String(decoding: response.body, as: UTF8.self)
                #expect(text.contains("unnamed token") == (status == 403))
            }
            #expect(try await server.send("GET", "/metrics").status == 401)
        }
    }

    @Test func metricsCountWhatHappens() async throws {
        try await RunningServer.run { server in
            _ = try await server.post(["query": "{ __typename }"])
            _ = try await server.post([
                "query": #"mutation { addTodo(input: { text: "x" }) { todo { id } } }"#
            ])
            _ = try await server.post(["query": "{ nothing }"])
            _ = try await server.request(["query": "subscription { user { totalCount } }"])
            let metrics = try await server.metrics()
            #expect(metrics["relay_operations_total{kind=\"query\"}"] == "1")
            #expect(metrics["relay_operations_total{kind=\"mutation\"}"] == "1")
            #expect(metrics["relay_operations_total{kind=\"subscription\"}"] == "1")
            #expect(metrics["relay_refusals_total"] == "1")
            #expect(metrics["relay_publications_total"] == "1")
            #expect(metrics["relay_deliveries_total"] == "1")
            #expect(metrics["relay_commits_total"] == "1")
            #expect(metrics["relay_executions_total"] == "1")
            #expect(metrics["relay_executions_saved_total"] == "0")
            #expect(metrics["relay_lag_events"] == "0")
            #expect(metrics["relay_queue_bytes"] == "0")
            #expect(Double(metrics["relay_fold_seconds_total"] ?? "") ?? 0 > 0)
            #expect(metrics["relay_sequence"] == "3")
            #expect(metrics["relay_records"] == "4")
            #expect(metrics["relay_waiting_mutations"] == "0")
            #expect(Int(metrics["relay_connections"] ?? "") ?? 0 >= 1)
        }
    }

    @Test func metricsCountWhatRulesHideAndRefuse() async throws {
        try await RunningServer.run({ configuration in
            configuration.schema = AccessUnderTest.schema
            configuration.seed = Array(
                """
                {"id":"ann","type":"Person","fields":{"login":"ann"}}
                {"id":"shut","type":"Project","fields":{"name":"Shut","public":false,"owner":{"ref":"ann"},"members":{"refs":["ann"]},"issues":{"refs":[]},"issueList":{"refs":[]}}}
                {"id":"open","type":"Project","fields":{"name":"Open","public":true,"owner":{"ref":"ann"},"members":{"refs":[]},"issues":{"refs":[]},"issueList":{"refs":[]}}}
                """.utf8)
            configuration.tokens = ["root"]
            configuration.viewerTokens = [.init(viewer: "bob", token: "bobs")]
        }) { server in
            for (token, query) in [
                ("Bearer bobs", "{ projects { edges { node { name } } } }"),
                ("Bearer bobs", "{ project(name: \"Shut\") { name } }"),
                ("Bearer bobs", "{ person(login: \"ann\") { email } }"),
                ("Bearer bobs", "{ adminIssues { title } }"), (nil, "{ adminIssues { title } }"),
                (
                    "Bearer bobs",
                    "mutation { updateProject(input: { id: \"open\", name: \"X\" }) { project { name } } }"
                ),
                ("Bearer root", "{ projects { edges { node { name } } } adminIssues { title } }"),
            ] as [(String?, String)] {
                _ = try await server.post(
                    ["query": .string(query)],
                    headers: token.map { ["authorization": $0] } ?? [:])
            }
            let expected = [
                #"relay_access_hidden_total{exit="list"} 1"#,
                #"relay_access_hidden_total{exit="lookup"} 1"#,
                #"relay_access_refusals_total{code="FORBIDDEN",of="field"} 1"#,
                #"relay_access_refusals_total{code="FORBIDDEN",of="root"} 1"#,
                #"relay_access_refusals_total{code="UNAUTHENTICATED",of="root"} 1"#,
                #"relay_access_refusals_total{code="FORBIDDEN",of="mutation"} 1"#,
            ]
            var lines: [String] = []
            // An answer may be on its way before the execution is gone, which counts at its end.
            _ = try? await eventually("the counts of rules") {
                let page = try await server.send(
                    "GET", "/metrics", headers: ["authorization": "Bearer root"])
                lines = String(decoding: page.body, as: UTF8.self).split(separator: "\n")
                    .map(String.init)
                    .filter { $0.hasPrefix("relay_access_") && !$0.hasSuffix(" 0") }
                return lines == expected ? true : nil
            }
            #expect(lines == expected)
        }
    }

    @Test func metricsAreWellFormed() async throws {
        try await RunningServer.run { server in
            let response = try await server.send("GET", "/metrics")
            #expect(
                response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            let text = String(decoding: response.body, as: UTF8.self)
            #expect(text.hasSuffix("\n"))
            for line in text.split(separator: "\n") where !line.hasPrefix("#") {
                let parts = line.split(separator: " ")
                #expect(parts.count == 2 && Double(parts[1]) != nil, "\(line)")
                let name = parts[0].prefix { $0 != "{" }
                #expect(text.contains("# TYPE \(name) "), "\(line)")
            }
        }
    }
}

extension RunningServer {
    /// The values by their names.
    func metrics() async throws -> [String: String] {
        let text = String(decoding: try await send("GET", "/metrics").body, as: UTF8.self)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        return Dictionary(
            lines.compactMap { line in
                line.lastIndex(of: " ").map {
                    (String(line[..<$0]), String(line[line.index(after: $0)...]))
                }
            }, uniquingKeysWith: { first, _ in first })
    }
}
