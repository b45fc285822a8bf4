import GraphQLExecution
import Logging
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import StoreEngine
import Testing
import Threads

/// Subscriptions of Swift code that tell of commits, and what clients are told of errors.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct FollowedCommitsTests {
    private static let sdl = HandlerSchema.base.replacing(
        "numbers(upTo: Int!): Int!", with: "numbers(upTo: Int!): Int! sized(name: ID!): Sized"
    ).replacing("type Pair {", with: "type Sized { size: Int! by: String last: Item } type Pair {")

    /// Tells how long a list is after each mutation, to those who asked for that list.
    private static func handlers() -> Handlers {
        var handlers = HandlerSchema.handlers()
        handlers.subscription(
            "sized",
            onCommit: { commit, subscription in
                guard commit.mutation == "addItem",
                    let name = subscription.arguments["name"]?.stringValue,
                    let list = commit.records.record(of: "List", where: "name", is: name)
                else { return nil }
                if commit.variables.input?["text"] == "bad" { throw Unexpected(secret: "s3cret") }
                let size: VariableValue = .int(list.links("items").count)
                return VariableData(
                    [
                        "size": size, "by": subscription.viewer ?? "nobody",
                        "last": list.links("items").last?.id.rawValue,
                    ])
            })
        return handlers
    }

    private static func engine(
        recentCommits: Int = 4_096, _ handlers: Handlers = handlers(),
        logger: Logger = ServiceSchema.noLogger
    ) async throws -> EngineUnderTest {
        try await EngineUnderTest(
            sdl: sdl, handlers: handlers, seed: HandlerSchema.seed, recentCommits: recentCommits,
            logger: logger)
    }

    private func add(_ text: String, to engine: EngineUnderTest) async throws -> JSONValue {
        try await engine.run(
            "mutation { addItem(input: {text: \"\(text)\", listId: \"two\"}) { item { id } } }")
    }

    private static let subscription =
        "subscription { sized(name: \"two\") { size by last { text } } }"

    @Test func everyEventIsReadAtItsOwnCommitHoweverManyFollow() async throws {
        let engine = try await Self.engine()
        let sink = try engine.subscribe(Self.subscription)
        // They are posted at once, so that many are durable before the first is told.
        engine.journal.hold()
        for number in 0..<50 {
            try engine.post(
                "mutation { addItem(input: {text: \"\(number)\", listId: \"two\"}) { item { id } } }",
                mutationID: "c:\(number)"
            ) { _ in }
        }
        engine.journal.release()
        let results = try await engine.results(of: sink, count: 50)
        for (number, result) in results.enumerated() {
            #expect(
                result["data"]?["sized"]
                    == [
                        "size": .int(Int64(number + 1)), "by": "nobody",
                        "last": ["text": .string("\(number)")],
                    ], "\(number): \(result)")
        }
    }

    @Test(arguments: [4_096, 1])
    func whatWasMissedIsToldWhenTheSubscriptionIsResumed(_ kept: Int) async throws {
        let engine = try await Self.engine(recentCommits: kept)
        let first = try engine.subscribe(Self.subscription)
        _ = try await add("0", to: engine)
        let cursor = try #require(try await engine.results(of: first, count: 1)[0].cursor)
        engine.service.unsubscribe(first)
        for number in 1..<12 { _ = try await add("\(number)", to: engine) }
        let second = try engine.subscribe(
            Self.subscription, relay: ["resume": .string(cursor)])
        let results = try await engine.results(of: second, count: 12)
        #expect(results[0].recovered == true)
        let sizes = results.dropFirst().map { $0["data"]?["sized"]?["size"] }
        #expect(sizes == (2...12).map { .int($0) })
    }

    @Test func aCommitThatIsNoneOfItsEventsIsNotTold() async throws {
        let engine = try await Self.engine()
        let sink = try engine.subscribe(Self.subscription)
        _ = try await engine.run("mutation { spoil(how: \"text\") { item { id } } }")
        _ = try await add("a", to: engine)
        let results = try await engine.results(of: sink, count: 1)
        #expect(results[0]["data"]?["sized"]?["size"] == 1)
    }

    @Test func aThrowIsAnEventWithAnErrorAndTheSubscriptionGoesOn() async throws {
        let engine = try await Self.engine()
        let sink = try engine.subscribe(Self.subscription)
        _ = try await add("bad", to: engine)
        _ = try await add("good", to: engine)
        let results = try await engine.results(of: sink, count: 2)
        #expect(results[0]["data"] == ["sized": .null])
        let error = results[0]["errors"]?.array?.first
        #expect(error?["message"] == "Internal error")
        #expect(error?["path"] == ["sized"])
        #expect(error?["locations"] == [["line": 1, "column": 16]])
        #expect(results[1]["data"]?["sized"]?["size"] == 2)
    }

    // MARK: Errors

    private struct Unexpected: Error { let secret: String }

    @Test func anErrorThatWasNotMadeForClientsIsKnownByItsIDOnly() async throws {
        let log = KeptLog()
        var handlers = Self.handlers()
        handlers.resolve("Query.answer") { _ in throw Unexpected(secret: "s3cret") }
        handlers.check("addItem") { _, _, _ in throw Unexpected(secret: "s3cret") }
        handlers.mutation("spoil") { _, _ in throw Unexpected(secret: "s3cret") }
        handlers.mutation(
            "fetchItem", waitingFor: { _, _, _ in throw Unexpected(secret: "s3cret") })
        handlers.subscription("numbers") { _ -> HandlerSchema.Numbers in
            throw Unexpected(secret: "s3cret")
        }
        let engine = try await Self.engine(handlers, logger: log.logger)
        let documents: [(String, JSONValue, String)] = [
            ("{ x: answer }", ["x"], "Query.answer"),
            (
                "mutation { addItem(input: {text: \"a\", listId: \"l1\"}) { item { id } } }",
                ["addItem"], "addItem"
            ),
            ("mutation { spoil(how: \"x\") { item { id } } }", ["spoil"], "spoil"),
            (
                "mutation { fetchItem(input: {text: \"a\", listId: \"l1\"}) { item { id } } }",
                ["fetchItem"], "fetchItem"
            ),
            ("subscription { n: numbers(upTo: 1) }", ["n"], "numbers"),
        ]
        for (document, path, handler) in documents {
            let result = try await engine.runOrSubscribe(document, relay: [:])
            let error = try #require(result["errors"]?.array?.first)
            #expect(error["message"] == "Internal error")
            #expect(error["path"] == path)
            #expect(error["locations"]?.array?.count == 1, "\(document)")
            #expect(error["extensions"]?["code"] == "INTERNAL_ERROR")
            #expect(!result.text.contains("s3cret"))
            let id = try #require(error["extensions"]?["id"]?.string)
            let line = try #require(log.lines.first { $0.contains(id) })
            #expect(line.contains("s3cret") && line.contains(handler), "\(line)")
        }
        // The same error has the same id, so that a live result that fails again is no new one; and a client
        // that asks again and again does not fill the log.
        let count = log.lines.count
        let first = try await engine.run("{ answer }")
        let again = try await engine.run("{ answer }")
        #expect(first["errors"] == again["errors"])
        #expect(log.lines.count == count)
    }

    @Test func aProgramMaySayWhatClientsAreTold() async throws {
        let log = KeptLog()
        var handlers = Self.handlers()
        handlers.resolve("Query.answer") { _ in throw Unexpected(secret: "s3cret") }
        handlers.resolve("Query.mirror") { _ in throw HandlerError("As it is.", code: "MINE") }
        handlers.describeErrors { error in
            error is Unexpected ? HandlerError("Not today.", code: "LATER") : nil
        }
        let engine = try await Self.engine(handlers, logger: log.logger)
        let result = try await engine.run("{ mirror { left } }")
        #expect(result.firstErrorMessage == "As it is.")
        #expect(result.firstErrorCode == "MINE")
        let described = try await engine.run("{ answer }")
        #expect(described.firstErrorMessage == "Not today.")
        #expect(described.firstErrorCode == "LATER")
        #expect(log.lines.isEmpty)
    }
}

/// The lines that a logger was given.
final class KeptLog: Sendable {
    private let all = Lock<[String]>([])

    var lines: [String] { all.withLock { $0 } }
    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: KeptLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { log.all.withLock { $0.append("\(event.message)") } }
    }
}
