import Foundation
import Relay
import RelayJSON
import RelayServer
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

    /// And is asked once, however many requests wait for it in vain.
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
            // However long these requests take here.
            inputs.timeoutsOfPatience = 1_000_000
            let network = try HTTPNetwork(url: todos.httpURL, options: options, inputs: inputs)
            for _ in 0..<3 {
                let error = await #expect(throws: TransportError.self) {
                    try await network.responses(to: .texts, variables: [:]).first()
                }
                #expect(error?.code == .timedOut)
            }
            await eventually { held.askedCount > 0 }
            #expect(held.askedCount == 1)
            held.release(0)
        }
    }
}
