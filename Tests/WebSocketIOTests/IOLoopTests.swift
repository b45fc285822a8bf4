import Synchronization
import Testing
import Threads

@testable import WebSocketIO

@Suite(.bounded, .timeLimit(.minutes(10)))
struct IOLoopTests {
    private actor Counter {
        nonisolated let loop: IOLoop
        private(set) var value = 0

        init(_ loop: IOLoop) { self.loop = loop }

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            loop.asUnownedSerialExecutor()
        }

        func increment() -> Bool {
            value += 1
            return loop.isCurrent
        }
    }

    private final class Tally: Sendable {
        let count = Atomic<Int>(0)
    }

    @Test func runsWhatIsPostedInOrderOnItsThread() async throws {
        let loop = try IOLoop.start()
        let seen = Lock<[Int]>([])
        for index in 0..<1_000 {
            loop.perform { seen.withLock { $0.append(index) } }
        }
        #expect(try await loop.run { loop.isCurrent })
        #expect(!loop.isCurrent)
        #expect(seen.withLock { $0 } == Array(0..<1_000))
        await loop.stop()
    }

    @Test func aTimerRunsInTheMiddleOfMuchMail() async throws {
        let loop = try IOLoop.start()
        let seen = Lock<[Int]>([])
        let seenAtTimer = Lock<Int?>(nil)
        let count = 20
        try await loop.runOnCore { core in
            core.schedule(at: monotonicMilliseconds()) {
                seenAtTimer.withLock { $0 = seen.withLock { $0.count } }
            }
            for index in 0..<count {
                loop.perform {
                    takeASlice()
                    seen.withLock { $0.append(index) }
                }
            }
        }
        await eventually { seenAtTimer.withLock { $0 } != nil }
        #expect(try #require(seenAtTimer.withLock { $0 }) < count)
        try await loop.run {}
        #expect(seen.withLock { $0 } == Array(0..<count))
        await loop.stop()
    }

    /// Nothing rings again for what is posted while some of the mail waits for its turn.
    @Test func whatIsPostedWhileMailWaitsIsRunBehindIt() async throws {
        let loop = try IOLoop.start()
        let seen = Lock<[Int]>([])
        try await loop.run {
            for index in 0..<3 {
                loop.perform {
                    takeASlice()
                    seen.withLock { $0.append(index) }
                    // The mail behind this waits by now, or is the last.
                    loop.perform { seen.withLock { $0.append(10 + index) } }
                }
            }
        }
        await eventually { seen.withLock { $0.count } == 6 }
        #expect(seen.withLock { $0 } == [0, 1, 2, 10, 11, 12])
        await loop.stop()
    }

    @Test func whatWaitsForItsTurnIsRunBeforeTheLoopEnds() async throws {
        let loop = try IOLoop.start()
        let seen = Lock<[Int]>([])
        try await loop.run {
            for index in 0..<3 {
                loop.performOnCore { core in
                    takeASlice()
                    seen.withLock { $0.append(index) }
                    loop.perform { seen.withLock { $0.append(10 + index) } }
                    if index == 0 { core.requestStop() }
                }
            }
        }
        await loop.stop()
        #expect(seen.withLock { $0 } == [0, 1, 2, 10, 11, 12])
    }

    @Test func takesNothingAfterItHasStopped() async throws {
        let loop = try IOLoop.start()
        await loop.stop()
        await loop.stop()
        #expect(!loop.perform {})
        let error = await #expect(throws: IOError.self) { try await loop.run {} }
        #expect(error?.code == .stopped)
    }

    /// With it would go what OpenSSL has, beside the end of the program.
    @Test func nothingOfALoopOutlivesItsStop() async throws {
        let loop = try IOLoop.start()
        let seen = WeakCore()
        try await loop.runOnCore { seen.core = $0 }
        await loop.stop()
        #expect(seen.core == nil)
    }

    private final class WeakCore: @unchecked Sendable {
        // Unchecked: set on the loop's thread, and read when that has ended.
        weak var core: LoopCore?
    }

    @Test func whatWasTakenBeforeTheStopIsRun() async throws {
        let loop = try IOLoop.start()
        let tally = Tally()
        let posters = (0..<4).map { _ in
            Task.detached {
                (0..<1_000).count { _ in
                    loop.perform { tally.count.wrappingAdd(1, ordering: .relaxed) }
                }
            }
        }
        await loop.stop()
        var taken = 0
        for poster in posters { taken += await poster.value }
        #expect(tally.count.load(ordering: .relaxed) == taken)
    }

    @Test func isTheExecutorOfAnActorEvenAfterItsEnd() async throws {
        let loop = try IOLoop.start()
        let counter = Counter(loop)
        #expect(await counter.increment())
        await loop.stop()
        let onThread = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 { group.addTask { await counter.increment() } }
            return await group.reduce(false) { $0 || $1 }
        }
        #expect(!onThread)
        #expect(await counter.value == 101)
    }

    /// An executor runs one job at a time, also in the moment in which its thread comes to its end.
    @Test func nothingRunsBesideTheLastWorkOfTheThread() async throws {
        let loop = try IOLoop.start()
        let counter = Counter(loop)
        let tally = Tally()
        let beside = Lock<Task<Void, Never>?>(nil)
        let ranBeside = Lock<Bool?>(nil)
        loop.performOnCore { core in
            core.requestStop()
            // This is found in the mailbox when it has been closed.
            loop.perform {
                beside.withLock {
                    $0 = Task.detached {
                        _ = await counter.increment()
                        tally.count.add(1, ordering: .relaxed)
                    }
                }
                let deadline = ContinuousClock.now + .milliseconds(100)
                while tally.count.load(ordering: .relaxed) == 0, .now < deadline {}
                ranBeside.withLock { $0 = tally.count.load(ordering: .relaxed) > 0 }
            }
        }
        await loop.stop()
        await beside.withLock { $0 }?.value
        #expect(ranBeside.withLock { $0 } == false)
        #expect(await counter.value == 1)
    }

    @Test func performsLaterInTheOrderOfTheTimes() async throws {
        let loop = try IOLoop.start()
        let seen = Lock<[Int]>([])
        // Between two of these calls this thread may stand still, so the time of each lies between two times.
        var due: [Int: ClosedRange<ContinuousClock.Instant>] = [:]
        for delay in [30, 10, 20, 0] {
            let before = ContinuousClock.now
            loop.perform(after: .milliseconds(delay)) { seen.withLock { $0.append(delay) } }
            let after = ContinuousClock.now
            // Times are whole milliseconds.
            due[delay] = before + .milliseconds(delay - 1)...after + .milliseconds(delay + 1)
        }
        await eventually { seen.withLock { $0.count } == 4 }
        let order = seen.withLock { $0 }
        for (place, earlier) in order.enumerated() {
            for later in order[place...] {
                let (first, second) = (try #require(due[earlier]), try #require(due[later]))
                #expect(first.lowerBound <= second.upperBound, "\(order), due \(due)")
            }
        }
        await loop.stop()
    }
}
