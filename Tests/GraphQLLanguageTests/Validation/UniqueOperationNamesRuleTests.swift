import Testing

@testable import GraphQLLanguage

@Suite struct UniqueOperationNamesRuleTests {
    @Test func differentNamesMayStandTogether() {
        expectErrors(
            in: """
                query A { dog { name } }
                query B { dog { name } }
                """,
            "")
    }

    @Test func oneNameStandsForOneOperation() {
        expectErrors(
            in: """
                query A { dog { name } }
                subscription A { dogSubscribe { name } }
                query A { dog { name } }
                """,
            """
            There can be only one operation named "A". (1:7, 2:14)
            There can be only one operation named "A". (1:7, 3:7)
            """)
    }

    @Test func aFragmentMayHaveTheNameOfAnOperation() {
        expectErrors(
            in: """
                query A { dog { ...A } }
                fragment A on Dog { name }
                """,
            "")
    }
}
