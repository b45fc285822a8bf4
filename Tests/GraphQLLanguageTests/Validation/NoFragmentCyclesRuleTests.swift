import Testing

@testable import GraphQLLanguage

@Suite struct NoFragmentCyclesRuleTests {
    @Test func spreadingTwiceIsNoCycle() {
        expectErrors(
            in: """
                { dog { ...A ...B } }
                fragment A on Dog { ...B ...B }
                fragment B on Dog { name }
                """,
            "")
    }

    @Test func aFragmentDoesNotSpreadItself() {
        expectErrors(
            in: """
                { dog { ...A } }
                fragment A on Dog { mother { ...A } }
                """,
            """
            Cannot spread fragment "A" within itself. (2:30)
            """)
    }

    @Test func aFragmentDoesNotSpreadItselfThroughOthers() {
        expectErrors(
            in: """
                { dog { ...A } }
                fragment A on Dog { ...B }
                fragment B on Dog { ...C }
                fragment C on Dog { ...A }
                """,
            """
            Cannot spread fragment "A" within itself via "B", "C". (2:21, 3:21, 4:21)
            """)
    }

    @Test func everyCycleIsReported() {
        expectErrors(
            in: """
                { dog { ...A } }
                fragment A on Dog { ...B ...C }
                fragment B on Dog { ...C ...A }
                fragment C on Dog { ...B mother { ...A } }
                """,
            """
            Cannot spread fragment "A" within itself via "B", "C". (2:21, 3:21, 4:35)
            Cannot spread fragment "A" within itself via "B". (2:21, 3:26)
            Cannot spread fragment "B" within itself via "C". (3:21, 4:21)
            """)
    }

    @Test func cyclesThatShareAPartAreTwo() {
        expectErrors(
            in: """
                { dog { ...A } }
                fragment A on Dog { ...B }
                fragment B on Dog { ...C }
                fragment C on Dog { ...B }
                """,
            """
            Cannot spread fragment "B" within itself via "C". (3:21, 4:21)
            """)
    }

    @Test func fragmentsInALongChainDoNotUseUpTheStack() throws {
        let chain = (0..<5_000).map { "fragment F\($0) on Dog { ...F\($0 + 1) }" }
        let text =
            "{ dog { ...F0 } } \(chain.joined(separator: " ")) "
            + "fragment F5000 on Dog { name }"
        #expect(try Document(parsing: text).validate(against: animals).isEmpty)
    }
}
