import Foundation
@_spi(Rooms) import RelayRecords
import RelayServer
import Testing

@testable import StoreEngine

/// Every queue has a bound with a name, the page for users says the same as the code, and for each a test fills it and
/// sees what happens then.
@Suite(.bounded) struct QueueBoundsTests {
    private func section(_ title: String) throws -> [Substring] {
        let file = URL(filePath: #filePath).appending(path: "../../../../docs/websocket.md")
            .standardized
        let page = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(page.range(of: "### \(title)\n")).upperBound
        let end = page.range(of: "\n##", range: start..<page.endIndex)?.lowerBound ?? page.endIndex
        return page[start..<end].split(separator: "\n").filter { $0.hasPrefix("| ") }
    }

    /// By queue: the tests that fill it, as `folder/file.test`.
    private static let tests: [String: [String]] = [
        "mutations that are taken and not answered": [
            "RelayServerTests/Engine/MutationWriterTests.whatIsNotAnsweredIsBoundedWhereverItWaits",
            "RelayServerTests/Engine/MutationWriterTests.soManyBytesOfMutationsAreInProgressAndNoMore",
        ],
        "mutations whose handlers wait": [
            "RelayServerTests/Handlers/WaitingMutationTests.soManyHandlersWaitAndNoMore"
        ],
        "repeats of a mutation whose handler waits": [
            "RelayServerTests/Handlers/WaitingMutationTests.soManyRepeatsWaitForOneHandlerAndNoMore"
        ],
        "events on their way to the disk, and answers that wait for them": [
            "RelayServerTests/Engine/MutationWriterTests.soManyBytesAreOnTheirWayToTheDiskAndTheWriterWaits"
        ],
        "events that the log has taken and not written": [
            "EventLogTests/FailureWhileRunningTests.aFullQueueRefusesAndTheBlockingAppendWaits",
            "RelayServerTests/Engine/MutationWriterTests.whatTheDiskCannotTakeHasACodeForClients",
        ],
        "commits of which subscriptions have not been told": [
            "RelayServerTests/Engine/PublisherTests.soManyCommitsWaitToBeToldAndTheWriterWaits",
            "RelayServerTests/Engine/PublisherTests.soManyBytesOfCommitsWaitToBeToldAndTheWriterWaits",
        ],
        "results on their way to connections": [
            "RelayServerTests/Engine/PublisherTests.soManyResultsAreOnTheirWayAndThoseOfOneCommit",
            "RelayServerTests/Engine/PublisherTests.soManyBytesOfResultsAreOnTheirWayAndThoseOfOneCommit",
        ],
        "the same, of what was missed": [
            "RelayServerTests/Engine/ResumeTests.soMuchOfWhatWasMissedIsOnItsWayAndNoMore"
        ],
        "missed results that wait for clients without room": [
            "RelayServerTests/Engine/ResumeTests.soMuchOfWhatWasMissedWaitsForClientsAndNoMore"
        ],
        "operations that are kept prepared": [
            "RelayServerTests/Engine/RecordPatchTests.documentsWithNormalizationsArePartOfTheBound"
        ],
        "what is prepared for the subscriptions that one pass serves": [
            "RelayServerTests/Engine/ResumeTests.subscriptionsForWhichOnePassHasNoRoomAreServedByTheNext"
        ],
        "what subscriptions and live queries keep": [
            "RelayServerTests/Engine/PublisherTests.soManyBytesOfLiveResultsAreKeptAndNoMore",
            "RelayServerTests/Engine/PublisherTests.theLiveQueryThatGrowsBeyondTheBoundEnds",
        ],
        "subscriptions that wait to begin, with the commits before them": [
            "RelayServerTests/Engine/PublisherTests.soManySubscriptionsWaitToBeginAndNoMore"
        ],
        "requests of subscriptions that wait to begin, and what is prepared for them": [
            "RelayServerTests/Engine/PreparedBoundsTests.requestsThatWereEndedCountUntilTheirTurn",
            "RelayServerTests/Engine/PreparedBoundsTests.soManyBytesOfSubscriptionsWaitToBeginAndNoMore",
            "RelayServerTests/Engine/PreparedBoundsTests.whatIsCaughtUpIsPreparedWhenThereIsRoom",
        ],
        "subscriptions that wait for what they have missed": [
            "RelayServerTests/Engine/ResumeTests.soManyStreamsWaitForWhatTheyHaveMissedAndNoMore"
        ],
        "subscriptions to sequences of Swift code whose tasks run": [
            "RelayServerTests/Handlers/HandlersTests.soManySequencesAreOpenAndNoMore",
            "RelayServerTests/Engine/PreparedBoundsTests.soManyBytesOfSequencesAreOpenAndNoMore",
            "RelayServerTests/Handlers/HandlersTests.aSequenceThatGoesOnAfterItsEndKeepsItsPlace",
        ],
        "queries of the past that wait": [
            "RelayServerTests/Engine/PastQueryTests.soManyQueriesOfThePastWaitAndNoMore"
        ],
        "requests that wait for a newer state": [
            "RelayServerTests/Engine/FollowingTests.soManyRequestsWaitForAStateAndNoMore"
        ],
        "questions about the history that wait": [
            "RelayServerTests/Engine/HistoryDeskTests.soManyQuestionsWaitAndNoMore"
        ],
        "reads of the past": [
            "RelayServerTests/Engine/PastQueryTests.soManyQueriesOfThePastWaitAndNoMore",
            "RelayServerTests/Engine/ResumeTests.soManyStreamsWaitForWhatTheyHaveMissedAndNoMore",
        ],
        "tries of `/readyz` whether a full disk has room": [
            "EventStoreTests/FileJournalTests.whoeverAsksWhileItIsTriedSharesTheTry"
        ],
        "lines in the log about clients that were too slow": [
            "RelayServerTests/Front/EndedClientsTests.aThousandSlowClientsAreElevenLines"
        ],
    ]

    @Test func everyQueueHasATestThatFillsIt() throws {
        let folder = URL(filePath: #filePath).appending(path: "../../..").standardized
        for bound in QueueBound.all() {
            let tests = Self.tests[bound.name] ?? []
            #expect(!tests.isEmpty, "no test fills: \(bound.name)")
            for test in tests {
                let parts = test.split(separator: ".")
                let file = folder.appending(path: "\(parts[0]).swift")
                let source = try String(contentsOf: file, encoding: .utf8)
                let body = try #require(
                    Self.text(ofTest: parts[1], in: source), "there is no \(test)")
                #expect(!body.contains(".disabled"), "\(test) is not run")
                #expect(body.contains("#expect("), "\(test) claims nothing")
            }
        }
        #expect(Self.tests.count == QueueBound.all().count, "a test fills a queue that is gone")
    }

    /// From its attribute to the brace that ends it; nil where there is no such test.
    private static func text(ofTest name: Substring, in source: String) -> Substring? {
        guard let function = source.range(of: "func \(name)("),
            let attribute = source[..<function.lowerBound].range(of: "@Test", options: .backwards),
            let end = source[function.upperBound...].range(of: "\n    }\n")
        else { return nil }
        // An attribute of another function is none of this one's.
        let between = source[attribute.upperBound..<function.lowerBound]
        return between.contains("func ") ? nil : source[attribute.lowerBound..<end.lowerBound]
    }

    @Test func thePageNamesEveryQueueAndItsBound() throws {
        let rows = try section("Overload").dropFirst()
        let bounds = QueueBound.all()
        for bound in bounds {
            let row = "| \(bound.name) | \(bound.bound) | \(bound.atTheBound) |"
            #expect(rows.contains { $0 == row }, "docs/websocket.md lacks: \(row)")
        }
        #expect(rows.count == bounds.count, "the page names a queue that the code does not know")
    }

    @Test func thePageNamesWhatIsKeptOfMutationIDs() throws {
        let rows = try section("Mutation ids").joined(separator: "\n")
        let limits = MutationLedger.Limits()
        #expect(limits.answers == 1_000 && rows.contains("answers of a client | 1,000 |"))
        #expect(limits.ranges == 256 && rows.contains("numbers of a client | 256 |"))
        #expect(limits.bytes == 128 << 20 && rows.contains("everything together | 128 MiB |"))
        #expect(limits.clients == 100_000 && rows.contains("clients | 100,000 |"))
        #expect(limits.silentEvents == 100_000_000 && rows.contains("silent | 100,000,000 |"))
    }
}
