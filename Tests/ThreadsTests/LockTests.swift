import BoundedTesting
import Foundation
import Testing
import Threads

@Suite(.bounded) struct LockTests {
    private final class Counted: Sendable {
        let lock = Lock(Counter())
    }

    private final class Counter {
        var count = 0
        var appended: [Int] = []
    }

    private final class Held: Sendable {
        let lock = Lock(1)
    }

    /// Under `swift test --sanitize thread` this also shows that the sanitizer understands the lock: what is
    /// guarded is not atomic.
    @Test func oneThreadAtATime() async {
        let counted = Counted()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for number in 0..<20_000 {
                        counted.lock.withLock { counter in
                            counter.count += 1
                            if number % 1_000 == 0 { counter.appended.append(task) }
                        }
                    }
                }
            }
        }
        #expect(counted.lock.withLock { $0.count } == 80_000)
        #expect(counted.lock.withLock { $0.appended.count } == 80)
    }

    @Test func whoeverCannotWaitIsTold() {
        let held = Held()
        #expect(held.lock.withLockIfAvailable { $0 } == 1)
        let isTaken = DispatchSemaphore(value: 0)
        let isSeen = DispatchSemaphore(value: 0)
        let holder = Thread {
            held.lock.withLock { _ in
                isTaken.signal()
                isSeen.wait()
            }
        }
        holder.start()
        isTaken.wait()
        #expect(held.lock.withLockIfAvailable { $0 } == nil)
        isSeen.signal()
    }

    @Test func whatIsThrownIsThrownOn() {
        struct Broken: Error {}
        let lock = Lock([1])
        #expect(throws: Broken.self) {
            try lock.withLock { values throws(Broken) in
                values.append(2)
                throw Broken()
            }
        }
        #expect(lock.withLock { $0 } == [1, 2])
    }
}
