import GraphQLLanguage
import Testing

/// What a dialect allows, and what it does not.
@Suite struct ClientDialectTests {
    private func messages(_ text: String, _ variables: [String: [VariableDefinition]] = [:]) throws
        -> [String]
    {
        let schema = try Schema.build(
            """
            directive @with on FRAGMENT_SPREAD
            directive @has on FRAGMENT_DEFINITION
            type Query { list(first: Int!, all: [Int]): Query leaf: Int }
            """)
        let dialect = ClientDialect(
            metaFields: ["__id"], declarations: "has", arguments: "with", variables: variables)
        return try Document(parsing: text).issues(
            against: schema, dialect: dialect, limits: ValidationLimits()
        ).map { "\($0.message) \($0.locations)" }
    }

    private func variable(_ text: String) throws -> VariableDefinition {
        try #require(try Document(parsing: "query (\(text)) { a }").operations[0].variables.first)
    }

    @Test func fragmentsMayBeUnusedAndFieldsMayDiffer() throws {
        #expect(try messages("fragment F on Query { __id leaf: __typename leaf }") == [])
        #expect(try messages("fragment F on Query { __id { leaf } }").count == 1)
    }

    @Test func variablesOfAFragmentAreItsOwn() throws {
        let text =
            "query Q { ...F @with(n: 1) } fragment F on Query @has(n: {}) { list(first: $n) { leaf } }"
        #expect(try messages(text, ["F": [variable("$n: Int!")]]) == [])
        #expect(
            try messages(text, ["F": [variable("$n: Int")]]) == [
                "Variable \"$n\" of type \"Int\" used in position expecting type \"Int!\". [7, 75]"
            ])
        #expect(
            try messages(text).contains {
                $0.hasPrefix("Variable \"$n\" is not defined by operation \"Q\".")
            })
    }

    @Test func argumentsOfSpreadsHaveTheTypesOfTheFragmentsVariables() throws {
        let variables = try ["F": [variable("$n: [Int!]! "), variable("$m: Int! = 2")]]
        let fragment = " fragment F on Query { leaf }"
        #expect(try messages("{ ...F @with(n: [1]) }" + fragment, variables) == [])
        #expect(
            try messages("{ ...F @with(n: [null]) }" + fragment, variables) == [
                "Expected value of type \"Int!\", found null. [17]"
            ])
        #expect(
            try messages("{ ...F }" + fragment, variables) == [
                "Fragment \"F\" argument \"n\" of type \"[Int!]!\" is required, but it was not provided. [2]"
            ])
        #expect(
            try messages("query ($v: Int) { ...F @with(n: [$v], m: $v) }" + fragment, variables)
                == [
                    "Variable \"$v\" of type \"Int\" used in position expecting type \"Int!\". [7, 33]"
                ])
    }
}
