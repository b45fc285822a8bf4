import Foundation
import Relay
import RelayJSON
import RelayServer
import Synchronization
import Testing
import WebSocketIO

@testable import RelayNetwork

@Suite(.bounded, .timeLimit(.minutes(10)))
struct HTTPNetworkTests {
    @Test func queriesAndMutationsAreAnswered() async throws {
        try await ServedTodos.run { todos in
            let network = try HTTPNetwork(url: todos.httpURL)
            let answer = try await network.responses(to: .add, variables: ["text": "milk"]).first()
            #expect(answer["data"]?["addTodo"]?["todo"]?["text"] == "milk")
            let texts = try await network.responses(to: .texts, variables: [:]).first()
            #expect(texts.text.contains(#""text":"milk""#))
            let wrong = RequestParameters(name: "", operationKind: .query, text: "{ nothing }")
            let refused = try await network.responses(to: wrong, variables: [:]).first()
            #expect(refused["errors"]?.array?.count == 1)
        }
    }

    @Test func subscriptionsGoOverTheOtherNetworkWhereThereIsOne() async throws {
        try await ServedTodos.run { todos in
            let connected = Noted<String>()
            var options = HTTPNetwork.Options()
            var socket = WebSocketNetwork.Options()
            socket.onEvent = { connected.note("\($0)") }
            options.subscriptions = try WebSocketNetwork(url: todos.url, options: socket)
            let both = try HTTPNetwork(url: todos.httpURL, options: options)
            #expect(try await both.responses(to: .count, variables: [:]).first()["data"] != nil)
            #expect(connected.all.contains("connected"))
        }
    }

