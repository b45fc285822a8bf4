import BoundedTesting
import Testing
@_spi(Rooms) import Threads

@Suite(.bounded)
struct FIFOTests {
    private final class Thing {}

    @Test func givesThingsInOrderAndKeepsNoneThatWasTaken() {
        var queue = FIFO<Int>()
        var taken: [Int] = []
        for number in 0..<5_000 {
            queue.append(contentsOf: [2 * number, 2 * number + 1])
            if let next = queue.popFirst() { taken.append(next) }
            #expect(queue.count == number + 1)
        }
        while let next = queue.popFirst() { taken.append(next) }
        #expect(taken == Array(0..<10_000))
        #expect(queue.isEmpty)

        var things = FIFO<Thing>()
        things.append(Thing())
        things.append(Thing())
        weak let first = things.popFirst()
        #expect(first == nil)
        #expect(things.count == 1)
    }

    @Test func isReadByPlacesFromTheFront() {
        var queue = FIFO<Int>()
        queue.append(contentsOf: 0..<100)
        for _ in 0..<70 { _ = queue.popFirst() }
        #expect(queue.first == 70 && queue[1] == 71 && queue.last == 99)
        #expect(Array(queue) == Array(70..<100))
    }

    @Test func aQueueThatIsNeverEmptyReclaimsItsSlots() {
        var queue = FIFO<Int>()
        queue.append(0)
        for number in 1...100_000 {
            queue.append(number)
            #expect(queue.popFirst() == number - 1)
        }
        #expect(queue.capacity <= 256)
    }
}
