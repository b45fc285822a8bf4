import GraphQLLanguage
import RelayJSON
import Testing

@testable import GraphQLExecution

/// A variable with a default may stand where there must be a value (GraphQL §5.8.5), and be null.
@Suite struct ArgumentListTests {
    private static let sdl = """
        type Query { f(item: [String!], deep: [[Int!]!], one: [Int!], o: In, free: [String]): Int }
        input In { id: Int! flag: Boolean! = true inner: In names: [String!] free: String }
        """

    private func arguments(
        _ text: String, _ variables: JSONObject
    ) throws -> Result<JSONObject, ExecutionError> {
        let schema = try Schema.build(Self.sdl)
        let document = try Document(parsing: text)
        #expect(document.validate(against: schema).map(\.message) == [])
        let query = try #require(schema.type(named: "Query"))
        let field = try #require(document.operations.first?.selectionSet.selections.first)
        guard case .field(let field) = field, let definition = schema.field("f", on: query) else {
            return .success([:])
        }
        let list = ArgumentList(
            definitions: definition.arguments, given: field.arguments, schema: schema)
        return Result { () throws(ExecutionError) in
            try list.coerce(CoercedVariables(values: variables))
        }
    }

    @Test(arguments: [
        ("String = \"x\"", "item: [$v]"), ("String = \"x\"", "item: [\"a\", $v]"),
        ("Int = 1", "deep: [[1], [$v]]"), ("[Int!] = [1]", "deep: [$v]"),
        ("Int = 1", "o: {id: $v}"), ("Int = 1", "o: {id: 1, inner: {id: $v}}"),
        ("String = \"x\"", "o: {id: 1, inner: {id: 1, names: [$v]}}"),
        ("Boolean", "o: {id: 1, flag: $v}"),
    ])
    func nullIsRefusedAtEveryLevel(type: String, argument: String) throws {
        let text = "query ($v: \(type)) { f(\(argument)) }"
        guard case .failure(let error) = try arguments(text, ["v": nil]) else {
            Issue.record("null was taken for a value: \(text)")
            return
        }
        #expect(error.code == .badUserInput)
        let parts = argument.split(separator: ":", maxSplits: 1)
        #expect(
            error.message.hasPrefix("Argument \"\(parts[0])\" has invalid value"),
            "\(error.message)"
        )
    }

    @Test func nullIsTakenWhereTheTypeAllowsIt() throws {
        let text = "query ($v: String, $i: In) { f(free: [$v], o: {id: 1, free: $v, inner: $i}) }"
        #expect(
            try arguments(text, ["v": nil, "i": nil]).get()
                == ["o": ["id": 1, "flag": true, "inner": nil, "free": nil], "free": [nil]])
        #expect(
            try arguments(text, [:]).get() == ["o": ["id": 1, "flag": true], "free": [nil]])
    }
}
