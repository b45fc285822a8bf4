import GraphQLExecution
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing

/// GraphQL §3.5.2: a Float is a finite IEEE 754 double, wherever it comes from.
@Suite(.bounded) struct FiniteNumberTests {
    private static let sdl = """
        interface Node { id: ID! }
        scalar Any
        type Query { node(id: ID!): Node float: Float any: Any list: [Float!] }
        type T implements Node { id: ID! weight: Float! list: [Float!] any: Any }
        type Mutation {
          add(input: AddInput!): AddPayload @create(type: "T")
          set(input: SetInput!): SetPayload @update(type: "T")
          write(how: String!): WritePayload
        }
        input AddInput { weight: Float! = 1 list: [Float!] any: Any }
        type AddPayload { t: T }
        input SetInput { id: ID! weight: Float }
        type SetPayload { t: T }
        type WritePayload { t: T }
        """

    private static let numbers: [String: Double] = [
        "inf": .infinity, "-inf": -.infinity, "nan": .nan, "max": .greatestFiniteMagnitude,
    ]

    private func engine() async throws -> EngineUnderTest {
        var handlers = Handlers()
        let huge = Double.infinity
        handlers.resolve("Query.float") { _ in huge }
        handlers.resolve("Query.any") { _ in VariableData(["a": [-huge]]) }
        handlers.resolve("Query.list") { _ in [1, Double.nan] }
        handlers.mutation("write") { records, variables in
            let words = variables.how?.stringValue?.split(separator: " ").map(String.init) ?? []
            let number = Self.numbers[words[0]] ?? 0
            let record = records["t1"]
            switch words[1] {
            case "weight": record?["weight"] = number
            case "list": record?["list"] = [1, number]
            case "any": record?["any"] = ["a": [number]]
            default: record?["any"] = number
            }
            return "t1"
        }
        return try await EngineUnderTest(
            sdl: Self.sdl, handlers: handlers,
            seed: #"{"id":"t1","type":"T","fields":{"weight":1}}"#)
    }

    private static let refused: [(String, String)] = [
        (
            "add(input: {weight: 1e400}) { t { weight } }",
            "Float cannot represent non numeric value: 1e400"
        ),
        (
            "add(input: {weight: -1e400}) { t { weight } }",
            "Float cannot represent non numeric value: -1e400"
        ),
        (
            "add(input: {weight: 1\(String(repeating: "0", count: 309))}) { t { weight } }",
            "Float cannot represent non numeric value: 1000"
        ),
        (
            "add(input: {list: [1, 1e999]}) { t { weight } }",
            "Float cannot represent non numeric value: 1e999"
        ),
        ("add(input: {any: {a: [1e999]}}) { t { weight } }", "Any cannot represent value: 1e999"),
        (
            "set(input: {id: \"t1\", weight: 1e400}) { t { weight } }",
            "Float cannot represent non numeric value: 1e400"
        ),
    ]

    @Test(arguments: refused)
    func aLiteralBeyondDoublesIsRefusedBeforeAnythingRuns(_ field: String, _ message: String)
        async throws
    {
        let engine = try await engine()
        let result = try await engine.run("mutation { \(field) }")
        #expect(result.firstErrorMessage?.hasPrefix(message) == true, "\(result)")
        #expect(result["data"] == nil)
        #expect(engine.eventCount == 1)
    }

    @Test func aDefaultBeyondDoublesIsAMistakeOfTheSchema() {
        let sdl = Self.sdl.replacing("weight: Float! = 1", with: "weight: Float! = 1e400")
        #expect(throws: SchemaMistakes.self) { try ServiceSchema(reading: sdl) }
    }

    @Test func theLargestDoubleIsStoredAndRead() async throws {
        let engine = try await engine()
        let result = try await engine.run(
            "mutation { add(input: {weight: 1.7976931348623157e308, list: [-4.9e-324]}) { t { weight list } } }"
        )
        #expect(
            result["data"]?["add"]?["t"]
                == [
                    "weight": .double(.greatestFiniteMagnitude),
                    "list": [.double(-Double.leastNonzeroMagnitude)],
                ])
    }

    @Test func whatAHandlerGivesIsAFieldError() async throws {
        let engine = try await engine()
        let result = try await engine.run("{ float any list }")
        #expect(result["data"] == ["float": .null, "any": .null, "list": .null])
        let errors = result["errors"]?.array ?? []
        #expect(errors.map { $0["path"] } == [["float"], ["any"], ["list", 1]])
        #expect(
            errors.first?["message"]?.string == "Float cannot represent non numeric value: Infinity"
        )
    }

    @Test(arguments: ["inf", "-inf", "nan"], ["weight", "list", "any", "plain"])
    func whatAHandlerWritesIsRefused(_ number: String, _ place: String) async throws {
        let engine = try await engine()
        let result = try await engine.run(
            "mutation { write(how: \"\(number) \(place)\") { t { id } } }")
        #expect(result.firstErrorMessage != nil, "\(result)")
        #expect(engine.eventCount == 1)
        let now = try await engine.run("mutation { write(how: \"max \(place)\") { t { weight } } }")
        #expect(now["errors"] == nil, "\(now)")
    }
}
