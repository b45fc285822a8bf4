import BoundedTesting
import EventStore
import Foundation
import HTTPMessages
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing
import WebSocketIO

@testable import RelayServer

/// What `/explorer/…` answers about the history, against what the tools make of the same log.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct ExplorerHistoryTests {
    private static func lines(_ response: HTTPResponse) -> [String] {
        String(decoding: response.body, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static func ids(_ response: HTTPResponse) throws -> [String] {
        try lines(response).compactMap { try JSONValue(parsing: $0)["id"]?.string }
    }

    private static func mutate(_ server: RunningServer, _ text: String) async throws {
        let response = try await server.post(["query": .string("mutation { \(text) }")])
        #expect(response.json?["errors"] == nil, "\(text)")
    }

    /// Five todos more, of which one is renamed and one is removed.
    private static func run(
        _ body: (RunningServer, History) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        try await RunningServer.run({ $0.storage = .directory(directory.path) }) { server in
            for number in 0..<5 {
                try await mutate(
                    server, "addTodo(input: { text: \"\(number)\" }) { todo { id } }")
            }
            try await mutate(
                server, #"renameTodo(input: { id: "VG9kbzox", text: "x" }) { todo { id } }"#)
            try await mutate(
                server, #"removeTodo(input: { id: "VG9kbzow" }) { deletedTodoId }"#)
            try await body(server, try History(directory.path))
        }
    }

    /// All pages, following their links.
    private static func all(_ server: RunningServer, _ path: String) async throws -> [String] {
        var lines: [String] = []
        var next: String? = path
        while let page = next {
            let response = try await server.send("GET", page)
            #expect(response.status == 200, "\(page)")
            lines += Self.lines(response)
            next = response.headers["link"].map { String($0.dropFirst().prefix { $0 != ">" }) }
        }
        return lines
    }

    @Test func typesAreCounted() async throws {
        try await Self.run { server, history in
            for at in [1, 3, history.last] {
                let response = try await server.send("GET", "/explorer/types?at=\(at)")
                let records = try history.snapshot(at: at).recordLines
                    .map { try JSONValue(parsing: $0)["type"]?.string ?? "" }
                let counts = Dictionary(grouping: records) { $0 }.sorted { $0.key < $1.key }
                    .map { #"{"type":"\#($0.key)","count":\#($0.value.count)}"# }
                #expect(Self.lines(response) == counts, "\(at)")
            }
            let now = try await server.send("GET", "/explorer/types")
            #expect(
                Self.lines(now) == [
                    #"{"type":"Todo","count":6}"#, #"{"type":"User","count":1}"#,
                ])
            #expect(now.mediaType == "application/x-ndjson")
            #expect(now.headers["relay-last-event"] == String(history.last))
        }
    }

    @Test func recordsAreThoseOfTheState() async throws {
        try await Self.run { server, history in
            for at in [1, 5, history.last] {
                let todos = try history.snapshot(at: at).recordLines
                    .filter { $0.contains(#""type":"Todo""#) }
                let path = "/explorer/records?type=Todo&at=\(at)"
                let oldest = try await server.send("GET", path)
                #expect(Self.lines(oldest) == Array(todos), "\(at)")
                let newest = try await server.send("GET", path + "&order=newest")
                #expect(Self.lines(newest) == todos.reversed())
                for order in ["oldest", "newest"] {
                    let paged = try await Self.all(server, path + "&limit=2&order=\(order)")
                    #expect(paged == (order == "oldest" ? Array(todos) : todos.reversed()))
                    // As the page does it: the last id that it has.
                    let first = try await server.send("GET", path + "&limit=1&order=\(order)")
                    let id = try #require(try Self.ids(first).first)
                    let rest = try await server.send(
                        "GET", path + "&order=\(order)&after=\(id.percentEncoded)")
                    #expect(Self.lines(first) + Self.lines(rest) == paged)
                }
            }
        }
    }

    /// One that is not there is no mistake: it comes and goes as the time is changed.
    @Test func aRecordIsThereOrNot() async throws {
        try await Self.run { server, history in
            for (id, at, isThere) in [
                ("VG9kbzow", 1, true), ("VG9kbzow", Int(history.last), false),
                ("VG9kbzox", Int(history.last), true), ("<img src=x>\u{202e}", 1, false),
            ] {
                let response = try await server.send(
                    "GET", "/explorer/records?id=\(id.percentEncoded)&at=\(at)")
                #expect(response.status == 200)
                let line = try history.recordLine([BlameTarget(record: id)], at: UInt64(at))
                #expect((line != nil) == isThere)
                #expect(Self.lines(response) == [line].compactMap(\.self))
            }
        }
    }

    @Test func recordsAreFilteredByAField() async throws {
        try await Self.run { server, _ in
            for (field, value, count) in [
                ("text", #""x""#, 1), ("text", #""Buy a unicorn""#, 0), ("text", "1", 0),
                ("complete", "false", 6), ("complete", "true", 0), ("complete", "null", 0),
                ("nothing", "null", 0), ("text", #"{"ref":"x"}"#, 0),
            ] {
                let response = try await server.send(
                    "GET",
                    "/explorer/records?type=Todo&field=\(field)&value=\(value.percentEncoded)")
                #expect(response.status == 200)
                #expect(Self.lines(response).count == count, "\(field) \(value)")
            }
            let paged = try await Self.all(
                server, "/explorer/records?type=Todo&limit=2&field=complete&value=false")
            #expect(paged.count == 6)
            let old = try await server.send(
                "GET",
                "/explorer/records?type=Todo&at=1&field=text&value=%22Buy%20a%20unicorn%22")
            #expect(try Self.ids(old) == ["VG9kbzox"])
            let none = try await server.send("GET", "/explorer/records?type=Nothing")
            #expect(none.status == 200 && none.body.isEmpty)
        }
    }

    @Test func whatIfIsThatOfTheTool() async throws {
        try await Self.run { server, history in
            for skipped in [[2], [3], [12], [2, 12]] as [[UInt64]] {
                let expected = try history.whatIf(skipping: Set(skipped)).map(\.json.text)
                #expect(!expected.isEmpty)
                let list = skipped.map(String.init).joined(separator: ",")
                let path = "/explorer/what-if?skip=\(list)"
                #expect(try await Self.all(server, path) == expected, "\(list)")
                #expect(try await Self.all(server, path + "&limit=1") == expected, "\(list)")
            }
            let people = try await server.send(
                "GET", "/explorer/what-if?skip=12", headers: ["accept": "text/plain"])
            #expect(
                Self.lines(people) == (try history.whatIf(skipping: [12]).map(\.line)))
        }
    }

    @Test(arguments: [
        "/explorer/types?limit=1", "/explorer/types?at=x", "/explorer/types?at=1&at=2",
        "/explorer/records", "/explorer/records?id=", "/explorer/records?id=a&type=Todo",
        "/explorer/records?id=a&after=b", "/explorer/records?id=a&id=b", "/explorer/records?type=",
        "/explorer/records?type=Todo&limit=0",
        "/explorer/records?type=Todo&limit=10001", "/explorer/records?type=Todo&order=up",
        "/explorer/records?type=Todo&field=text", "/explorer/records?type=Todo&value=1",
        "/explorer/records?type=Todo&field=text&value=%7B", "/explorer/records?type=Todo&skip=1",
        "/explorer/records?type=Todo&field=text&value=x", "/explorer/records?type=%FF",
        "/explorer/what-if", "/explorer/what-if?skip=", "/explorer/what-if?skip=x",
        "/explorer/what-if?skip=1,", "/explorer/what-if?skip=-1", "/explorer/what-if?skip=@",
        "/explorer/what-if?skip=1&skip=2", "/explorer/what-if?skip=2&from=x",
        "/explorer/what-if?skip=99999999999999999999999", "/explorer/groups?limit=0",
        "/explorer/groups?at=1",
    ])
    func wrongParametersAreRefused(_ path: String) async throws {
        try await RunningServer.run { server in
            let response = try await server.send("GET", path)
            #expect(response.status == 400, "\(path)")
            #expect(response.json?.firstErrorMessage != nil)
        }
    }

    @Test func hostileParametersAreAnswered() async throws {
        try await RunningServer.run { server in
            let most = UInt64.max
            for path in [
                "/explorer/types?at=\(most)", "/explorer/types?at=0",
                "/explorer/records?type=Todo&at=\(most)",
                "/explorer/records?type=Todo&after=nobody",
                "/explorer/what-if?skip=\(most)", "/explorer/what-if?skip=0",
                "/explorer/what-if?skip=1", "/explorer/what-if?skip=2", "/explorer/nothing",
                "/explorer/", "/explorer/types/",
            ] {
                #expect(try await server.send("GET", path).status == 404, "\(path)")
            }
            // One of another type is a place in the order, too.
            let other = try await server.send(
                "GET", "/explorer/records?type=Todo&after=VXNlcjptZQ%3D%3D")
            #expect(try Self.ids(other) == ["VG9kbzow", "VG9kbzox"])
            let long = String(repeating: "%5B", count: 4_000)
            let deep = try await server.send(
                "GET", "/explorer/records?type=Todo&field=a&value=\(long)")
            #expect(deep.status == 400)
            let many = (2..<3_000).map(String.init).joined(separator: ",")
            #expect(
                try await server.send("GET", "/explorer/what-if?skip=\(many)").status == 404)
            for path in ["/explorer/types", "/explorer/records", "/explorer/what-if"] {
                let response = try await server.send("POST", path, body: [])
                #expect(response.status == 405)
            }
        }
    }

    @Test func moreEventsThanTheBudgetAreNotFolded() async throws {
        try await RunningServer.run({ $0.limits.pastEvents = 3 }) { server in
            for number in 0..<10 {
                try await Self.mutate(
                    server, "addTodo(input: { text: \"\(number)\" }) { todo { id } }")
            }
            for path in [
                "/explorer/what-if?skip=2", "/explorer/types?at=15",
                "/explorer/records?type=Todo&at=15",
            ] {
                let response = try await server.send("GET", path)
                #expect(response.status == 400, "\(path)")
            }
        }
    }

    /// As with `/log/…`: they show everything.
    @Test func theHistoryIsForThoseWhoMaySeeEverything() async throws {
        try await RunningServer.run({ configuration in
            configuration.tokens = ["root"]
            configuration.viewerTokens = [.init(viewer: "bob", token: "bobs")]
        }) { server in
            for path in [
                "/explorer/types", "/explorer/records?type=Todo", "/explorer/what-if?skip=2",
            ] {
                for (headers, allowed) in [
                    ([:], 401), (["authorization": "Bearer x"], 401),
                    (["authorization": "Bearer bobs"], 403),
                    (["authorization": "Bearer root"], nil),
                ] as [(HTTPHeaders, Int?)] {
                    let response = try await server.send("GET", path, headers: headers)
                    let expected = allowed ?? (path.contains("what-if") ? 404 : 200)
                    #expect(response.status == expected, "\(path)")
                }
            }
        }
    }
}
