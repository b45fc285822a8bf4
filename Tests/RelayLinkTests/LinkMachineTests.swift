import Foundation
import GraphQLTransportWS
import RelayArtifacts
import Testing

@testable import RelayLink

@Suite(.bounded)
struct LinkMachineTests {
    private static let initialise = #"send {"type":"connection_init"}"#

    private static func subscribe(
        _ wire: Int, _ name: String, _ relay: String? = nil, isLive: Bool = false
    ) -> String {
        let notes = relay.map { #","extensions":{"relay":"# + $0 + "}" } ?? ""
        let text = isLive ? name + " @live" : name
        return #"send {"id":"\#(wire)","type":"subscribe","payload":{"query":"\#(text)","#
            + #""operationName":"\#(name)"\#(notes)}}"#
    }

    private static func refused(_ operation: Int, _ code: String) -> String {
        #"deliver \#(operation) {"errors":[{"message":"no","extensions":{"code":"\#(code)"}}]}"#
    }

    // MARK: One connection

    @Test func theFirstOperationMakesTheConnection() {
        var link = LinkUnderTest()
        #expect(link.begin("query q") == ["connecting", "connect"])
        #expect(link.begin("subscription s") == [])
        #expect(
            link.open() == [
                Self.initialise, "watch acknowledgement", "connected", Self.subscribe(1, "q"),
                Self.subscribe(2, "s"),
            ])
        #expect(link.begin("query r") == [Self.subscribe(3, "r")])
        #expect(link.next(1) == [#"deliver 1 {"data":{"a":1}}"#])
        #expect(link.complete(1) == ["finish 1"])
        #expect(link.next(2) == [#"deliver 2 {"data":{"a":1}}"#])
    }

    @Test func theTokenGoesIntoConnectionInit() {
        var link = LinkUnderTest { $0.asksForTokens = true }
        #expect(link.begin("query q") == ["connecting", "authorize", "watch token"])
        #expect(link.authorized("t") == ["connect as t"])
        #expect(
            link.open(token: "t").first
                == #"send {"type":"connection_init","payload":{"token":"t"}}"#)
    }

