@_spi(Rooms) import RelayRecords
import Testing
import Threads

@testable import EventStore

@Suite(.bounded) struct CompletionQueueTests {
    private final class Calls: Sendable {
        let numbers = Lock<[Int]>([])

        func completion(_ number: Int) -> CompletionQueue.Completion {
            { _ in self.numbers.withLock { $0.append(number) } }
        }
    }

    private func deliver(_ queue: inout CompletionQueue) {
        guard queue.beginDelivery() else { return }
        while let ready = queue.takeReady() { ready.completion(ready.result) }
    }

    @Test func whoWasToldIsLetGoOf() {
        var queue = CompletionQueue()
        weak var kept: Calls?
        do {
            let calls = Calls()
            kept = calls
            queue.settle(queue.add(calls.completion(1)), .success(1))
            deliver(&queue)
        }
        #expect(kept == nil)
    }

    @Test func whatIsKnownFirstWaitsForWhatWasAskedFirst() {
        let calls = Calls()
        var queue = CompletionQueue()
        let tickets = (0..<4).map { queue.add(calls.completion($0)) }
        queue.settle(tickets[2], .success(2))
        deliver(&queue)
        #expect(calls.numbers.withLock { $0 } == [])
        queue.settle(tickets[0], .success(0))
        deliver(&queue)
        #expect(calls.numbers.withLock { $0 } == [0])
        queue.settle(tickets[1], .success(1))
        deliver(&queue)
        #expect(calls.numbers.withLock { $0 } == [0, 1, 2])
        let late = queue.add(calls.completion(4))
        queue.settle(late, .success(4))
        queue.settle(tickets[3], .success(3))
        deliver(&queue)
        #expect(calls.numbers.withLock { $0 } == [0, 1, 2, 3, 4])
    }

    @Test func onlyOneDeliversAtATimeAndFindsWhatCameMeanwhile() {
        let calls = Calls()
        var queue = CompletionQueue()
        let first = queue.add(calls.completion(0))
        let second = queue.add(calls.completion(1))
        queue.settle(first, .success(0))
        let begun = [queue.beginDelivery(), queue.beginDelivery()]
        let ready = queue.takeReady()
        queue.settle(second, .success(1))
        let begunMeanwhile = queue.beginDelivery()
        let next = queue.takeReady()
        let last = queue.takeReady()
        let begunAfterwards = queue.beginDelivery()
        #expect(begun == [true, false])
        #expect(ready != nil)
        #expect(!begunMeanwhile)
        #expect(next != nil)
        #expect(last == nil)
        #expect(begunAfterwards)
    }
}
