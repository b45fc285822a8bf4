import GraphQLTransportWS
import Testing

@testable import RelayLink

/// The link of a program that shows whether there is a connection.
@Suite(.bounded)
struct LifetimeTests {
    private static func open() -> LinkUnderTest {
        var link = LinkUnderTest { $0.lifetime = .whileRunning }
        _ = link.perform { $0.open() }
        return link
    }

    /// However a connection ends, there is another try, with nothing to send.
    @Test(arguments: [1000, 1001, 1006, 1011, 4400, 4401, 4403, 4406, 4409, 4429] as [UInt16])
    func theConnectionIsMadeAgainHoweverItEnds(_ code: UInt16) {
        var link = Self.open()
        _ = link.open()
        for failure in 1...3 {
            #expect(link.close(code).last == "retry after failure \(failure)")
            #expect(link.retry() == ["connecting", "connect"])
            // It closes again before we are let in.
            _ = link.perform { $0.socketOpened($0.attempt, token: nil) ?? [] }
        }
    }

    /// What runs learns why it has ended, and later operations go over the next connection.
    @Test func operationsEndWithARefusalAndTheLinkDoesNot() {
        var link = Self.open()
        _ = link.open()
        _ = link.begin("subscription s")
        #expect(
            link.close(4403) == [
                "disconnected unauthenticated", "fail 1 unauthenticated", "retry after failure 1",
            ])
        _ = link.begin("query q")
        _ = link.retry()
        #expect(link.open().contains { $0.hasPrefix("send") })
        _ = link.perform { $0.stop() }
        #expect(link.close(1006) == [])
    }

    /// A server that does not know ids of mutations could carry one out twice.
    @Test func aMutationWithoutAnIDIsNotSentAgain() {
        var link = Self.open()
        _ = link.open()
        _ = link.begin("mutation m", named: false)
        #expect(link.close(1006).contains("fail 1 interrupted"))
    }
}