    @Test func whatIsCancelledIsCompletedAtTheServer() {
        var link = LinkUnderTest.connected("subscription s", "query q")
        #expect(
            link.perform { $0.cancel(OperationID(number: 1)) }
                == [#"send {"id":"1","type":"complete"}"#])
        #expect(link.next(1) == [])
        #expect(link.perform { $0.cancel(OperationID(number: 1)) } == [])
    }

    @Test func errorsOfTheServerAreAResponse() {
        var link = LinkUnderTest.connected("query q")
        #expect(
            link.receive(#"{"type":"error","id":"1","payload":[{"message":"no"}]}"#)
                == [#"deliver 1 {"errors":[{"message":"no"}]}"#, "finish 1"])
    }

    @Test func aConnectionThatNobodyNeedsIsClosed() {
        var link = LinkUnderTest.connected("query q") { $0.idleTimeout = .seconds(1) }
        _ = link.next(1)
        #expect(link.complete(1) == ["finish 1", "watch idleness"])
        #expect(link.begin("query q") == [Self.subscribe(2, "q")])
        #expect(link.perform { $0.timerFired(.idle(1)) } == [])
        #expect(link.complete(2) == ["finish 2", "watch idleness"])
        #expect(link.perform { $0.timerFired(.idle(2)) } == ["close 1000", "closed"])
        #expect(link.begin("query q") == ["connecting", "connect"])
    }

    /// However many operations come and go, one timer looks.
    @Test func idlenessIsWatchedByOneTimer() {
        var link = LinkUnderTest.connected("query q") { $0.idleTimeout = .seconds(1) }
        #expect(link.complete(1) == ["finish 1", "watch idleness"])
        for wire in 2...4 {
            _ = link.begin("query q")
            #expect(link.complete(wire) == ["finish \(wire)"])
        }
        #expect(link.perform { $0.timerFired(.idle(1)) } == ["watch idleness"])
        #expect(link.perform { $0.timerFired(.idle(4)) } == ["close 1000", "closed"])
    }

    @Test func beyondTheBoundOperationsFail() {
        var link = LinkUnderTest { $0.maximumOperations = 1 }
        _ = link.begin("query q")
        #expect(link.begin("query r") == ["fail 2 tooManyOperations"])
    }

    @Test func stopEndsAllAndNothingBeginsBehindIt() {
        var link = LinkUnderTest.connected("query q", "subscription s")
        #expect(
            link.perform { $0.stop() } == ["fail 1 stopped", "fail 2 stopped", "close 1000"])
        #expect(link.begin("query q") == ["fail 3 stopped"])
        #expect(link.close(1000) == [])
    }

    // MARK: Mutations

    @Test func mutationsGoOneAfterTheOther() {
        var link = LinkUnderTest.connected("mutation a", "mutation b", "query q")
        #expect(link.begin("mutation c") == [])
        #expect(link.next(1).count == 1)
        #expect(
            link.complete(1) == ["finish 1", Self.subscribe(3, "b", #"{"mutationId":"c:2"}"#)])
        #expect(
            link.perform { $0.cancel(OperationID(number: 2)) }
                == [
                    #"send {"id":"3","type":"complete"}"#,
                    Self.subscribe(4, "c", #"{"mutationId":"c:4"}"#),
                ])
    }

    @Test func anUnansweredMutationIsSentAgainByItsID() {
        var link = LinkUnderTest.connected("mutation a", "mutation b")
        #expect(
            link.close(1006) == [
                "interrupted 1", "disconnected closed(1006)", "retry after failure 1",
            ])
        #expect(link.retry() == ["connecting", "connect"])
        #expect(link.open().suffix(1) == [Self.subscribe(1, "a", #"{"mutationId":"c:1"}"#)])
    }

    @Test func anAnsweredMutationIsNotSentAgain() {
        var link = LinkUnderTest.connected("mutation a")
        _ = link.next(1)
        #expect(link.close(1006) == ["finish 1", "disconnected closed(1006)"])
    }

    @Test func whereIDsAreNotKnownAnInterruptedMutationFails() {
        var link = LinkUnderTest.connected("mutation a", "mutation b") {
            $0.resendsMutations = false
        }
        #expect(
            link.close(1006) == [
                "fail 1 interrupted", "disconnected closed(1006)", "retry after failure 1",
            ])
        _ = link.retry()
        #expect(link.open().suffix(1) == [Self.subscribe(1, "b", #"{"mutationId":"c:2"}"#)])
    }

    @Test func aMutationThatEndsEveryConnectionIsGivenUp() {
        var link = LinkUnderTest.connected("mutation a", "mutation b") {
            $0.maximumInterruptions = 3
        }
        for _ in 1...2 {
            #expect(link.close(1006).first == "interrupted 1")
            _ = link.retry()
            #expect(link.open().last == Self.subscribe(1, "a", #"{"mutationId":"c:1"}"#))
        }
        #expect(
            link.close(1006) == [
                "interrupted 1", "fail 1 gaveUp", "disconnected closed(1006)",
                "retry after failure 3",
            ])
        _ = link.retry()
        #expect(link.open().last == Self.subscribe(1, "b", #"{"mutationId":"c:2"}"#))
    }

    @Test func interruptionsOfAnEarlierLifeCount() {
        var link = LinkUnderTest { $0.maximumInterruptions = 3 }
        #expect(link.begin("mutation a", interruptionCount: 3) == ["fail 1 gaveUp"])
        _ = link.begin("mutation b", interruptionCount: 2)
        _ = link.open()
        #expect(link.close(1006).prefix(2) == ["interrupted 2", "fail 2 gaveUp"])
    }

    @Test func aConnectionThatTheProgramGivesUpIsNoInterruption() {
        var link = LinkUnderTest.connected("mutation a") { $0.maximumInterruptions = 1 }
        #expect(link.perform { $0.reconnect() } == ["abort", "connecting", "connect"])
        #expect(link.open().last == Self.subscribe(1, "a", #"{"mutationId":"c:1"}"#))
    }

    @Test func aMutationThatWasInterruptedIsSentAlone() {
        var link = LinkUnderTest.connected("mutation a", "mutation b", "mutation c") {
            $0.maximumMutationsInFlight = 3
        }
        #expect(link.close(1006).prefix(3) == ["interrupted 1", "interrupted 2", "interrupted 3"])
        _ = link.retry()
        let a = Self.subscribe(1, "a", #"{"mutationId":"c:1"}"#)
        #expect(link.open().filter { $0.contains("subscribe") } == [a])
        _ = link.next(1)
        #expect(
            link.complete(1) == ["finish 1", Self.subscribe(2, "b", #"{"mutationId":"c:2"}"#)])
    }

    /// What ends a connection for the queries and streams that it had is of no mutation that waits.
    @Test func mutationsSurviveUnrelatedFailures() {
        for code in [4406, 4409, 4429] as [UInt16] {
            var link = LinkUnderTest.connected("query q", "mutation m")
            #expect(
                link.close(code) == [
                    "interrupted 2", "disconnected closed(\(code))", "fail 1 closed(\(code))",
                    "retry after failure 1",
                ])
            _ = link.retry()
            #expect(link.open().last == Self.subscribe(1, "m", #"{"mutationId":"c:2"}"#))
        }
        // Another operation's response is larger than we read.
        var large = LinkUnderTest.connected("query q", "mutation m")
        _ = large.next(1)
        _ = large.complete(1)
        _ = large.begin("mutation n")
        #expect(
            large.close(1009, isFromPeer: false).suffix(3) == [
                "disconnected closed(1009)", "fail 1 closed(1009)", "retry after failure 1",
            ])
        // What is not of the protocol.
        var strange = LinkUnderTest.connected("mutation m", "mutation n")
        #expect(
            strange.receive("?") == [
                "interrupted 1", "close 4004", "disconnected badResponse", "retry after failure 1",
            ])
        // A deployment: the path is not there for a while.
        var absent = LinkUnderTest()
        _ = absent.begin("mutation m")
        for number in 1...20 {
            #expect(absent.fail(.status(404)).last == "retry after failure \(2 * number - 1)")
            // Whoever asks meanwhile is told.
            _ = absent.begin("query q")
            _ = absent.retry()
            #expect(absent.fail(.status(400)).contains("fail \(number + 1) refused(status: 400)"))
            _ = absent.retry()
        }
    }

    @Test func mutationsWaitForATokenAndQueriesNotForEver() {
        var link = LinkUnderTest {
            $0.asksForTokens = true
            $0.queryAttempts = 2
        }
        for words in ["query q", "mutation m", "subscription s"] { _ = link.begin(words) }
        #expect(link.lackToken() == ["disconnected unauthenticated", "retry after failure 1"])
        #expect(link.retry().prefix(2) == ["connecting", "authorize"])
        #expect(
            link.lackToken() == [
                "disconnected unauthenticated", "fail 1 unauthenticated", "retry after failure 2",
            ])
        _ = link.retry()
        #expect(link.authorized("t") == ["connect as t"])
        #expect(link.open(token: "t").count == 5)
    }

