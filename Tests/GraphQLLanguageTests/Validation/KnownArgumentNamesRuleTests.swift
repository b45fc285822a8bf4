import Testing

@testable import GraphQLLanguage

@Suite struct KnownArgumentNamesRuleTests {
    @Test func knownArgumentsAreFine() {
        expectErrors(
            in: """
                { dog @skip(if: true) { isAtLocation(y: 1, x: 2) name @onField(b: "x", a: 1) } }
                """,
            "")
    }

    @Test func unknownArgumentsOfFieldsAreNamedWithNearOnes() {
        expectErrors(
            in: """
                { dog { isAtLocation(X: 1, unknown: 2) doesKnowCommand(dogComand: SIT) } }
                """,
            """
            Unknown argument "X" on field "Dog.isAtLocation". Did you mean "x" or "y"? (1:22)
            Unknown argument "unknown" on field "Dog.isAtLocation". (1:28)
            Unknown argument "dogComand" on field "Dog.doesKnowCommand". Did you mean "dogCommand"? (1:56)
            """)
    }

    @Test func unknownArgumentsOfDirectivesAreNamedWithNearOnes() {
        expectErrors(
            in: """
                { dog @skip(iff: true, if: true) { name @onField(a: 1, unknown: 2) } }
                """,
            """
            Unknown argument "iff" on directive "@skip". Did you mean "if"? (1:13)
            Unknown argument "unknown" on directive "@onField". (1:56)
            """)
    }

    @Test func interfacesAreNamedWhereTheyAreSelected() {
        expectErrors(
            in: """
                { pet { name(surnam: true) } }
                """,
            """
            Unknown argument "surnam" on field "Pet.name". Did you mean "surname"? (1:14)
            """)
    }
}
