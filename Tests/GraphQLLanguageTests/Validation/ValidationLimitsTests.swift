import Testing

@testable import GraphQLLanguage

@Suite struct ValidationLimitsTests {
    @Test func validationStopsAtTheLimitOfErrors() throws {
        let fields = (0..<10).map { "unknown\($0)" }.joined(separator: " ")
        let document = try Document(parsing: "{ \(fields) }")
        func count(_ limit: Int) -> Int {
            document.validate(against: animals, limits: .init(maximumErrors: limit)).count
        }
        #expect(count(100) == 10)
        #expect(count(10) == 10)
        #expect(count(3) == 4)
        let last = document.validate(against: animals, limits: .init(maximumErrors: 3)).last
        #expect(
            last
                == DocumentError(
                    "Too many validation errors, error limit reached. Validation aborted."))
    }

    @Test func errorsOfOneNodeFollowTheOrderOfTheDocument() throws {
        let document = try Document(parsing: "{ a dog { b } c }")
        #expect(
            document.validate(against: animals).map(\.locations[0].column) == [3, 11, 15])
    }
}