    /// It may wait for a network, or for ever.
    @Test func aTokenThatDoesNotComeInTimeIsALostConnection() {
        var link = LinkUnderTest { $0.asksForTokens = true }
        _ = link.begin("mutation m")
        let first = link.machine.attempt
        #expect(
            link.perform { $0.timerFired(.token(first)) } == [
                "disconnected timedOut", "retry after failure 1",
            ])
        #expect(link.retry() == ["connecting", "authorize", "watch token"])
        // What comes of the first question now is not waited for any more.
        #expect(link.perform { $0.timerFired(.token(first)) } == [])
        #expect(link.perform { $0.authorized(first, .success("late")) } == [])
        #expect(link.authorized("t") == ["connect as t"])
        #expect(link.perform { $0.timerFired(.token($0.attempt)) } == [])
    }

    /// A log-in may take longer than a connection should.
    @Test func aTokenThatComesWhileTheNextAttemptWaitsIsUsed() {
        var link = LinkUnderTest { $0.asksForTokens = true }
        _ = link.begin("mutation m")
        let first = link.machine.attempt
        _ = link.perform { $0.timerFired(.token(first)) }
        let second = link.machine.attempt
        #expect(
            link.perform { $0.authorized(first, .success("late")) }
                == ["connecting", "connect as late"])
        #expect(link.perform { $0.timerFired(.retry(second)) } == [])
        #expect(link.open(token: "late").last?.contains("subscribe") == true)
    }

    /// It may have no network to get a fresh one: the next connection asks it again.
    @Test func aFreshTokenThatIsNotThereIsAskedForLater() {
        var link = LinkUnderTest { $0.asksForTokens = true }
        _ = link.begin("mutation m")
        for number in 1...3 {
            _ = link.authorized("old")
            #expect(link.fail(.status(401)).prefix(2).last == "authorize anew")
            #expect(link.lackToken().last == "retry after failure \(number)")
            _ = link.retry()
        }
    }

    @Test func aFreshTokenThatIsRefusedLateIsAskedForLater() {
        var link = LinkUnderTest { $0.asksForTokens = true }
        _ = link.begin("mutation m")
        _ = link.authorized("old")
        #expect(link.fail(.status(401)).prefix(2).last == "authorize anew")
        let attempt = link.machine.attempt
        _ = link.perform { $0.timerFired(.token(attempt)) }
        #expect(link.perform { $0.authorized(attempt, .failure(CancellationError())) } == [])
        _ = link.retry()
        _ = link.authorized("old")
        #expect(link.fail(.status(401)).prefix(2).last == "authorize anew")
    }

    /// The server does not know yet whether it was carried out; under its id it is carried out once.
    @Test func aMutationWhoseOutcomeIsUnknownIsSentAgain() {
        let id = OperationID(number: 1)
        let a = #"{"mutationId":"c:1"}"#
        var link = LinkUnderTest.connected("mutation a", "mutation b", "query q")
        #expect(link.refuse(1, "OUTCOME_UNKNOWN") == ["resume 1 after ending 1"])
        // None before it, over no connection.
        #expect(link.begin("mutation c") == [])
        _ = link.close(1006)
        _ = link.retry()
        #expect(link.open().suffix(1) == [Self.subscribe(1, "q")])
        #expect(
            link.perform { $0.timerFired(.resumption(id)) } == [Self.subscribe(2, "a", a)])
        #expect(link.refuse(2, "OUTCOME_UNKNOWN") == ["resume 1 after ending 2"])
        #expect(
            link.perform { $0.cancel(id) } == [Self.subscribe(3, "b", #"{"mutationId":"c:2"}"#)])
        #expect(link.perform { $0.timerFired(.resumption(id)) } == [])
    }

    @Test func whereMutationsAreNotResentAnUnknownOutcomeIsTheAnswer() {
        var link = LinkUnderTest.connected("mutation a") { $0.resendsMutations = false }
        #expect(
            link.refuse(1, "OUTCOME_UNKNOWN") == [Self.refused(1, "OUTCOME_UNKNOWN"), "finish 1"])
    }

    /// Nobody waits for one of an earlier run of the program, so it waits for the server; others have a caller.
    @Test(arguments: ["OVERLOADED", "STORAGE_FULL"])
    func anUnfinishedMutationWaitsForABusyServer(_ code: String) {
        var link = LinkUnderTest()
        _ = link.begin("mutation a", isUnfinished: true)
        _ = link.begin("mutation b")
        _ = link.open()
        #expect(link.refuse(1, code) == ["resume 1 after ending 1"])
        let id = OperationID(number: 1)
        #expect(
            link.perform { $0.timerFired(.resumption(id)) }
                == [Self.subscribe(2, "a", #"{"mutationId":"c:1"}"#)])
        _ = link.next(2)
        _ = link.complete(2)
        #expect(link.refuse(3, code) == [Self.refused(2, code), "finish 2"])
    }

    // MARK: Streams

    @Test func aStreamResumesBehindItsLastCursor() {
        var link = LinkUnderTest.connected("subscription s")
        _ = link.next(1, relay: #"{"cursor":"c1"}"#)
        _ = link.next(1, relay: #"{"cursor":"c2"}"#)
        _ = link.close(1006)
        _ = link.retry()
        #expect(link.open().suffix(1) == [Self.subscribe(1, "s", #"{"resume":"c2"}"#)])
        #expect(
            link.next(1, "null", relay: #"{"cursor":"c2","recovered":true}"#) == ["resumed s"])
        #expect(link.next(1, relay: #"{"cursor":"c3"}"#).count == 1)
    }

    @Test func aGapIsReported() {
        var link = LinkUnderTest.connected("subscription s", "subscription t")
        _ = link.next(1, relay: #"{"cursor":"c1"}"#)
        _ = link.close(1006)
        _ = link.retry()
        #expect(
            link.open().suffix(4) == [
                Self.subscribe(1, "s", #"{"resume":"c1"}"#), Self.subscribe(2, "t"),
                "resumed t, with a gap", Self.gap(2),
            ])
        #expect(
            link.next(1, "null", relay: #"{"cursor":"c9","recovered":false}"#)
                == ["resumed s, with a gap", Self.gap(1)])
    }

    @Test func aServerThatDoesNotResumeStartsAnew() {
        var link = LinkUnderTest.connected("subscription s")
        _ = link.next(1, relay: #"{"cursor":"c1"}"#)
        _ = link.close(1006)
        _ = link.retry()
        _ = link.open()
        #expect(
            link.next(1) == [
                "resumed s, with a gap", Self.gap(1), #"deliver 1 {"data":{"a":1}}"#,
            ])
    }

    /// The notice that whoever takes the responses gets.
    private static func gap(_ operation: Int) -> String {
        #"deliver \#(operation) {"data":null,"extensions":{"relay":{"recovered":false}}}"#
    }

    @Test func progressMovesTheCursorOfWhatIsCaughtUp() {
        let ping = #"{"type":"ping","payload":{"relay":{"cursor":"c7"}}}"#
        var link = LinkUnderTest.connected("subscription s", "subscription t")
        _ = link.next(1, relay: #"{"cursor":"c1"}"#)
        _ = link.receive(ping)
        _ = link.close(1006)
        _ = link.retry()
        // Here the notice comes before the server has said from where it goes on.
        #expect(
            link.open().suffix(2) == [
                Self.subscribe(1, "s", #"{"resume":"c7"}"#),
                Self.subscribe(2, "t", #"{"resume":"c7"}"#),
            ])
        _ = link.receive(#"{"type":"ping","payload":{"relay":{"cursor":"c9"}}}"#)
        _ = link.close(1006)
        _ = link.retry()
        #expect(link.open().suffix(2).allSatisfy { $0.contains(#""resume":"c7""#) })
    }

    @Test func aStreamThatTheServerEndsForSlownessIsResumed() {
        var link = LinkUnderTest.connected("subscription s")
        let error = """
            {"type":"error","id":"1","payload":[{"message":"slow","extensions":\
            {"code":"SLOW_CONSUMER","relay":{"cursor":"c5"}}}]}
            """
        #expect(link.receive(error) == [Self.subscribe(2, "s", #"{"resume":"c5"}"#)])
    }

    /// A server that ends it again before it has sent anything is not asked in a tight loop.
    @Test func aStreamThatIsEndedAgainAtOnceIsResumedLater() {
        func error(_ wire: Int) -> String {
            """
            {"type":"error","id":"\(wire)","payload":[{"message":"slow","extensions":\
            {"code":"SLOW_CONSUMER","relay":{"cursor":"c5"}}}]}
            """
        }
        let id = OperationID(number: 1)
        let resumption = #"{"resume":"c5"}"#
        var link = LinkUnderTest.connected("subscription s")
        #expect(link.receive(error(1)) == [Self.subscribe(2, "s", resumption)])
        #expect(link.receive(error(2)) == ["resume 1 after ending 1"])
        let again = link.perform { $0.timerFired(.resumption(id)) }
        #expect(again == [Self.subscribe(3, "s", resumption)])
        #expect(link.receive(error(3)) == ["resume 1 after ending 2"])
        _ = link.perform { $0.timerFired(.resumption(id)) }
        _ = link.next(4, "null", relay: #"{"recovered":true}"#)
        _ = link.next(4)
        #expect(link.receive(error(4)) == [Self.subscribe(5, "s", resumption)])
        // It is a word for streams: a mutation ends with it.
        var other = LinkUnderTest.connected("mutation m")
        #expect(other.receive(error(1)).last == "finish 1")
    }

    @Test func aStreamThatIsNotTakenIsStoppedAndResumedLater() {
        var link = LinkUnderTest.connected("subscription s")
        _ = link.next(1, relay: #"{"cursor":"c1"}"#)
        let id = OperationID(number: 1)
        #expect(link.perform { $0.suspend(id) } == [#"send {"id":"1","type":"complete"}"#])
        #expect(link.next(1, relay: #"{"cursor":"c2"}"#) == [])
        #expect(link.perform { $0.resume(id) } == [Self.subscribe(2, "s", #"{"resume":"c1"}"#)])
    }

    @Test func aStreamWithoutCursorThatIsNotTakenFails() {
        var link = LinkUnderTest.connected("subscription s")
        _ = link.next(1)
        #expect(
            link.perform { $0.suspend(OperationID(number: 1)) }
                == [#"send {"id":"1","type":"complete"}"#, "fail 1 overflow"])
    }

    /// It may have been the last that needed the connection.
    @Test func afterAnOverflowTheConnectionMayBeIdle() {
        var link = LinkUnderTest.connected("subscription s") { $0.idleTimeout = .seconds(1) }
        _ = link.next(1)
        #expect(
            link.perform { $0.suspend(OperationID(number: 1)) }
                == [#"send {"id":"1","type":"complete"}"#, "fail 1 overflow", "watch idleness"])
    }

    // MARK: Queries

    /// A notice of progress says nothing about a query without an answer: it is sent again as it was.
    @Test func anUnansweredQueryIsSentAgainFromTheStart() {
        var link = LinkUnderTest.connected("query q", "live l", "persisted p")
        _ = link.receive(#"{"type":"ping","payload":{"relay":{"cursor":"c7"}}}"#)
        _ = link.close(1006)
        _ = link.retry()
        let sent = link.open().suffix(3)
        #expect(
            sent.prefix(2) == [Self.subscribe(1, "q"), Self.subscribe(2, "l", isLive: true)])
        #expect(sent.last?.contains("documentId") == true && sent.last?.contains("resume") == false)
        #expect(link.next(1) == [#"deliver 1 {"data":{"a":1}}"#])
        // And what the server says to it is its answer.
        #expect(
            link.refuse(2, "BAD_USER_INPUT") == [Self.refused(2, "BAD_USER_INPUT"), "finish 2"])
    }

    @Test func anAnsweredQueryEndsWithItsConnection() {
        var link = LinkUnderTest.connected("query q", "query r", "query s")
        _ = link.next(1, relay: #"{"cursor":"c1"}"#)
        _ = link.next(2)
        _ = link.receive(#"{"type":"ping","payload":{"relay":{"cursor":"c7"}}}"#)
        #expect(link.close(1006).prefix(2) == ["finish 1", "finish 2"])
        _ = link.retry()
        #expect(link.open().suffix(1) == [Self.subscribe(1, "s")])
    }

    /// However much of its answer had come: it does not begin anew, and is no stream that has missed anything.
    @Test(arguments: [1, 2, 3]) func aQueryInPartsEndsWithItsConnection(_ count: Int) {
        var link = LinkUnderTest.connected("query q", "query r")
        for _ in 1...count { _ = link.next(1) }
        #expect(
            link.close(1006) == [
                "finish 1", "disconnected closed(1006)", "retry after failure 1",
            ])
        _ = link.retry()
        #expect(link.open().suffix(1) == [Self.subscribe(1, "r")])
    }

    /// Its parts need a bound.
    @Test func aQueryInPartsThatIsNotTakenFails() {
        var link = LinkUnderTest.connected("query q")
        for _ in 1...2 { _ = link.next(1) }
        #expect(
            link.perform { $0.suspend(OperationID(number: 1)) }
                == [#"send {"id":"1","type":"complete"}"#, "fail 1 overflow"])
    }

    /// Nothing follows its answer, so there is nothing to stop.
    @Test func anAnsweredQueryIsNotStoppedForSlowness() {
        var link = LinkUnderTest.connected("query q")
        _ = link.next(1)
        #expect(link.perform { $0.suspend(OperationID(number: 1)) } == [])
        #expect(link.complete(1) == ["finish 1"])
    }

    /// However many results it has had.
    @Test(arguments: [1, 2]) func aLiveQueryIsResumed(_ count: Int) {
        var link = LinkUnderTest.connected("live l")
        for number in 1...count { _ = link.next(1, relay: #"{"cursor":"c\#(number)"}"#) }
        _ = link.close(1006)
        _ = link.retry()
        #expect(
            link.open().last
                == Self.subscribe(1, "l", #"{"resume":"c\#(count)"}"#, isLive: true))
        #expect(link.next(1, "null", relay: #"{"recovered":true}"#) == ["resumed l"])
    }

    /// Whoever follows it is told that it has ended, and why.
    @Test(arguments: [1, 2]) func aLiveQueryThatIsNotResumedFails(_ count: Int) {
        for code in ["LIMIT_EXCEEDED", "BAD_USER_INPUT"] {
            var link = LinkUnderTest.connected("live l")
            for number in 1...count { _ = link.next(1, relay: #"{"cursor":"c\#(number)"}"#) }
            _ = link.close(1006)
            _ = link.retry()
            _ = link.open()
            #expect(link.refuse(1, code) == [Self.refused(1, code), "finish 1"])
        }
    }

    @Test func aLiveQueryWithoutCursorsStartsAnew() {
        var link = LinkUnderTest.connected("live l")
        _ = link.next(1)
        #expect(link.close(1006) == ["disconnected closed(1006)", "retry after failure 1"])
        _ = link.retry()
        #expect(
            link.open().suffix(3) == [
                Self.subscribe(1, "l", isLive: true), "resumed l, with a gap", Self.gap(1),
            ])
    }

    /// Only the server knows whether one that it has the text of is live.
    @Test func aPersistedQueryThatIsNotLiveEndsQuietly() {
        var link = LinkUnderTest.connected("persisted live", "persisted plain", "persisted foreign")
        _ = link.next(1, relay: #"{"cursor":"c1"}"#)
        _ = link.next(2, relay: #"{"cursor":"c1"}"#)
        _ = link.next(3)
        #expect(link.close(1006).first == "finish 3")
        _ = link.retry()
        _ = link.open()
        #expect(link.next(1, "null", relay: #"{"recovered":true}"#) == ["resumed live"])
        #expect(link.refuse(2, "BAD_USER_INPUT") == ["finish 2"])
    }

    @Test func aPersistedQueryThatTheServerIsTooBusyForIsResumedLater() {
        var link = LinkUnderTest.connected("persisted p")
        _ = link.next(1, relay: #"{"cursor":"c1"}"#)
        _ = link.close(1006)
        _ = link.retry()
        _ = link.open()
        #expect(link.refuse(1, "OVERLOADED") == ["resume 1 after ending 1"])
    }

    // MARK: A busy server

    /// Everybody comes back after a restart: nothing was done, and the place to resume from stays good.
    @Test(arguments: ["live", "subscription"])
    func aStreamThatTheServerIsTooBusyForIsResumedLater(_ kind: String) {
        let id = OperationID(number: 1)
        var link = LinkUnderTest.connected("\(kind) s")
        _ = link.next(1, relay: #"{"cursor":"c1"}"#)
        _ = link.close(1006)
        _ = link.retry()
        _ = link.open()
        #expect(link.refuse(1, "OVERLOADED") == ["resume 1 after ending 1"])
        let again = link.perform { $0.timerFired(.resumption(id)) }
        #expect(
            again == [Self.subscribe(2, "s", #"{"resume":"c1"}"#, isLive: kind == "live")])
        #expect(link.refuse(2, "OVERLOADED") == ["resume 1 after ending 2"])
    }

    @Test func aStreamIsResumedAsOftenAsAttemptsAreAllowed() {
        var link = LinkUnderTest.connected("live s") { $0.retry.maximumAttempts = 2 }
        _ = link.next(1, relay: #"{"cursor":"c1"}"#)
        _ = link.close(1006)
        _ = link.retry()
        _ = link.open()
        #expect(link.refuse(1, "OVERLOADED") == ["resume 1 after ending 1"])
        _ = link.perform { $0.timerFired(.resumption(OperationID(number: 1))) }
        #expect(link.refuse(2, "OVERLOADED") == [Self.refused(1, "OVERLOADED"), "finish 1"])
    }

    /// It has been told how far it is, and that it goes on, but has had no result yet.
    @Test func aStreamThatHasHadOnlyNoticesIsResumedLater() {
        var link = LinkUnderTest.connected("subscription s")
        _ = link.receive(#"{"type":"ping","payload":{"relay":{"cursor":"c1"}}}"#)
        _ = link.close(1006)
        _ = link.retry()
        _ = link.open()
        _ = link.receive(
            #"{"id":"1","type":"next","payload":{"data":null,"extensions":{"relay":{"cursor":"c1","recovered":true}}}}"#
        )
        #expect(link.refuse(1, "OVERLOADED") == ["resume 1 after ending 1"])
    }

    /// One that has not begun has somebody who asks for it now.
    @Test func aStreamThatHasNotBegunIsRefused() {
        for words in ["live s", "subscription s", "query q"] {
            var link = LinkUnderTest.connected(words)
            #expect(link.refuse(1, "OVERLOADED") == [Self.refused(1, "OVERLOADED"), "finish 1"])
        }
    }

    // MARK: Failures

    @Test func queriesFailAfterSomeAttemptsAndOthersWait() {
        var link = LinkUnderTest { $0.queryAttempts = 2 }
        for words in ["query q", "mutation m", "subscription s"] { _ = link.begin(words) }
        #expect(
            link.fail(.unreachable) == ["disconnected cannotConnect", "retry after failure 1"])
        _ = link.retry()
        #expect(
            link.fail(.unreachable) == [
                "disconnected cannotConnect", "fail 1 cannotConnect", "retry after failure 2",
            ])
        _ = link.retry()
        #expect(link.open().count == 5)
    }

    @Test func attemptsMayHaveALimit() {
        var link = LinkUnderTest { $0.retry.maximumAttempts = 2 }
        _ = link.begin("mutation m")
        _ = link.fail(.unreachable)
        _ = link.retry()
        #expect(
            link.fail(.unreachable) == ["disconnected cannotConnect", "fail 1 cannotConnect"])
        #expect(link.begin("mutation m") == ["connecting", "connect"])
    }

    /// Accepting us is not enough, nor is a message: a server may do both and then go away, again and again.
    @Test func onlyAServerThatServesResetsTheDelay() {
        var link = LinkUnderTest.connected("subscription s")
        #expect(link.close(1013).last == "retry after failure 1")
        _ = link.retry()
        _ = link.open()
        #expect(link.close(1013).last == "retry after failure 2")
        _ = link.retry()
        _ = link.open()
        _ = link.next(1)
        #expect(link.close(1013).last == "retry after failure 3")
        _ = link.retry()
        _ = link.open()
        _ = link.begin("query q")
        _ = link.next(2)
        _ = link.complete(2)
        #expect(link.close(1013).last == "retry after failure 1")
        _ = link.retry()
        _ = link.open()
        // The connection has lasted.
        #expect(link.perform { $0.timerFired(.acknowledgement($0.attempt)) } == [])
        #expect(link.close(1013).last == "retry after failure 1")
    }

    /// A query that the server does not survive fails, though a stream gets its message each time.
    @Test func aQueryThatEndsEveryConnectionFails() {
        var link = LinkUnderTest.connected("subscription s", "query q") { $0.queryAttempts = 3 }
        for number in 1...2 {
            _ = link.next(1)
            #expect(link.close(1011).last == "retry after failure \(number)")
            _ = link.retry()
            _ = link.open()
        }
        _ = link.next(1)
        #expect(
            link.close(1011) == [
                "disconnected closed(1011)", "fail 2 closed(1011)", "retry after failure 3",
            ])
    }

    /// A server may take the token, and forbid an operation by closing.
    @Test func aTokenThatIsRefusedAfterAMessageIsAskedForOnceMore() {
        var link = LinkUnderTest { $0.asksForTokens = true }
        for words in ["subscription s", "query q"] { _ = link.begin(words) }
        _ = link.authorized("old")
        _ = link.open(token: "old")
        _ = link.next(1)
        #expect(
            link.close(4403) == ["disconnected unauthenticated", "authorize anew", "watch token"])
        _ = link.authorized("new")
        _ = link.open(token: "new")
        _ = link.next(1)
        #expect(
            link.close(4403) == [
                "disconnected unauthenticated", "fail 1 unauthenticated", "fail 2 unauthenticated",
            ])
    }

    /// It was good for a while: tokens expire.
    @Test func aFreshTokenThatHasServedMayBeReplaced() {
        var link = LinkUnderTest { $0.asksForTokens = true }
        _ = link.begin("subscription s")
        for token in ["a", "b", "c"] {
            _ = link.authorized(token)
            _ = link.open(token: token)
            _ = link.perform { $0.timerFired(.acknowledgement($0.attempt)) }
            #expect(link.close(4403).prefix(2).last == "authorize anew")
        }
    }

    @Test func aRefusedTokenIsAskedForOnceMore() {
        for refusal in [4401, 4403] as [UInt16] {
            var link = LinkUnderTest { $0.asksForTokens = true }
            _ = link.begin("query q")
            _ = link.authorized("old")
            _ = link.open(token: "old")
            #expect(
                link.close(refusal) == [
                    "disconnected unauthenticated", "authorize anew", "watch token",
                ])
            #expect(link.authorized("new") == ["connect as new"])
            _ = link.perform { $0.socketOpened($0.attempt, token: "new") ?? [] }
            #expect(
                link.close(refusal) == ["disconnected unauthenticated", "fail 1 unauthenticated"])
        }
    }

    @Test func aRefusedHandshakeAsksForATokenToo() {
        var link = LinkUnderTest { $0.asksForTokens = true }
        _ = link.begin("query q")
        _ = link.authorized("old")
        #expect(
            link.fail(.status(401)) == [
                "disconnected unauthenticated", "authorize anew", "watch token",
            ])
    }

    @Test func withoutAProviderARefusalIsFinal() {
        var link = LinkUnderTest.connected("query q")
        #expect(link.close(4403) == ["disconnected unauthenticated", "fail 1 unauthenticated"])
    }

    @Test func permanentFailuresAreFinal() {
        for code in [4406, 4409, 4429] as [UInt16] {
            var link = LinkUnderTest.connected("subscription s")
            #expect(
                link.close(code) == ["disconnected closed(\(code))", "fail 1 closed(\(code))"])
        }
        var link = LinkUnderTest()
        _ = link.begin("query q")
        #expect(link.fail(.status(404)).last == "fail 1 refused(status: 404)")
        _ = link.begin("query q")
        #expect(link.fail(.status(503)).last == "retry after failure 1")
    }

    @Test func anOperationThatTheServerDoesNotReadEndsAlone() {
        for code in [4400, 1009] as [UInt16] {
            var link = LinkUnderTest.connected("subscription s", "mutation m")
            _ = link.begin("mutation n")
            _ = link.next(2, relay: #"{"cursor":"c1"}"#)
            #expect(
                link.close(code) == [
                    "fail 2 closed(\(code))", "disconnected closed(\(code))",
                    "retry after failure 1",
                ])
            #expect(link.retry() == ["connecting", "connect"])
            #expect(
                link.open().suffix(2) == [
                    Self.subscribe(1, "n", #"{"mutationId":"c:3"}"#),
                    Self.subscribe(2, "s", #"{"resume":"c1"}"#),
                ])
        }
        // And what is no operation's fault ends all.
        var link = LinkUnderTest.connected("subscription s")
        _ = link.next(1)
        #expect(link.close(4400) == ["disconnected closed(4400)", "fail 1 closed(4400)"])
    }

    /// Without patches of records a stream goes on behind what was taken; what was on its way is sent anew.
    @Test func aStreamGoesOnWithoutRecords() {
        var link = LinkUnderTest()
        _ = link.begin("subscription s", asksForRecords: true)
        #expect(link.open().last == Self.subscribe(1, "s", #"{"records":true}"#))
        _ = link.next(1, relay: #"{"cursor":"c1"}"#)
        _ = link.next(1, relay: #"{"cursor":"c2"}"#)
        let id = OperationID(number: 1)
        #expect(
            link.perform { $0.renounceRecords(id, at: "c1") } == [
                "deliver 1 ", #"send {"id":"1","type":"complete"}"#,
                Self.subscribe(2, "s", #"{"resume":"c1"}"#),
            ])
        #expect(link.perform { $0.renounceRecords(id, at: "c1") } == [])
        // A connection later it is the same.
        _ = link.close(1006)
        _ = link.retry()
        #expect(link.open().last == Self.subscribe(1, "s", #"{"resume":"c1"}"#))
    }

    @Test func whereTheServerHasNoRecordsItIsAskedAgainWithout() {
        var link = LinkUnderTest()
        _ = link.begin("subscription s", asksForRecords: true)
        _ = link.open()
        let error =
            #"{"type":"error","id":"1","payload":[{"message":"no","extensions":{"code":"BAD_USER_INPUT"}}]}"#
        #expect(link.receive(error) == ["deliver 1 ", Self.subscribe(2, "s")])
        #expect(
            link.receive(error.replacingOccurrences(of: #""1""#, with: #""2""#)).last == "finish 1")
    }

    /// A server that took the records before, and does not now: the stream goes on where it was.
    @Test func withoutRecordsAResumedStreamIsResumedToo() {
        var link = LinkUnderTest()
        _ = link.begin("subscription s", asksForRecords: true)
        _ = link.open()
        _ = link.receive(#"{"type":"ping","payload":{"relay":{"cursor":"c7"}}}"#)
        _ = link.close(1006)
        _ = link.retry()
        #expect(link.open().last == Self.subscribe(1, "s", #"{"resume":"c7","records":true}"#))
        #expect(
            link.refuse(1, "BAD_USER_INPUT")
                == ["deliver 1 ", Self.subscribe(2, "s", #"{"resume":"c7"}"#)])
    }

    /// Nor does it end where it has had results. Its reader may have asked for whole ones before it knows.
    @Test func whatHasHadResultsGoesOnWithoutRecords() {
        var link = LinkUnderTest()
        _ = link.begin("live l", asksForRecords: true)
        _ = link.open()
        for cursor in ["c1", "c2"] { _ = link.next(1, relay: #"{"cursor":"\#(cursor)"}"#) }
        _ = link.close(1006)
        _ = link.retry()
        _ = link.open()
        #expect(
            link.refuse(1, "BAD_USER_INPUT") == [
                "deliver 1 \0", Self.subscribe(2, "l", #"{"resume":"c2"}"#, isLive: true),
            ])
        let id = OperationID(number: 1)
        #expect(
            link.perform { $0.renounceRecords(id, at: "c1") } == [
                "deliver 1 ", #"send {"id":"2","type":"complete"}"#,
                Self.subscribe(3, "l", #"{"resume":"c1"}"#, isLive: true),
            ])
        #expect(link.perform { $0.renounceRecords(id, at: "c1") } == [])
        #expect(
            link.refuse(3, "BAD_USER_INPUT") == [Self.refused(1, "BAD_USER_INPUT"), "finish 1"])
    }

    private static func isSent(_ action: String) -> Bool { action.hasPrefix("send") }

    @Test func ofSeveralThatTheServerMayNotReadEachIsTriedAlone() {
        let ping = #"send {"type":"ping"}"#
        let pong = #"{"type":"pong"}"#
        let mutation = #"{"mutationId":"c:3"}"#
        var link = LinkUnderTest.connected("subscription s", "query q", "mutation m", "query r")
        _ = link.next(4)
        // The first mutation is not to blame yet, so it is not interrupted; the query that has come is read.
        #expect(
            link.close(4400) == [
                "finish 4", "disconnected closed(4400)", "retry after failure 1",
            ])
        _ = link.begin("subscription late")
        _ = link.retry()
        #expect(link.open().filter(Self.isSent).suffix(2) == [Self.subscribe(1, "s"), ping])
        #expect(link.begin("query later") == [])
        #expect(link.receive(pong) == [Self.subscribe(2, "q"), ping, "watch pong"])
        // Its answer alone is no leave for the next.
        #expect(link.next(2) == [#"deliver 2 {"data":{"a":1}}"#])
        #expect(link.receive(pong) == [Self.subscribe(3, "late"), ping, "watch pong"])
        #expect(link.receive(pong) == [Self.subscribe(4, "later"), ping, "watch pong"])
        #expect(link.receive(pong) == [Self.subscribe(5, "m", mutation), ping, "watch pong"])
        #expect(link.close(4400).first == "fail 3 closed(4400)")
        _ = link.retry()
        // The one that it was is gone, and everything goes on as before.
        #expect(
            link.open().filter(Self.isSent).suffix(3) == [
                Self.subscribe(1, "s"), Self.subscribe(2, "late"), Self.subscribe(3, "later"),
            ])
        #expect(link.begin("query at-once") == [Self.subscribe(4, "at-once")])
    }

    @Test func aServerThatAnswersNoPingIsLeft() {
        var link = LinkUnderTest.connected("subscription s", "query q")
        _ = link.close(4400)
        _ = link.retry()
        #expect(link.open().suffix(2) == [#"send {"type":"ping"}"#, "watch pong"])
        #expect(link.perform { $0.timerFired(.pong(7)) } == [])
        #expect(
            link.perform { $0.timerFired(.pong(1)) } == [
                "abort", "disconnected timedOut", "retry after failure 2",
            ])
        #expect(link.machine.missedPongs == 1)
        _ = link.retry()
        #expect(link.open().last == "watch pong")
        _ = link.receive(#"{"type":"pong"}"#)
        #expect(link.perform { $0.timerFired(.pong(2)) } == [])
        #expect(link.machine.missedPongs == 0)
    }

    @Test func aMessageThatIsNotOfTheProtocolEndsTheConnection() {
        var link = LinkUnderTest.connected("query q")
        #expect(
            link.receive("?") == ["close 4004", "disconnected badResponse", "fail 1 badResponse"])
    }

    @Test func aReasonThatIsASentenceGetsNoSecondFullStop() {
        for reason in ["too long", "Too long."] {
            let message = ConnectionLoss(own: .invalidMessage(reason)).error.message
            #expect(message.hasPrefix("The connection was closed with 4400: \(reason)"))
            #expect(message.hasSuffix("long."))
        }
    }

    @Test func aServerThatDoesNotAcknowledgeIsTriedAgain() {
        var link = LinkUnderTest()
        _ = link.begin("query q")
        _ = link.perform { $0.socketOpened($0.attempt, token: nil) ?? [] }
        #expect(
            link.perform { $0.timerFired(.acknowledgement($0.attempt)) }
                == ["close 4504", "disconnected timedOut", "retry after failure 1"])
    }

    @Test func lateEventsOfAnEarlierSocketAreIgnored() {
        var link = LinkUnderTest.connected("query q")
        let old = link.machine.attempt
        _ = link.close(1006)
        _ = link.retry()
        let message = Array(#"{"type":"next","id":"1","payload":{"data":null}}"#.utf8)
        #expect(link.perform { $0.received(old, message) } == [])
        #expect(link.perform { $0.timerFired(.acknowledgement(old)) } == [])
        let opened = link.machine.socketOpened(old, token: nil)
        #expect(opened == nil)
    }

    @Test func aConnectionThatIsGivenUpIsMadeAnewAtOnce() {
        var link = LinkUnderTest.connected("mutation m")
        let old = link.machine.attempt
        #expect(link.perform { $0.reconnect() } == ["abort", "connecting", "connect"])
        #expect(link.machine.attempt > old)
        // An attempt may hang in the dark: the new one does not wait for its end.
        let hanging = link.machine.attempt
        #expect(link.perform { $0.reconnect() } == ["connecting", "connect"])
        let lost = ConnectionLoss(LinkUnderTest.IOFailure.unreachable.error)
        #expect(link.perform { $0.socketClosed(hanging, lost) } == [])
        _ = link.fail(.unreachable)
        #expect(link.perform { $0.reconnect() } == ["connecting", "connect"])
        var idle = LinkUnderTest.connected()
        #expect(idle.perform { $0.reconnect() } == ["abort"])
    }

    /// Whatever failed before was over another route.
    @Test func theDelaysBeginAgainWithAReconnect() {
        var link = LinkUnderTest { $0.asksForTokens = true }
        _ = link.begin("mutation m")
        for number in 1...3 {
            #expect(link.lackToken().last == "retry after failure \(number)")
            _ = link.retry()
        }
        // The token provider is busy; it is not asked twice.
        #expect(link.perform { $0.reconnect() } == [])
        _ = link.authorized("t")
        #expect(link.fail(.unreachable).last == "retry after failure 1")
        _ = link.retry()
        _ = link.authorized("t")
        #expect(link.fail(.unreachable).last == "retry after failure 2")
        _ = link.retry()
        _ = link.authorized("t")
        #expect(link.perform { $0.reconnect() }.first == "connecting")
        _ = link.authorized("t")
        #expect(link.fail(.unreachable).last == "retry after failure 1")
    }

    @Test func noReconnectWithoutOperations() {
        var link = LinkUnderTest.connected("query q")
        _ = link.close(1006)
        _ = link.perform { $0.cancel(OperationID(number: 1)) }
        #expect(link.retry() == [])
        var idle = LinkUnderTest.connected()
        #expect(idle.close(1006) == ["disconnected closed(1006)"])
    }
}
