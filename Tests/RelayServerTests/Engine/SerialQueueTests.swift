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

    @Test(arguments: [1, 3])
    func whatWasHandledIsLetGoOfWhileTheRestWaits(_ rest: Int) async throws {
        let test = Holder()
        let queue = SerialQueue<Holder>(limit: 5, batchLimit: 5) {
            test.isOpen.load(ordering: .acquiring)
        }
        let handle: SerialQueue<Holder>.Handler = {
            $0 = $0.dropFirst()
            test.isOpen.store(false, ordering: .releasing)
        }
        test.isOpen.store(false, ordering: .releasing)
        weak var kept: Holder?
        do {
            let message = Holder()
            kept = message
            let others = (0..<rest).map { _ in Holder() }
            #expect(queue.post(contentsOf: [message] + others, handle: handle))
        }
        #expect(queue.count == 1 + rest)
        test.isOpen.store(true, ordering: .releasing)
        queue.resume(handle: handle)
        try await eventually("nothing of it") {
            queue.count == rest && kept == nil ? true : nil
        }
    }

    @Test func messagesThatPileUpAreHandedOverInBatches() async throws {
        let test = Holder()
        let queue = SerialQueue<Int>(limit: 9, batchLimit: 3) {
            test.isOpen.load(ordering: .acquiring)
        }
        let batches = Batches()
        let handle: SerialQueue<Int>.Handler = { messages in
            batches.all.withLock { [messages] in $0.append(Array(messages)) }
            messages = []
        }
        test.isOpen.store(false, ordering: .releasing)
        #expect(queue.post(contentsOf: Array(1...4), handle: handle))
        #expect(queue.post(contentsOf: Array(5...8), handle: handle))
        #expect(!queue.post(contentsOf: [9, 10], handle: handle))
        test.isOpen.store(true, ordering: .releasing)
        queue.resume(handle: handle)
        try await eventually("all of them") { queue.count == 0 ? true : nil }
        #expect(batches.all.withLock { $0 } == [[1, 2, 3], [4, 5, 6], [7, 8]])
    }

    /// A handler may leave some, while others wait behind them.
    @Test func whatIsLeftOfABatchComesBeforeTheNext() async throws {
        let test = Holder()
        let queue = SerialQueue<Int>(limit: 9, batchLimit: 3) {
            test.isOpen.load(ordering: .acquiring)
        }
        let batches = Batches()
        let handle: SerialQueue<Int>.Handler = { messages in
            batches.all.withLock { [messages] in $0.append(Array(messages)) }
            messages = messages.dropFirst(2)
        }
        test.isOpen.store(false, ordering: .releasing)
        #expect(queue.post(contentsOf: Array(1...8), handle: handle))
        #expect(queue.count == 8)
        test.isOpen.store(true, ordering: .releasing)
        queue.resume(handle: handle)
        try await eventually("all of them") { queue.count == 0 ? true : nil }
        #expect(batches.all.withLock { $0 } == [[1, 2, 3], [3], [4, 5, 6], [6], [7, 8]])
    }

    private final class Batches: Sendable {
        let all = Lock<[[Int]]>([])
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