    @Test func aRefusedTokenIsAskedForAnewOnce() async throws {
        try await ServedTodos.run {
            $0.tokens = ["good"]
        } _: { todos in
            let asked = Noted<Bool>()
            var options = HTTPNetwork.Options()
            options.tokens = TokenProvider { isRefused in
                asked.note(isRefused)
                return isRefused ? "good" : "stale"
            }
            let network = try HTTPNetwork(url: todos.httpURL, options: options)
            #expect(
                try await network.responses(to: .texts, variables: [:]).first()["data"] != nil)
            #expect(asked.all == [false, true])
        }
    }

    /// Most providers need a network to get a token, and a program often starts without.
    @Test func aProviderThatHasNoTokenYetIsAskedAgain() async throws {
        try await ServedTodos.run {
            $0.tokens = ["good"]
        } _: { todos in
            var inputs = NetworkInputs()
            inputs.after = { loop, _, action in loop.perform(after: .milliseconds(1), action) }
            func network(_ offline: Offline) throws -> HTTPNetwork {
                var options = HTTPNetwork.Options()
                options.tokens = offline.tokens
                return try HTTPNetwork(url: todos.httpURL, options: options, inputs: inputs)
            }
            let offline = Offline(times: 3)
            let answer = try await network(offline).responses(to: .texts, variables: [:]).first()
            #expect(answer["data"] != nil && offline.count == 4)
            // Where somebody waits, the tries have an end.
            let error = await #expect(throws: TransportError.self) {
                try await network(Offline(times: 100)).responses(to: .texts, variables: [:])
                    .first()
            }
            #expect(error?.code == .unauthenticated && error?.cause is Offline.Failure)
            // Where nobody does, it waits for a token as it waits for the server.
            let long = Offline(times: 30)
            let resumed = try network(long).responses(
                to: .add, variables: ["text": "late"],
                interruptions: Interruptions(count: 0, isResumed: true) {})
            #expect(try await resumed.first()["data"] != nil && long.count == 31)
        }
    }

    @Test func aServerThatIsAwayIsTriedAgain() async throws {
        try await ServedTodos.run { todos in
            await todos.stop()
            let delays = Noted<Duration>()
            let (waits, waited) = AsyncStream<@Sendable () -> Void>.makeStream()
            var inputs = NetworkInputs()
            inputs.random = { 0 }
            inputs.after = { _, delay, action in
                delays.note(delay)
                waited.yield(action)
            }
            let network = try HTTPNetwork(url: todos.httpURL, options: .init(), inputs: inputs)
            let answer = network.responses(to: .texts, variables: [:])
            var goOn = waits.makeAsyncIterator()
            await goOn.next()?()
            let second = await goOn.next()
            try await todos.startAgain()
            second?()
            #expect(try await answer.first()["data"] != nil)
            #expect(delays.all == [.milliseconds(250), .milliseconds(500)])
        }
    }

    /// It is asked once, and what it says late is used.
    @Test func aProviderThatIsBusyHoldsNoRequestForEver() async throws {
        try await ServedTodos.run {
            $0.tokens = ["good"]
        } _: { todos in
            let held = HeldTokens(count: 1)
            var options = HTTPNetwork.Options()
            options.tokens = held.tokens
            options.timeout = .milliseconds(20)
            options.retry = RetryPolicy(maximumAttempts: 2)
            var inputs = NetworkInputs()
            inputs.after = { loop, _, action in loop.perform(after: .milliseconds(1), action) }
            let network = try HTTPNetwork(url: todos.httpURL, options: options, inputs: inputs)
            let error = await #expect(throws: TransportError.self) {
                try await network.responses(to: .texts, variables: [:]).first()
            }
            #expect(error?.code == .timedOut && held.askedCount == 1)
            // It belongs to nobody any more.
            held.release(0)
            var token = RequestToken()
            let late = HeldTokens(count: 1)
            let first = await token.fetch(from: late.tokens, within: .milliseconds(1))
            #expect(first?.code == .timedOut && token.value == nil)
            late.release(0)
            #expect(await token.fetch(from: late.tokens, within: .testDeadline) == nil)
            #expect(token.value == "good" && late.askedCount == 1)
        }
    }

    // MARK: Order

    /// Gives each request its token when the test says so: the first one, the second one …
    private final class HeldTokens: Sendable {
        private let asked = Mutex(0)
        private let held: [(wait: AsyncStream<Void>, go: AsyncStream<Void>.Continuation)]

        init(count: Int) {
            held = (0..<count).map { _ in
                let (wait, go) = AsyncStream<Void>.makeStream()
                return (wait, go)
            }
        }

        var askedCount: Int { asked.withLock { $0 } }

        func release(_ number: Int) { held[number].go.finish() }

        var tokens: TokenProvider {
            TokenProvider { [self] _ in
                let number = asked.withLock { count in
                    count += 1
                    return count - 1
                }
                if number < held.count { for await _ in held[number].wait {} }
                return "good"
            }
        }
    }

    private static func add(_ text: String, over network: HTTPNetwork) -> Responses {
        network.responses(to: .add, variables: ["text": text])
    }

    private static func texts(over network: HTTPNetwork) async throws -> [String] {
        let text = try await network.responses(to: .texts, variables: [:]).first().text
        return ["one", "two", "three"].filter { text.contains(#""text":"\#($0)""#) }
            .sorted { one, other in
                guard let first = text.range(of: one), let second = text.range(of: other) else {
                    return false
                }
                return first.lowerBound < second.lowerBound
            }
    }

    @Test func mutationsAreCarriedOutInTheOrderInWhichTheyWereBegun() async throws {
        try await ServedTodos.run {
            $0.tokens = ["good"]
        } _: { todos in
            let held = HeldTokens(count: 1)
            var options = HTTPNetwork.Options()
            options.tokens = held.tokens
            let network = try HTTPNetwork(url: todos.httpURL, options: options)
            let one = Self.add("one", over: network)
            await eventually { held.askedCount == 1 }
            let two = Self.add("two", over: network)
            let never = Self.add("never", over: network)
            let three = Self.add("three", over: network)
            // A query waits for nobody.
            #expect(try await Self.texts(over: network) == [])
            never.cancel()
            held.release(0)
            #expect(try await one.first()["data"] != nil)
            #expect(try await two.first()["data"] != nil)
            #expect(try await three.first()["data"] != nil)
            #expect(try await Self.texts(over: network) == ["one", "two", "three"])
            // Two queries, and three mutations, of which none asked before its turn.
            #expect(held.askedCount == 5)
        }
    }

    @Test func moreMutationsAreUnderWayWhereThatIsAskedFor() async throws {
        try await ServedTodos.run {
            $0.tokens = ["good"]
        } _: { todos in
            let held = HeldTokens(count: 1)
            var options = HTTPNetwork.Options()
            options.tokens = held.tokens
            options.maximumMutationsInFlight = 2
            options.maximumWaitingMutations = 1
            let network = try HTTPNetwork(url: todos.httpURL, options: options)
            let one = Self.add("one", over: network)
            await eventually { held.askedCount == 1 }
            #expect(try await Self.add("two", over: network).first()["data"] != nil)
            #expect(try await Self.texts(over: network) == ["two"])
            held.release(0)
            #expect(try await one.first()["data"] != nil)
        }
    }

    @Test func mutationsBeyondTheLimitFail() async throws {
        try await ServedTodos.run {
            $0.tokens = ["good"]
        } _: { todos in
            let held = HeldTokens(count: 1)
            var options = HTTPNetwork.Options()
            options.tokens = held.tokens
            options.maximumWaitingMutations = 1
            let network = try HTTPNetwork(url: todos.httpURL, options: options)
            let one = Self.add("one", over: network)
            await eventually { held.askedCount == 1 }
            let two = Self.add("two", over: network)
            let error = await #expect(throws: TransportError.self) {
                try await Self.add("three", over: network).first()
            }
            #expect(error?.code == .tooManyOperations)
            // Whoever goes makes room.
            two.cancel()
            let three = Self.add("three", over: network)
            held.release(0)
            #expect(try await one.first()["data"] != nil)
            #expect(try await three.first()["data"] != nil)
        }
    }

    // MARK: From try to try

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

    @Test func whatOnlyOneMutationIsAnsweredWithIsAnInterruption() {
        var attempts = HTTPAttempts(
            RetryPolicy(maximumAttempts: 2), isRepeatable: true, asksForTokens: false,
            waitsForServer: true)
        attempts.countInterruptions(from: 0, name: "AddMutation", limit: 3)
        // What was before its first try says nothing, and each try needs an answer of its own.
        let answered: [(status: Int, othersAnswered: UInt64, counts: Bool)] = [
            (503, 7, false), (503, 7, false), (200, 8, true), (503, 8, false), (429, 9, true),
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
