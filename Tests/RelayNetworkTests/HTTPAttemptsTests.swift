import HTTPMessages
import Relay
import Testing
import WebSocketIO

@testable import RelayNetwork

@Suite(.bounded, .timeLimit(.minutes(10)))
struct HTTPAttemptsTests {
    private static let address = ServerAddress(host: "localhost", port: 1)

    private static func step(
        _ attempts: inout HTTPAttempts, _ status: Int, type: String = "text/plain"
    ) -> String {
        let answer = HTTPResponse(
            status: status, headers: ["content-type": type], body: Array("body".utf8))
        return word(attempts.answered(answer, from: address))
    }

    private static func word(_ step: HTTPAttempts.Step) -> String {
        switch step {
        case .deliver: "deliver"
        case .fail(let error): "fail \(error.code)"
        case .authorize: "authorize"
        case .wait(let failures): "wait \(failures)"
        }
    }

    @Test func statusesAreToldApart() {
        let graphQL = "application/graphql-response+json; charset=utf-8"
        let expected: [(Int, String, String)] = [
            (200, "application/json", "deliver"), (200, graphQL, "deliver"),
            (400, graphQL, "deliver"), (400, "application/json", "fail refused(status: 400)"),
            (404, "text/plain", "fail refused(status: 404)"), (500, "text/plain", "wait 1"),
            (503, graphQL, "wait 1"), (429, "text/plain", "wait 1"),
            (401, graphQL, "fail unauthenticated"),
            // A portal that answers in the server's place.
            (200, "text/html", "wait 1"), (200, "", "wait 1"), (204, "application/jsonp", "wait 1"),
            (200, "Application/JSON ; charset=utf-8", "deliver"),
            (400, " APPLICATION/graphql-response+json", "deliver"),
        ]
        for (status, type, word) in expected {
            var attempts = HTTPAttempts(RetryPolicy(), isRepeatable: true, asksForTokens: false)
            #expect(Self.step(&attempts, status, type: type) == word, "\(status) \(type)")
        }
    }

    @Test func triesHaveALimit() {
        var attempts = HTTPAttempts(
            RetryPolicy(maximumAttempts: 3), isRepeatable: true, asksForTokens: true)
        let steps = [503, 401, 503, 503].map { Self.step(&attempts, $0) }
        #expect(steps == ["wait 1", "authorize", "wait 2", "fail refused(status: 503)"])
    }

    @Test func aMutationThatBreaksOffTooOftenIsGivenUp() {
        var attempts = HTTPAttempts(RetryPolicy(), isRepeatable: true, asksForTokens: false)
        attempts.countInterruptions(from: 1, name: "AddMutation", limit: 4)
        #expect(attempts.exhaustion == nil)
        let lost = IOError(code: .connectionLost, message: "gone")
        #expect(Self.word(attempts.failed(lost)) == "wait 1")
        #expect(Self.interruptions(&attempts) == [true, false])
        // The server did nothing, or was not there.
        let unreachable = IOError(code: .cannotConnect, message: "unreachable")
        #expect(Self.word(attempts.failed(unreachable)) == "wait 2")
        #expect(Self.step(&attempts, 503) == "wait 3")
        #expect(Self.interruptions(&attempts) == [false, false])
        #expect(Self.step(&attempts, 500) == "wait 4")
        #expect(Self.word(attempts.failed(lost)) == "fail gaveUp")
        #expect(Self.interruptions(&attempts) == [true, false])
    }

    @Test func aMutationOfAnEarlierLifeWaitsForTheServer() {
        var attempts = HTTPAttempts(
            RetryPolicy(maximumAttempts: 2), isRepeatable: true, asksForTokens: false,
            waitsForServer: true)
        attempts.countInterruptions(from: 0, name: "AddMutation", limit: 2)
        let unreachable = IOError(code: .cannotConnect, message: "unreachable")
        for number in 1...50 {
            #expect(Self.word(attempts.failed(unreachable)) == "wait \(number)")
        }
        // What broke off after it was sent still counts.
        let lost = IOError(code: .connectionLost, message: "gone")
        #expect(Self.word(attempts.failed(lost)) == "wait 51")
        #expect(Self.word(attempts.failed(lost)) == "fail gaveUp")
    }

