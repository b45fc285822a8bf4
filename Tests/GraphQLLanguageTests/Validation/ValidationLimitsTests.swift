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

    /// 500 × 500 pairs below 50 levels: one message would name all of them, and each level has its fields again.
    @Test func messagesAndLocationsOfConflictsAreBounded() throws {
        let open = String(repeating: "mother { ", count: 50)
        let close = String(repeating: "} ", count: 50)
        func branch(_ field: String) -> String {
            let fields = Array(repeating: "x: \(field)", count: 500).joined(separator: " ")
            return "a: dog { \(open) \(fields) \(close) }"
        }
        let errors = try Document(parsing: "{ \(branch("name")) \(branch("nickname")) }")
            .validate(against: animals)
        #expect(!errors.isEmpty)
        #expect(errors.map(\.message.utf8.count).reduce(0, +) < 1 << 20)
        #expect(errors.map(\.locations.count).reduce(0, +) < 10_000)
    }

    @Test func longMessagesEndValidationEarlier() throws {
        let name = String(repeating: "x", count: 100_000)
        let fields = Array(repeating: "dog { \(name) }", count: 50).joined(separator: " ")
        let errors = try Document(parsing: "{ \(fields) }").validate(against: animals)
        #expect(errors.count < 20)
        #expect(errors.last?.message.hasPrefix("Too many validation errors") == true)
    }

    @Test func errorsOfOneNodeFollowTheOrderOfTheDocument() throws {
        let document = try Document(parsing: "{ a dog { b } c }")
        #expect(
            document.validate(against: animals).map(\.locations[0].column) == [3, 11, 15])
    }
}
