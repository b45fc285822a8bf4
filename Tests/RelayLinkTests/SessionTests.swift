import GraphQLTransportWS
import Testing

@testable import RelayLink

/// The link of a program that somebody waits at.
@Suite(.bounded)
struct SessionTests {
    private static func session(_ change: (inout LinkOptions) -> Void = { _ in }) -> LinkUnderTest {
        LinkUnderTest {
            $0.lifetime = .session
            $0.retry = RetryPolicy(maximumAttempts: 2)
            $0.queryAttempts = .max
            change(&$0)
        }
    }

    /// A session that the server has let in.
    private static func connected(_ operations: String...) -> LinkUnderTest {
        var link = session()
        _ = link.perform { $0.open() }
        _ = link.open()
        for operation in operations { _ = link.begin(operation) }
        return link
    }

    @Test func theFirstConnectionIsMadeAtOnceOrNever() {
        var link = Self.session()
        #expect(link.perform { $0.open() } == ["connecting", "connect"])
        #expect(link.perform { $0.open() } == [])
        #expect(link.fail(.unreachable) == ["disconnected cannotConnect", "ended cannotConnect"])
        #expect(link.begin("query q") == ["fail 1 stopped"])
    }

    @Test func aConnectionThatBreaksOffIsMadeAgainThoughNothingGoesOverIt() {
        var link = Self.connected()
        #expect(link.close(1006) == ["disconnected closed(1006)", "retry after failure 1"])
        #expect(link.retry() == ["connecting", "connect"])
        #expect(link.open().contains("connected"))
    }

    @Test func operationsWaitForTheNextConnectionAndEndWithTheLastTry() {
        var link = Self.connected("query q", "mutation m", "subscription s")
        _ = link.next(3, relay: #"{"cursor":"c"}"#)
        #expect(link.close(1006).last == "retry after failure 1")
        _ = link.retry()
        #expect(
            link.fail(.unreachable) == [
                "disconnected cannotConnect", "fail 1 cannotConnect", "fail 2 cannotConnect",
                "fail 3 cannotConnect", "ended cannotConnect",
            ])
    }

    @Test(arguments: [1001, 4400, 4401, 4403, 4406, 4409, 4429] as [UInt16])
    func aPermanentFailureEndsTheSession(_ code: UInt16) {
        var link = Self.connected()
        let error = code == 4401 || code == 4403 ? "unauthenticated" : "closed(\(code))"
        #expect(link.close(code) == ["disconnected \(error)", "ended \(error)"])
    }

    @Test func aServerThatSaysGoodbyeEndsWhatGoesOverItMutationsToo() {
        var link = Self.connected("mutation m", "subscription s")
        #expect(
            link.close(1001).suffix(3) == [
                "fail 1 closed(1001)", "fail 2 closed(1001)", "ended closed(1001)",
            ])
    }

    @Test func aTokenIsNotTriedTwice() {
        var link = Self.session { $0.asksForTokens = true }
        #expect(link.perform { $0.open() } == ["connecting", "authorize", "watch token"])
        _ = link.authorized("t")
        _ = link.open(token: "t")
        #expect(link.close(4403) == ["disconnected unauthenticated", "ended unauthenticated"])
    }
}
