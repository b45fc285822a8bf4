import Foundation
import OpenCombine
import Testing

@testable import Relay

@Suite(.bounded, .timeLimit(.minutes(10)))
struct ExecutionTests {
    private struct Broken: Error {}

    /// Starts of one execution, and what they said.
    private final class Work: @unchecked Sendable {
        // Unchecked: everything is behind the lock.

        private let lock = NSLock()
        private var started: [Execution<Int>.Run] = []
        private var cancelled = 0

        var runs: [Execution<Int>.Run] { lock.withLock { started } }
        var cancels: Int { lock.withLock { cancelled } }

        func publisher() -> ExecutionPublisher<Int> {
            ExecutionPublisher { [self] run in
                lock.withLock { started.append(run) }
                return AnyCancellable { [self] in lock.withLock { cancelled += 1 } }
            }
        }
    }

    @Test func trap3NothingHappensBeforeSomebodySubscribes() {
        let work = Work()
        let publisher = work.publisher()
        #expect(work.runs.isEmpty)
        let collected = Collected(publisher)
        #expect(work.runs.count == 1)
        work.runs[0].send(1)
        work.runs[0].complete(.finished)
        #expect(collected.values == [1] && collected.isFinished)
    }

    @Test func trap5SubscribersShareOneExecution() {
        let work = Work()
        let publisher = work.publisher()
        let first = Collected(publisher)
        let second = Collected(publisher)
        work.runs[0].send(1)
        let late = Collected(publisher)
        work.runs[0].send(2)
        work.runs[0].complete(.finished)
        #expect(work.runs.count == 1)
        #expect(first.values == [1, 2] && second.values == [1, 2] && late.values == [1, 2])
    }

    @Test func aFinishedOneIsExecutedAnewForTheNextSubscriber() {
        let work = Work()
        let publisher = work.publisher()
        let first = Collected(publisher)
        work.runs[0].send(1)
        work.runs[0].complete(.finished)
        let second = Collected(publisher)
        #expect(work.runs.count == 2)
        #expect(second.values.isEmpty && !second.isFinished)
        // What the first run still says is not heard.
        work.runs[0].send(8)
        work.runs[1].send(2)
        work.runs[1].complete(.finished)
        #expect(first.values == [1] && first.isFinished)
        #expect(second.values == [2] && second.isFinished)
    }

    @Test func whoeverCancelsWhenReceivingTheSubscriptionStartsNothing() {
        let work = Work()
        let publisher = work.publisher()
        var ended = false
        publisher.subscribe(
            AnySubscriber<Int, any Error>(
                receiveSubscription: { $0.cancel() }, receiveValue: { _ in .none },
                receiveCompletion: { _ in ended = true }))
        #expect(work.runs.isEmpty && !ended)
        // And nobody else's work is held by it.
        let other = Collected(publisher)
        #expect(work.runs.count == 1)
        other.cancel()
        #expect(work.cancels == 1)
    }

    @Test func theEndComesWithoutDemand() {
        let work = Work()
        let publisher = work.publisher()
        var isFinished = false
        publisher.subscribe(
            AnySubscriber<Int, any Error>(
                receiveSubscription: { _ in }, receiveValue: { _ in .none },
                receiveCompletion: { _ in isFinished = true }))
        work.runs[0].complete(.finished)
        #expect(isFinished)
    }

    @Test func trap4TheLastSubscriberToLeaveCancels() {
        let work = Work()
        let publisher = work.publisher()
        let first = Collected(publisher)
        let second = Collected(publisher)
        first.cancel()
        #expect(work.cancels == 0)
        second.cancel()
        #expect(work.cancels == 1)
        work.runs[0].send(1)
        #expect(first.values.isEmpty && second.values.isEmpty)
    }

    @Test func retryAfterAFailureStartsAnew() {
        let work = Work()
        let collected = Collected(work.publisher().retry(1))
        work.runs[0].complete(.failure(Broken()))
        #expect(work.runs.count == 2)
        work.runs[0].send(9)
        work.runs[1].send(1)
        work.runs[1].complete(.finished)
        #expect(collected.values == [1] && collected.isFinished)
    }

    @Test func aSubscriberThatAsksForNothingIsCutOff() {
        let work = Work()
        let publisher = work.publisher()
        var ends: [Subscribers.Completion<any Error>] = []
        var received: [Int] = []
        var subscription: (any Subscription)?
        let idle = AnySubscriber<Int, any Error>(
            receiveSubscription: { subscription = $0 },
            receiveValue: {
                received.append($0)
                return .none
            },
            receiveCompletion: { ends.append($0) })
        publisher.subscribe(idle)
        let eager = Collected(publisher)
        for value in 0..<1_100 { work.runs[0].send(value) }
        #expect(eager.values.count == 1_100)
        // What waits is not thrown away: the end comes behind it.
        #expect(ends.isEmpty && received.isEmpty)
        subscription?.request(.max(24))
        work.runs[0].send(1_100)
        #expect(ends.isEmpty && received.count == 24)
        subscription?.request(.unlimited)
        #expect(received == Array(0..<1_024))
        guard case .failure(let error)? = ends.first else {
            Issue.record("it was not cut off")
            return
        }
        #expect(error is SlowSubscriberError && ends.count == 1)
        work.runs[0].send(1_101)
        #expect(received.count == 1_024 && eager.values.count == 1_102)
    }

    /// Nobody else wants what it does: it is not told to wait until what waits has been taken.
    @Test func theWorkOfASubscriberThatIsCutOffEnds() {
        let work = Work()
        var ends: [Subscribers.Completion<any Error>] = []
        var received: [Int] = []
        var subscription: (any Subscription)?
        work.publisher().subscribe(
            AnySubscriber<Int, any Error>(
                receiveSubscription: { subscription = $0 },
                receiveValue: {
                    received.append($0)
                    return .none
                },
                receiveCompletion: { ends.append($0) }))
        for value in 0..<1_024 { work.runs[0].send(value) }
        #expect(work.runs[0].isWanted)
        work.runs[0].send(1_024)
        #expect(!work.runs[0].isWanted && ends.isEmpty)
        subscription?.request(.unlimited)
        #expect(received == Array(0..<1_024) && ends.count == 1)
    }

    @Test func awaitingACancelledTaskCancels() async {
        let work = Work()
        let publisher = Transfer(value: work.publisher())
        let task = Task { try await publisher.value.lastValue() }
        await eventually { !work.runs.isEmpty }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(work.cancels == 1)
    }
}
