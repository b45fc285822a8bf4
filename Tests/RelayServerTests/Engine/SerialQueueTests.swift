import Synchronization
import Testing
import Threads

@testable import StoreEngine

@Suite(.bounded, .timeLimit(.minutes(10)))
struct SerialQueueTests {
    @Test func whatIsHeldBackWaitsInOrderAndCountsAgainstTheBound() async throws {
        let test = Holder()
        let queue = SerialQueue<Int>(limit: 5) { test.isOpen.load(ordering: .acquiring) }
        let handle: SerialQueue<Int>.Handler = { test.handle(&$0) }
        test.isOpen.store(false, ordering: .releasing)
        for number in 1...5 { #expect(queue.post(number, handle: handle)) }
        #expect(!queue.post(6, handle: handle), "the queue is full")
        #expect(queue.post(7, isLimited: false, handle: handle))
        queue.resume(handle: handle)
        #expect(test.handled.withLock { $0 } == [])
        test.isOpen.store(true, ordering: .releasing)
        queue.resume(handle: handle)
        try await eventually("all of them") {
            test.handled.withLock { $0.count } == 6 ? true : nil
        }
        #expect(test.handled.withLock { $0 } == [1, 2, 3, 4, 5, 7])
        try await eventually("an empty queue") { queue.count == 0 ? true : nil }
    }

    /// Found by the simulator, whose servers stayed in memory: the last mutations had their answers with them.
    @Test func whatWasHandledIsLetGoOf() async throws {
        let queue = SerialQueue<Holder>(limit: 5)
        weak var kept: Holder?
        do {
            let message = Holder()
            kept = message
            #expect(queue.post(message) { $0 = $0.dropFirst() })
        }
        try await eventually("nothing of it") { kept == nil ? true : nil }
    }

    @Test func whatWasHandledIsLetGoOfWhileTheRestWaits() async throws {
        let test = Holder()
        let queue = SerialQueue<Holder>(limit: 5) { test.isOpen.load(ordering: .acquiring) }
        let handle: SerialQueue<Holder>.Handler = {
            $0 = $0.dropFirst()
            test.isOpen.store(false, ordering: .releasing)
        }
        test.isOpen.store(false, ordering: .releasing)
        weak var kept: Holder?
        do {
            let message = Holder()
            kept = message
            #expect(queue.post(contentsOf: [message, Holder()], handle: handle))
        }
        try await eventually("it to stop") { queue.count == 2 ? true : nil }
        test.isOpen.store(true, ordering: .releasing)
        queue.resume(handle: handle)
        try await eventually("one of two, and nothing of it") {
            queue.count == 1 && kept == nil ? true : nil
        }
    }

    @Test func messagesThatPileUpAreHandedOverInBatches() async throws {
        let test = Holder()
        let queue = SerialQueue<Int>(limit: 9, batchLimit: 3) {
            test.isOpen.load(ordering: .acquiring)
        }
        let sizes = Sizes()
        let handle: SerialQueue<Int>.Handler = { messages in
            sizes.all.withLock { [messages] in $0.append(messages.count) }
            messages = []
        }
        test.isOpen.store(false, ordering: .releasing)
        #expect(queue.post(contentsOf: Array(1...8), handle: handle))
        test.isOpen.store(true, ordering: .releasing)
        queue.resume(handle: handle)
        try await eventually("all of them") { queue.count == 0 ? true : nil }
        #expect(sizes.all.withLock { $0 } == [3, 3, 2])
    }

    private final class Sizes: Sendable {
        let all = Lock<[Int]>([])
    }

    private final class Holder: Sendable {
        let isOpen = Atomic(true)
        let handled = Lock<[Int]>([])

        /// Takes two at a time.
        func handle(_ messages: inout ArraySlice<Int>) {
            handled.withLock { [messages] in $0 += messages.prefix(2) }
            messages = messages.dropFirst(2)
        }
    }
}
