import Foundation
import RelayJSON
import Testing

/// `relay bench`, at sizes that take no time.
@Suite(.bounded)
struct BenchTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test func aMadeUpLogIsTheSameEveryTimeAndAHistoryLikeAnyOther() async throws {
        let numbers = ["--events", "1000", "--records", "40"]
        func make(_ name: String, _ options: String...) async throws -> JSONValue {
            let child = try sandbox.start(
                ["bench", "log", sandbox.path(name), "--json"] + numbers + options)
            return try JSONValue(parsing: try #require(await child.finish().output.first))
        }
        let first = try await make("data")
        #expect(first["sequence"] == 1000 && first["records"] == 41)
        #expect(try await make("second", "--checkpoint", "900")["head"] == first["head"])
        #expect(try await make("other", "--seed", "2")["head"] != first["head"])

        let verified = try await sandbox.json("log", "verify", sandbox.path("second"), "--deep")
        #expect(
            verified.first?["intact"] == true && verified.first?["head"]?["hash"] == first["head"])
        let stats = try await sandbox.json("log", "stats", sandbox.path("second"))
        #expect(stats.first?["checkpoints"]?.array?.count == 1)
        let measures = try await sandbox.json("bench", "open", sandbox.path("second"))
        #expect(measures.map { $0["measure"] } == ["open_ms", "refold_ms", "peak_memory_mib"])
        let server = try await sandbox.serve()
        #expect(
            try await server.data("{ user { totalCount } }") == ["user": ["totalCount": 40]])
        #expect(try await server.stop() == .code(0))
    }

    @Test func aLogIsNeverMadeOverAnother() async throws {
        _ = try sandbox.write("mine", to: "file")
        let finished = try await sandbox.relay("bench", "log", sandbox.directory)
        #expect(finished.exit == .code(1) && finished.errors.count == 1, "\(finished)")
    }

    @Test func appendsAreMeasuredAndNothingIsLeftBehind() async throws {
        let measures = try await sandbox.json(
            "bench", "append", "--bytes", "256", "--batch", "8", "--seconds", "0.05", "--data",
            sandbox.directory)
        #expect(
            measures.map { $0["measure"] } == ["append_events_per_s", "append_batch_p99_us"])
        #expect(measures.map { $0["unit"] } == ["events/s", "us"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.directory) == [])
    }

    /// So many rows are made and so many bytes written, however many there are.
    @Test func aKeyCostsTheSameOnALongList() async throws {
        func costs(_ rows: String) async throws -> [JSONValue] {
            try await sandbox.json("bench", "screen", "--rows", rows).map {
                .object([
                    "measure": $0["measure"] ?? .null, "rowsMade": $0["rowsMade"] ?? .null,
                    "bytes": $0["bytes"] ?? .null,
                ])
            }
        }
        let (few, many) = (try await costs("100"), try await costs("10000"))
        #expect(few.count == 3 && few == many, "\(few)")
    }

    @Test(arguments: [["--subscribers", "5"], ["--subscribers", "5", "--rate", "200"]])
    func commitsAreSeenToReachEverySubscriber(_ options: [String]) async throws {
        let server = try await sandbox.serve()
        let measures = try await bench(["fanout", server.url] + options)
        #expect(
            measures.map { $0["measure"] } == [
                "deliveries_per_s", "delivery_mean_ms", "delivery_p50_ms", "delivery_p99_ms",
                "lost",
            ])
        #expect(measures[0]["value"] != .double(0) && measures[4]["value"] == .double(0))
        #expect(measures.allSatisfy { $0["subscribers"] == 5 })
        #expect(try await server.stop() == .code(0))
    }

    @Test func liveQueriesAreSeenToReachTheirLastState() async throws {
        let server = try await sandbox.serve()
        let measures = try await bench(
            ["live", server.url, "--queries", "20", "--connections", "4", "--rate", "500"])
        #expect(measures.map { $0["measure"] }.last == "lost")
        #expect(measures[0]["value"] != .double(0) && measures[4]["value"] == .double(0))
    }

    @Test func mutationsAreMeasuredBesideQueriesWithATokenToo() async throws {
        let server = try await sandbox.serve("--token", "secret")
        let options = ["mutate", server.url, "--connections", "3", "--in-flight", "2"]
        let measures = try await bench(options + ["--token", "secret"])
        #expect(
            measures.map { $0["measure"] } == [
                "mutations_per_s", "mutation_p99_ms", "queries_per_s", "query_p99_ms",
            ])
        let refused = try await sandbox.start(["bench"] + options).finish()
        #expect(refused.exit == .code(1) && refused.errors.count == 1, "\(refused)")
        #expect(refused.errors.first?.contains("4403") == true, "\(refused)")
    }

    /// Five short runs of a network benchmark.
    private func bench(_ arguments: [String]) async throws -> [JSONValue] {
        let child = try sandbox.start(["bench"] + arguments + ["--seconds", "0.05", "--json"])
        let finished = try await child.finish()
        try #require(finished.exit == .code(0), "\(finished)")
        return try finished.output.map { try JSONValue(parsing: $0) }
    }
}
