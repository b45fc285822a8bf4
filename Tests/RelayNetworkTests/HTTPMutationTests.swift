import Relay
import RelayJSON
import Testing
import WebSocketIO

@testable import RelayNetwork

/// In which order mutations are sent over HTTP, and what becomes of those that wait.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct HTTPMutationTests {
    private static func add(_ text: String, over network: HTTPNetwork) -> Responses {
        network.responses(to: .add, variables: ["text": text])
    }

    private static func isAnswered(_ responses: Responses) async throws -> Bool {
        try await responses.first()["data"] != nil
    }

    /// Pauses between two tries that end when the test says so.
    private final class Pauses: Sendable {
        let waiting = Noted<@Sendable () -> Void>()

        var inputs: NetworkInputs {
            var inputs = NetworkInputs()
            inputs.after = { [self] _, _, action in waiting.note(action) }
            return inputs
        }
    }

    @Test func theyAreCarriedOutInTheOrderInWhichTheyWereBegun() async throws {
        try await HoldingServer.run(holding: ["one"]) { server, url in
            let network = try HTTPNetwork(url: url)
            let one = Self.add("one", over: network)
            await eventually { server.received.all == ["one"] }
            let two = Self.add("two", over: network)
            let never = Self.add("never", over: network)
            let three = Self.add("three", over: network)
            // A query waits for nobody.
            let query = network.responses(to: .texts, variables: [:])
            #expect(try await Self.isAnswered(query))
            never.cancel()
            #expect(server.received.all == ["one"])
            server.release("one")
            #expect(try await Self.isAnswered(one))
            #expect(try await Self.isAnswered(two))
            #expect(try await Self.isAnswered(three))
            #expect(server.received.all == ["one", "two", "three"])
        }
    }

    @Test func moreAreUnderWayWhereThatIsAskedFor() async throws {
        try await HoldingServer.run(holding: ["one"]) { server, url in
            var options = HTTPNetwork.Options()
            options.maximumMutationsInFlight = 2
            options.maximumWaitingMutations = 1
            let network = try HTTPNetwork(url: url, options: options)
            let one = Self.add("one", over: network)
            await eventually { server.received.all == ["one"] }
            #expect(try await Self.isAnswered(Self.add("two", over: network)))
            server.release("one")
            #expect(try await Self.isAnswered(one))
        }
    }

    @Test func thoseBeyondTheLimitFail() async throws {
        try await HoldingServer.run(holding: ["one"]) { server, url in
            var options = HTTPNetwork.Options()
            options.maximumWaitingMutations = 1
            let network = try HTTPNetwork(url: url, options: options)
            let one = Self.add("one", over: network)
            await eventually { server.received.all == ["one"] }
            let two = Self.add("two", over: network)
            let error = await #expect(throws: TransportError.self) {
                try await Self.add("three", over: network).first()
            }
            #expect(error?.code == .tooManyOperations)
            // Whoever goes makes room.
            two.cancel()
            let three = Self.add("three", over: network)
            server.release("one")
            #expect(try await Self.isAnswered(one))
            #expect(try await Self.isAnswered(three))
        }
    }

    // MARK: Cancelled ones

    @Test func nobodyWaitsForOneThatWasSentAndCancelled() async throws {
        try await HoldingServer.run(holding: ["one"]) { server, url in
            let network = try HTTPNetwork(url: url)
            let one = Self.add("one", over: network)
            await eventually { server.received.all == ["one"] }
            let two = Self.add("two", over: network)
            one.cancel()
            #expect(try await Self.isAnswered(two))
            #expect(try await Self.isAnswered(Self.add("three", over: network)))
            #expect(server.received.all == ["one", "two", "three"])
        }
    }

    @Test func nobodyWaitsForOneThatIsCancelledBetweenTwoTries() async throws {
        try await HoldingServer.run(refusing: ["one"]) { server, url in
            let pauses = Pauses()
            let network = try HTTPNetwork(url: url, options: .init(), inputs: pauses.inputs)
            let one = Self.add("one", over: network)
            await eventually { pauses.waiting.all.count == 1 }
            let two = Self.add("two", over: network)
            one.cancel()
            #expect(try await Self.isAnswered(two))
            for goOn in pauses.waiting.all { goOn() }
            #expect(try await Self.isAnswered(Self.add("three", over: network)))
            #expect(server.received.all == ["one", "two", "three"])
        }
    }

    /// The provider's call is cancelled with the only one that wanted it.
    @Test func nobodyWaitsForOneThatIsCancelledBeforeItHasAToken() async throws {
        try await HoldingServer.run { server, url in
            let held = HeldTokens(count: 1)
            var options = HTTPNetwork.Options()
            options.tokens = held.tokens
            let network = try HTTPNetwork(url: url, options: options)
            let one = Self.add("one", over: network)
            await eventually { held.askedCount == 1 }
            one.cancel()
            await eventually { held.cancelledCount == 1 }
            #expect(try await Self.isAnswered(Self.add("two", over: network)))
            #expect(server.received.all == ["two"] && held.askedCount == 2)
        }
    }

    // MARK: Without a server

    private static let nowhere = "http://127.0.0.1:1/graphql"

    private static func failure(_ responses: Responses) async -> TransportError.Code? {
        do {
            _ = try await responses.first()
            return nil
        } catch {
            return (error as? TransportError)?.code
        }
    }

    /// The first one is let in alone; the second one's tries are the last that the others wait for.
    @Test func thoseThatWaitedLongEnoughFailTogether() async throws {
        let pauses = Pauses()
        var options = HTTPNetwork.Options()
        options.retry = RetryPolicy(maximumAttempts: 2)
        let network = try HTTPNetwork(url: Self.nowhere, options: options, inputs: pauses.inputs)
        let mutations = (1...20).map { Self.add("\($0)", over: network) }
        await eventually { pauses.waiting.all.count == 1 }
        pauses.waiting.all[0]()
        #expect(await Self.failure(mutations[0]) == .cannotConnect)
        await eventually { pauses.waiting.all.count == 2 }
        let late = Self.add("late", over: network)
        pauses.waiting.all[1]()
        for mutation in mutations[1...] {
            #expect(await Self.failure(mutation) == .cannotConnect)
        }
        await eventually { pauses.waiting.all.count == 3 }
        pauses.waiting.all[2]()
        #expect(await Self.failure(late) == .cannotConnect)
        #expect(pauses.waiting.all.count == 3)
    }

    @Test func oneThatWaitsForTheServerDoesNotFailWithOthers() async throws {
        let turns = MutationTurns(maximum: 1, limit: 10)
        let first = try #require(turns.take())
        let second = try #require(turns.take())
        let resumed = try #require(turns.take(waitsForServer: true))
        let fourth = try #require(turns.take())
        turns.leave(first)
        let late = try #require(turns.take())
        turns.end(behind: second, with: TransportError(code: .timedOut, message: ""))
        turns.leave(second)
        #expect(await resumed.comes() == nil)
        #expect(await fourth.comes()?.code == .timedOut)
        // One that has left has nothing to say to others.
        turns.leave(resumed)
        turns.end(behind: resumed, with: TransportError(code: .timedOut, message: ""))
        #expect(await late.comes() == nil)
    }

    /// A loop that has failed performs nothing more, not what waited for its time either.
    @Test(arguments: [false, true])
    func aPauseFailsWhenTheLoopHasEnded(isEndedBefore: Bool) async throws {
        let loop = try IOLoop.start()
        if isEndedBefore { await loop.stop() }
        let paused = Noted<Void>()
        var inputs = NetworkInputs()
        inputs.after = { _, _, action in
            loop.perform(after: .seconds(86_400), action)
            paused.note(())
        }
        let network = try HTTPNetwork(url: Self.nowhere, options: .init(), inputs: inputs)
        let one = Self.add("one", over: network)
        let two = Self.add("two", over: network)
        await eventually { !paused.all.isEmpty }
        await loop.stop()
        #expect(await Self.failure(one) == .stopped)
        #expect(await Self.failure(two) == .stopped)
    }
}
