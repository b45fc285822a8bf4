import BoundedTesting
import EventStore
import Foundation
import HTTPMessages
import RelayJSON
import RelayLink
@_spi(Rooms) import RelayRecords
import Testing
import WebSocketIO

@testable import RelayServer

/// `/log/…`: what is asked, who may ask, and that the answers are what the tools print of the same log.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct HistoryPagesTests {
    private static func lines(_ response: HTTPResponse) -> [String] {
        String(decoding: response.body, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static func text(_ response: HTTPResponse) -> String {
        String(decoding: response.body, as: UTF8.self)
    }

    /// Some mutations on the todo example.
    private static func fill(_ server: RunningServer, _ count: Int) async throws {
        for number in 0..<count {
            let response = try await server.post([
                "query": .string(
                    "mutation { addTodo(input: { text: \"\(number)\" }) { todo { id } } }")
            ])
            #expect(response.status == 200)
        }
        _ = try await server.post([
            "query": .string(
                "mutation { renameTodo(input: { id: \"VG9kbzox\", text: \"x\" }) { todo { id } } }")
        ])
    }

    /// The questions, and what the tools make of the same ones.
    private static let questions: [(path: String, lines: @Sendable (History) throws -> [String])] =
        [
            ("/log/events", { try events($0, EventFilter()) }),
            (
                "/log/events?kind=response,genesis&operation=addTodo",
                { history in
                    var filter = EventFilter()
                    (filter.kinds, filter.operation) = (["response", "genesis"], "addTodo")
                    return try events(history, filter)
                }
            ),
            (
                "/log/events?record=VG9kbzox&where=sequence%20%3E%201",
                { history in
                    var filter = EventFilter()
                    filter.record = "VG9kbzox"
                    filter.condition = try EventCondition(parsing: "sequence > 1", now: 0)
                    return try events(history, filter)
                }
            ),
            ("/log/event?sequence=3", { [try EventDescription(3, in: $0).json.text] }),
            ("/log/event?sequence=@", { [try EventDescription($0.last, in: $0).json.text] }),
            ("/log/state", { Array(try $0.snapshot(at: $0.last).recordLines) }),
            ("/log/state?at=1", { Array(try $0.snapshot(at: 1).recordLines) }),
            (
                "/log/state?record=VG9kbzox&at=1",
                { [try $0.recordLine([BlameTarget(record: "VG9kbzox")], at: 1) ?? ""] }
            ),
            (
                "/log/state?record=VG9kbzox&field=text",
                {
                    [
                        try $0.recordLine(
                            [BlameTarget(record: "VG9kbzox", field: "text")], at: $0.last) ?? ""
                    ]
                }
            ),
            ("/log/blame?record=VG9kbzox", { try blame($0, BlameTarget(record: "VG9kbzox")) }),
            (
                "/log/blame?record=VG9kbzox&field=text",
                { try blame($0, BlameTarget(record: "VG9kbzox", field: "text")) }
            ),
            (
                "/log/blame?record=VXNlcjptZQ%3D%3D",
                { try blame($0, BlameTarget(record: "VXNlcjptZQ==")) }
            ),
            (
                "/log/diff?a=1&b=@",
                { try $0.differences(from: 1, to: $0.last).map(\.json.text) }
            ),
            (
                "/log/diff?a=@&b=1&record=VG9kbzox",
                {
                    try $0.differences(from: $0.last, to: 1, record: "VG9kbzox")
                        .map(\.json.text)
                }
            ),
        ]

    private static func events(_ history: History, _ filter: EventFilter) throws -> [String] {
        let summaries = try history.summaries(in: history.first...history.last)
        var lines: [String] = []
        while let summary = try summaries.next() {
            if filter.admits(summary) { lines.append(summary.json.text) }
        }
        return lines
    }

    private static func blame(_ history: History, _ target: BlameTarget) throws -> [String] {
        let form = BlameLines(target)
        return try history.blame([target])?.entries.map { form.json($0).text } ?? []
    }

    @Test func answersAreWhatTheToolsPrint() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        try await RunningServer.run({ $0.storage = .directory(directory.path) }) { server in
            try await Self.fill(server, 5)
            let history = try History(directory.path)
            for question in Self.questions {
                let response = try await server.send("GET", question.path)
                #expect(response.status == 200, "\(question.path)")
                #expect(response.mediaType == "application/x-ndjson")
                #expect(response.headers["relay-last-event"] == "13")
                #expect(response.headers["relay-first-event"] == "1")
                #expect(response.headers["link"] == nil)
                let lines = try question.lines(history)
                #expect(!lines.isEmpty)
                #expect(Self.lines(response) == lines, "\(question.path)")
            }
            let people = try await server.send(
                "GET", "/log/events?limit=1", headers: ["accept": "text/plain"])
            #expect(people.mediaType == "text/plain")
            #expect(Self.text(people) == (try history.summary(of: 1).line) + "\n")
        }
    }

    /// A log in memory has the same, but no files.
    @Test func theHistoryOfAServerInMemoryIsThere() async throws {
        try await RunningServer.run { server in
            try await Self.fill(server, 2)
            let events = try await server.send("GET", "/log/events")
            #expect(Self.lines(events).count == 7)
            let event = try await server.send("GET", "/log/event?sequence=7")
            let json = try JSONValue(parsing: Self.text(event))
            #expect(json["operation"] == "renameTodo")
            #expect(json["changes"]?.array?.count == 1)
            #expect(json["frame"] == nil)
            let blame = try await server.send("GET", "/log/blame?record=VG9kbzox&field=text")
            #expect(Self.lines(blame).count == 2)
            let state = try await server.send("GET", "/log/state?at=1")
            #expect(Self.lines(state).count == 3)
            let diff = try await server.send("GET", "/log/diff?a=1&b=3")
            #expect(Self.lines(diff).count == 4)
        }
    }

    @Test func pagesLeadToTheNext() async throws {
        try await RunningServer.run { server in
            try await Self.fill(server, 40)
            for path in [
                "/log/events?", "/log/state?", "/log/diff?a=1&b=@&",
                "/log/blame?record=VXNlcjptZQ%3D%3D&",
            ] {
                let whole = try await server.send("GET", path + "limit=10000")
                #expect(whole.headers["link"] == nil)
                var lines: [String] = []
                var next: String? = path + "limit=7"
                while let page = next {
                    let response = try await server.send("GET", page)
                    #expect(response.status == 200)
                    lines += Self.lines(response)
                    next = response.headers["link"].map { link in
                        #expect(link.hasSuffix(">; rel=\"next\""))
                        return String(link.dropFirst().prefix { $0 != ">" })
                    }
                }
                #expect(lines == Self.lines(whole), "\(path)")
            }
            let first = try await server.send("GET", "/log/events")
            #expect(Self.lines(first).count == 83)
        }
    }

    // MARK: What is wrong

    @Test(arguments: [
        "/log/events?limit=0", "/log/events?limit=10001", "/log/events?limit=-1",
        "/log/events?limit=+1", "/log/events?limit=1.5", "/log/events?limit=x",
        "/log/events?limit=99999999999999999999999999", "/log/events?limit=1&limit=1",
        "/log/events?after=x", "/log/events?after=-1", "/log/events?after=99999999999999999999999",
        "/log/events?before=2026-13-01T00:00:00Z", "/log/events?after=%FF", "/log/events?after=%4",
        "/log/events?after=%zz", "/log/events?%FF=1", "/log/events?unknown=1",
        "/log/events?sequence=1",
        "/log/events?kind=nothing", "/log/events?kind=schema&kind=genesis",
        "/log/events?where=(", "/log/events?where=nothing%20==%201",
        "/log/events?where=operation%20matches%20%22(a%2B)%2B$%22", "/log/events?record=%C3%28",
        "/log/event", "/log/event?sequence=", "/log/event?sequence=x", "/log/event?limit=1",
        "/log/state?at=yesterday", "/log/state?field=text", "/log/state?skip=-1",
        "/log/blame", "/log/blame?record=", "/log/blame?record=a&before=@",
        "/log/blame?record=a&optimistic=1",
        "/log/blame?record=a&record=b", "/log/diff", "/log/diff?a=1", "/log/diff?b=1",
        "/log/diff?a=1&b=x", "/log/diff?a=1&b=2&c=3",
    ])
    func wrongParametersAreRefused(_ path: String) async throws {
        try await RunningServer.run { server in
            let response = try await server.send("GET", path)
            #expect(response.status == 400, "\(path): \(Self.text(response))")
            #expect(response.mediaType == "application/json")
            let people = try await server.send("GET", path, headers: ["accept": "text/plain"])
            #expect(people.status == 400)
            #expect(people.mediaType == "text/plain")
            #expect(Self.lines(people) == [response.json?.firstErrorMessage])
        }
    }

    @Test func hostileParametersAreAnswered() async throws {
        try await RunningServer.run { server in
            let most = UInt64.max
            for path in [
                "/log/events?after=\(most)", "/log/events?before=0", "/log/events?before=1",
                "/log/events?after=1&before=1", "/log/events?after=\(most)&before=\(most)",
                "/log/events?where=sequence%20%3C%200", "/log/state?skip=\(most)",
                "/log/blame?record=a&before=0&skip=100000", "/log/blame?record=nobody",
                "/log/diff?a=1&b=1&skip=\(most)", "/log/diff?a=1&b=1",
            ] {
                let response = try await server.send("GET", path)
                #expect(response.status == 200, "\(path)")
                #expect(response.body.isEmpty, "\(path)")
                #expect(response.headers["link"] == nil)
            }
            let long = String(repeating: "%20", count: 4_000)
            for path in [
                "/log/events?record=\(long)", "/log/blame?record=\(long)&before=\(most)",
            ] {
                #expect(try await server.send("GET", path).status == 200)
            }
            let tooLong = String(repeating: "a", count: 20_000)
            #expect(try await server.send("GET", "/log/events?record=\(tooLong)").status == 431)
            for path in [
                "/log/event?sequence=0", "/log/event?sequence=2", "/log/event?sequence=\(most)",
                "/log/event?sequence=@-9", "/log/state?at=0", "/log/state?at=\(most)",
                "/log/state?record=nobody", "/log/state?record=VG9kbzox&field=nothing",
                "/log/diff?a=0&b=1", "/log/diff?a=1&b=2", "/log/diff?a=1&b=2&record=x",
                "/log/state?at=1970-01-01T00:00:00Z", "/log", "/log/", "/log/nothing",
                "/log/events/",
            ] {
                let response = try await server.send("GET", path)
                #expect(response.status == 404, "\(path): \(Self.text(response))")
            }
        }
    }

    /// Every parameter of every page, beside those that are needed.
    @Test func numbersOfAnySizeEndNothing() async throws {
        try await RunningServer.run { server in
            try await Self.fill(server, 5)
            let needed: [String: [String]] = [
                "/log/event": ["sequence=3"], "/log/blame": ["record=VG9kbzox"],
                "/log/diff": ["a=1", "b=3"], "/explorer/records": ["type=Todo"],
                "/explorer/what-if": ["skip=3"],
            ]
            for (path, names) in HistoryRequest.parameters {
                for name in names {
                    for value in [
                        "9223372036854775807", "9223372036854775808", "18446744073709551615",
                        "18446744073709551616", "-1", "1e400", "0", "@-18446744073709551615",
                    ] {
                        let others = (needed[path] ?? []).filter { !$0.hasPrefix(name + "=") }
                        let query = (others + ["\(name)=\(value)"]).joined(separator: "&")
                        let response = try await server.send("GET", "\(path)?\(query)")
                        #expect(
                            [200, 400, 404].contains(response.status), "\(path)?\(query)")
                    }
                }
            }
        }
    }

    @Test func onlyReadingIsAllowed() async throws {
        try await RunningServer.run { server in
            for method in ["POST", "PUT", "DELETE", "PATCH"] {
                let response = try await server.send(method, "/log/events", body: [])
                #expect(response.status == 405, "\(method)")
                #expect(response.headers["allow"] == "GET, HEAD, OPTIONS")
            }
            let head = try await server.send("HEAD", "/log/events")
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
            #expect(head.headers["relay-last-event"] == "1")
            let body = try await server.send("GET", "/log/events", body: Array("{}".utf8))
            #expect(body.status == 200)
        }
    }

    @Test func moreEventsThanTheBudgetAreNotRead() async throws {
        try await RunningServer.run({ $0.limits.pastEvents = 5 }) { server in
            try await Self.fill(server, 40)
            let far = try await server.send("GET", "/log/state?at=60")
            #expect(far.status == 400)
            #expect(
                far.json?.firstErrorMessage?.hasPrefix("60 events would have to be read") == true)
            #expect(try await server.send("GET", "/log/state?at=15").status == 200)
            // A search says how far it has come.
            let search = try await server.send("GET", "/log/events?operation=renameTodo")
            #expect(search.status == 200)
            #expect(search.body.isEmpty)
            #expect(
                search.headers["link"]
                    == "</log/events?operation=renameTodo&after=20>; rel=\"next\"")
        }
    }

    // MARK: Who may ask

    @Test func tokensAreNeededWhereThereAreTokens() async throws {
        try await RunningServer.run({ $0.tokens = ["sesame"] }) { server in
            for path in HistoryRequest.parameters.keys {
                for headers in [[:], ["authorization": "Bearer wrong"]] as [HTTPHeaders] {
                    let response = try await server.send("GET", path, headers: headers)
                    #expect(response.status == 401, "\(path)")
                    #expect(response.headers["www-authenticate"] == "Bearer")
                }
            }
            let response = try await server.send(
                "GET", "/log/events", headers: ["authorization": "Bearer sesame"])
            #expect(response.status == 200)
            #expect(response.headers["cache-control"] == "no-store")
        }
    }

    @Test func viewersNeedTheClaim() async throws {
        let claims: [String: VariableData] = [
            "yes": ["history": true], "list": ["history": ["a"]], "text": ["history": "x"],
            "no": ["history": false], "empty": ["history": ""], "none": ["history": [String]()],
            "other": ["admin": true],
        ]
        for claim in ["history", nil] {
            try await RunningServer.run({ configuration in
                configuration.tokens = ["root"]
                configuration.viewerTokens = [.init(viewer: "bob", token: "bobs")]
                configuration.historyClaim = claim
                configuration.authenticate { headers, _ in
                    guard let name = headers["x-viewer"], let claims = claims[name] else {
                        return nil
                    }
                    return Viewer(id: name, claims: claims)
                }
            }) { server in
                var expected: [(HTTPHeaders, Int)] = [
                    (["authorization": "Bearer root"], 200),
                    (["authorization": "Bearer bobs"], 403),
                    (["authorization": "Bearer wrong"], 401), ([:], 401),
                ]
                for name in claims.keys {
                    let isAllowed = claim != nil && ["yes", "list", "text"].contains(name)
                    expected.append((["x-viewer": name], isAllowed ? 200 : 403))
                }
                for (headers, status) in expected {
                    let response = try await server.send(
                        "GET", "/log/event?sequence=1", headers: headers)
                    #expect(response.status == status, "\(headers)")
                }
            }
        }
    }

    @Test func foreignHostsAreRefused() async throws {
        try await RunningServer.run { server in
            let client = try RawClient(port: server.server.port)
            try client.send("GET /log/events HTTP/1.1\r\nhost: evil.example\r\n\r\n")
            #expect(try await client.read(through: "\r\n").hasPrefix("HTTP/1.1 421 "))
        }
    }

    @Test func pagesOfListedOriginsMayRead() async throws {
        try await RunningServer.run({ $0.allow(origins: ["https://a.example"]) }) { server in
            let preflight = try await server.send(
                "OPTIONS", "/log/events",
                headers: [
                    "origin": "https://a.example", "access-control-request-method": "GET",
                    "access-control-request-headers": "authorization",
                ])
            #expect(preflight.status == 204)
            #expect(preflight.headers["access-control-allow-methods"] == "GET, HEAD, OPTIONS")
            let own = try await server.send(
                "GET", "/log/events", headers: ["origin": "https://a.example"])
            #expect(own.headers["access-control-allow-origin"] == "https://a.example")
            #expect(
                own.headers["access-control-expose-headers"]
                    == "link, relay-first-event, relay-last-event")
            let other = try await server.send(
                "GET", "/log/events", headers: ["origin": "https://b.example"])
            #expect(other.headers["access-control-allow-origin"] == nil)
        }
        try await RunningServer.run { server in
            let response = try await server.send(
                "GET", "/log/events", headers: ["origin": "https://a.example"])
            #expect(response.headers["access-control-allow-origin"] == nil)
        }
    }

    // MARK: Our client

    private static func client(_ server: RunningServer, token: String? = nil) -> HistoryClient {
        HistoryClient(
            ServerAddress(host: "127.0.0.1", port: server.server.port, path: "/graphql"),
            token: token, on: server.loop)
    }

    @Test func theClientFetchesAllPages() async throws {
        try await RunningServer.run({ $0.tokens = ["sesame"] }) { server in
            let mutation: JSONValue = [
                "query": #"mutation { addTodo(input: { text: "é &=?" }) { todo { id } } }"#
            ]
            for _ in 0..<9 {
                _ = try await server.post(mutation, headers: ["authorization": "Bearer sesame"])
            }
            let client = Self.client(server, token: "sesame")
            var lines = 0
            let question = HistoryClient.Question(
                "events", [("limit", "2"), ("where", "operation == addTodo or kind != genesis")])
            try await client.forEachPage(of: question) { page in
                lines += page.lines.count
                return true
            }
            #expect(lines == 18)
            let blame = try await client.blame(record: "VXNlcjptZQ==", field: "todos")
            #expect(blame.count == 10)
            #expect(blame.first?["sequence"] == 19)
            #expect(try await client.blame(record: "VXNlcjptZQ==", limit: 3).count == 3)
            #expect(try await client.blame(record: "nobody") == [])
            let refusal = await #expect(throws: HistoryRefusal.self) {
                try await Self.client(server).blame(record: "VXNlcjptZQ==")
            }
            #expect(refusal?.status == 401)
            #expect(refusal?.description == Authentication.refusal)
        }
    }
}