    @Test func aRefusalOfOneMutationAloneIsAnInterruption() {
        var attempts = HTTPAttempts(
            RetryPolicy(maximumAttempts: 2), isRepeatable: true, asksForTokens: false,
            waitsForServer: true)
        attempts.countInterruptions(from: 0, name: "AddMutation", limit: 3)
        // What was before its first try says nothing, and each try needs an answer of its own.
        let answered: [(status: Int, othersAnswered: UInt64, counts: Bool)] = [
            (503, 7, false), (503, 7, false), (200, 8, true), (429, 9, false), (503, 10, true),
            (503, 12, true),
        ]
        for (number, answer) in answered.enumerated() {
            let step = attempts.answered(
                HTTPResponse(status: answer.status, text: "page"), from: Self.address,
                othersAnswered: answer.othersAnswered)
            #expect(Self.interruptions(&attempts) == [answer.counts, false], "\(number)")
            #expect(Self.word(step) == (number < 5 ? "wait \(number + 1)" : "fail gaveUp"))
        }
    }

    /// The server has put it off, and says so: a full disk refuses mutations, and everything else continues.
    @Test(arguments: ["STORAGE_FULL", "OVERLOADED", "OUTCOME_UNKNOWN"])
    func aMutationThatIsPutOffIsNoInterruption(_ code: String) {
        var attempts = HTTPAttempts(
            RetryPolicy(maximumAttempts: 2), isRepeatable: true, asksForTokens: false,
            waitsForServer: true)
        attempts.countInterruptions(from: 0, name: "AddMutation", limit: 1)
        for type in ["application/graphql-response+json; charset=utf-8", "application/json"] {
            let body = #"{"errors":[{"message":"no","extensions":{"code":"\#(code)"}}]}"#
            for number in 1...50 {
                let step = attempts.answered(
                    HTTPResponse(
                        status: 503, headers: ["content-type": type], body: Array(body.utf8)),
                    from: Self.address, othersAnswered: UInt64(number))
                guard case .wait = step else {
                    Issue.record("\(Self.word(step))")
                    return
                }
            }
        }
        #expect(Self.interruptions(&attempts) == [false, false])
    }

    private static func interruptions(_ attempts: inout HTTPAttempts) -> [Bool] {
        [attempts.takeInterruption(), attempts.takeInterruption()]
    }

    @Test func whatMayHaveBeenDoneIsNotRepeatedUnlessItMayBe() {
        var attempts = HTTPAttempts(RetryPolicy(), isRepeatable: false, asksForTokens: false)
        #expect(Self.step(&attempts, 500) == "fail refused(status: 500)")
        let lost = IOError(code: .connectionLost, message: "gone")
        #expect(Self.word(attempts.failed(lost)) == "fail interrupted")
        let unreachable = IOError(code: .cannotConnect, message: "unreachable")
        #expect(Self.word(attempts.failed(unreachable)) == "wait 1")
    }

    /// A portal that answers in the server's place has not carried anything out.
    @Test func anAnswerThatIsNoResponseIsNoInterruption() {
        var attempts = HTTPAttempts(
            RetryPolicy(maximumAttempts: 2), isRepeatable: true, asksForTokens: false,
            waitsForServer: true)
        attempts.countInterruptions(from: 0, name: "AddMutation", limit: 1)
        for number in 1...20 {
            #expect(Self.step(&attempts, 200, type: "text/html") == "wait \(number)")
        }
        #expect(Self.interruptions(&attempts) == [false, false])
        var once = HTTPAttempts(RetryPolicy(), isRepeatable: false, asksForTokens: false)
        #expect(Self.step(&once, 200, type: "text/html") == "fail refused(status: 200)")
    }
}
