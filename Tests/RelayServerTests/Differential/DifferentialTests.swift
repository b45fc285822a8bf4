import Foundation
import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

@testable import SchemaService

/// Generated documents, ours beside graphql-core: printed form, every error with its places, and results.
///
/// RELAY_DIFFERENTIAL_DOCUMENTS says how many, RELAY_DIFFERENTIAL_SEED repeats a run.
@Suite(.bounded)
struct DifferentialTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let documents =
        environment["RELAY_DIFFERENTIAL_DOCUMENTS"].flatMap(Int.init) ?? 300
    private static let seed =
        environment["RELAY_DIFFERENTIAL_SEED"].flatMap(UInt64.init) ?? .random(in: 0...999_999)

    private static let trackerSeed = """
        {"id":"p1","type":"Person","fields":{"login":"ada","name":"Ada","assigned":{"refs":["i2","i1"]}}}
        {"id":"p2","type":"Person","fields":{"login":"bob"}}
        {"id":"j1","type":"Project","fields":{"key":"relay","title":"Relay","owner":{"ref":"p1"},"issues":{"refs":["i1","i2","i3"]}}}
        {"id":"i1","type":"Issue","fields":{"title":"One","open":true,"priority":"HIGH","author":{"ref":"p1"},"watchers":{"refs":["p1","p2"]},"createdAt":"a","updatedAt":"b"}}
        {"id":"i2","type":"Issue","fields":{"title":"Two","open":false,"priority":"LOW","estimate":2.5,"labels":{"value":["x","y"]},"createdAt":"a","updatedAt":"b"}}
        {"id":"i3","type":"Issue","fields":{"title":"Three","open":true,"priority":"LOW","createdAt":"a","updatedAt":"b"}}
        """

    @Test(
        .enabled(
            if: GraphQLCore.python != nil,
            "there is no graphql-core; script/test sets it up where there are Python and PyPI"),
        arguments: ["todo.graphql", "tracker.graphql"])
    func documentsMeanTheSameToGraphQLCore(_ file: String) async throws {
        let python = try #require(GraphQLCore.python)
        // On a thread of its own: it waits for the other process most of the time.
        let comparison = try await withCheckedThrowingContinuation { done in
            Thread.detachNewThread { done.resume(with: Result { try Self.compare(file, python) }) }
        }
        for difference in comparison.differences { Issue.record("\(difference)") }
        #expect(comparison.kinds.count == 3, "documents of every kind: \(comparison.kinds)")
    }

    private struct Comparison {
        var kinds: [String: Int] = [:]
        var differences: [String] = []
    }

    private static func compare(_ file: String, _ python: String) throws -> Comparison {
        let sdl = try Example.text(file)
        let seed =
            file == "todo.graphql" ? try Example.text("todo.seed.ndjson") : Self.trackerSeed
        let service = try ServiceUnderTest(sdl, seed: seed)
        let peer = try GraphQLCore(
            python: python, schema: PredefinedDirectives.text + sdl, seed: seed)
        var generator = DocumentGenerator(service.schema.schema, seed: Self.seed)
        var comparison = Comparison()
        for _ in 0..<Self.documents where comparison.differences.count < 5 {
            let document = generator.next()
            let answer = try peer.answer(document)
            if answer["crashed"] != nil { continue }
            let theirs = Self.comparable(answer)
            let ours = Self.comparable(try Self.answer(document, service))
            comparison.kinds[
                ours["syntax"] != nil ? "syntax" : ours["response"] != nil ? "run" : "rest",
                default: 0] += 1
            if ours == theirs || Self.isNewer(ours: ours, theirs: theirs) { continue }
            if Self.suggestsOurOwn(theirs) { continue }
            comparison.differences.append(
                """
                seed \(Self.seed), \(document)
                ours:   \(ours.text)
                theirs: \(theirs.text)
                """)
        }
        return comparison
    }

    private static func answer(
        _ text: String, _ service: ServiceUnderTest
    ) throws -> JSONValue {
        let document: Document
        do throws(DocumentError) {
            document = try Document(parsing: text)
        } catch {
            return ["syntax": json(error)]
        }
        let errors = document.validate(against: service.schema.schema)
        var answer: JSONObject = [
            "printed": .string(document.printed()), "errors": .array(errors.map(json)),
        ]
        if errors.isEmpty, document.operations.count == 1,
            document.operations[0].operation == .query
        {
            answer["response"] = try JSONValue(parsing: service.query(text))
        }
        return .object(answer)
    }

    private static func json(_ error: DocumentError) -> JSONValue {
        [
            "message": .string(error.message),
            "locations": .array(
                error.locations.map {
                    ["line": .int(Int64($0.line)), "column": .int(Int64($0.column))]
                }),
        ]
    }

    /// Without what is left open: the order in which errors are told, and the kind of quotes in messages, which
    /// in Python's are single.
    private static func comparable(_ answer: JSONValue) -> JSONValue {
        guard var object = answer.object else { return answer }
        if let error = object["syntax"] { object["syntax"] = comparable(error: error) }
        if let errors = object["errors"]?.array {
            object["errors"] = .array(
                errors.map(comparable(error:)).sorted { $0.text < $1.text })
        }
        if let printed = object["printed"]?.string {
            object["printed"] = .string(printed.trimmingCharacters(in: .newlines))
        }
        return .object(object)
    }

    /// What came with September 2025, which graphql-core 3.2 does not know: operations and fragments can be
    /// described, short queries cannot, and a subscription's only field must not be skipped.
    private static func isNewer(ours: JSONValue, theirs: JSONValue) -> Bool {
        theirs.text.contains("descriptions are supported only on type definitions")
            || ours.text.contains("descriptions are not supported on shorthand queries")
            || ours.text.contains("must not use `@skip` or `@include` directives")
    }

    /// The types of our own directives are suggested to nobody; for graphql-core they are types of the schema.
    private static func suggestsOurOwn(_ theirs: JSONValue) -> Bool {
        ["Constant", "Moment"].contains { theirs.text.contains("\\\"\($0)\\\"") }
    }

    private static func comparable(error: JSONValue) -> JSONValue {
        guard var object = error.object, let message = object["message"]?.string else {
            return error
        }
        object["message"] = .string(message.replacingOccurrences(of: "'", with: "\""))
        return .object(object)
    }
}
