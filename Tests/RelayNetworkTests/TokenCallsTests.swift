import Testing

@testable import RelayNetwork

@Suite(.bounded, .timeLimit(.minutes(10)))
struct TokenCallsTests {
    @Test func concurrentRequestsShareOneCall() async throws {
        let held = HeldTokens(count: 1)
        let calls = TokenCalls(held.tokens)
        let first = calls.join(isRefused: false)
        let second = calls.join(isRefused: false)
        #expect(first === second)
        held.release(0)
        var token = RequestToken(from: calls)
        #expect(await token.fetch(within: .testDeadline) == nil && token.value == "good")
        #expect(try await first.answer(within: .testDeadline)?.get() == "good")
    }

    /// A late answer is used by those that had asked for it.
    @Test func aProviderThatIsBusyIsNotAskedAgain() async {
        let held = HeldTokens(count: 1)
        let calls = TokenCalls(held.tokens)
        var tokens = (0..<10).map { _ in RequestToken(from: calls) }
        for index in tokens.indices {
            let error = await tokens[index].fetch(within: .milliseconds(1))
            #expect(error?.code == .timedOut && tokens[index].value == nil)
        }
        held.release(0)
        for index in tokens.indices {
            #expect(await tokens[index].fetch(within: .testDeadline) == nil)
            #expect(tokens[index].value == "good")
        }
        #expect(held.askedCount == 1)
    }

    /// The call that is under way may bring the token that was refused.
    @Test func aFreshTokenIsRequestedAfterTheCallInFlight() async {
        let held = HeldTokens(count: 2)
        held.release(0)
        let calls = TokenCalls(held.tokens)
        var token = RequestToken(from: calls)
        #expect(await token.fetch(within: .testDeadline) == nil && token.value == "good")
        let other = calls.join(isRefused: false)
        token.isRefused()
        #expect(await token.fetch(within: .milliseconds(1))?.code == .timedOut)
        held.release(1)
        #expect(await token.fetch(within: .testDeadline) == nil && token.value == "fresh")
        #expect(held.isRefused == [false, false, true] && !other.isRefused)
    }

    @Test func aCallIsCancelledWithItsLastWaiter() async {
        let held = HeldTokens(count: 1)
        let calls = TokenCalls(held.tokens)
        let first = calls.join(isRefused: false)
        let second = calls.join(isRefused: false)
        first.leave(isCancelled: true)
        #expect(!first.isAbandoned)
        second.leave(isCancelled: true)
        #expect(first.isAbandoned)
        // Who comes in that moment has nothing to do with it.
        var token = RequestToken(from: calls)
        #expect(await token.fetch(within: .testDeadline) == nil && token.value == "good")
        await #expect(throws: CancellationError.self) {
            _ = try await first.answer(within: .testDeadline)?.get()
        }
    }

    /// A lost answer of the provider is no end of the network.
    @Test func aCallThatTakesTooLongIsGivenUp() async {
        let held = HeldTokens(count: 1)
        let calls = TokenCalls(held.tokens, patience: .zero)
        var token = RequestToken(from: calls)
        #expect(await token.fetch(within: .milliseconds(1))?.code == .timedOut)
        // It is held, and not the next one.
        await eventually { held.askedCount == 1 }
        var other = RequestToken(from: calls)
        #expect(await other.fetch(within: .testDeadline) == nil && other.value == "good")
        await eventually { held.cancelledCount == 1 }
        #expect(await token.fetch(within: .testDeadline) == nil && token.value == "good")
        #expect(held.askedCount == 3)
    }

    /// One that failed has waited long enough, and others may not have to.
    @Test func aCallGoesOnForThoseToCome() async {
        let held = HeldTokens(count: 1)
        let calls = TokenCalls(held.tokens)
        var token = RequestToken(from: calls)
        #expect(await token.fetch(within: .milliseconds(1)) != nil)
        token.leave(isCancelled: false)
        var other = RequestToken(from: calls)
        #expect(await other.fetch(within: .milliseconds(1)) != nil)
        held.release(0)
        #expect(await other.fetch(within: .testDeadline) == nil && other.value == "good")
        #expect(held.askedCount == 1)
    }
}
