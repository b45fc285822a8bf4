/// What waits in line: first in, first out. What has been taken out is not kept.
struct FIFO<Element> {
    /// Nil up to `next`.
    private var elements: [Element?] = []
    private var next = 0

    var isEmpty: Bool { next == elements.count }
    var count: Int { elements.count - next }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func append(contentsOf new: [Element]) {
        for element in new { elements.append(element) }
    }

    /// Takes out the first one.
    mutating func pop() -> Element? {
        guard next < elements.count else {
            elements.removeAll(keepingCapacity: next < 4_096)
            next = 0
            return nil
        }
        let element = elements[next].take()
        next += 1
        if next >= 1_024, next * 2 >= elements.count {
            elements.removeFirst(next)
            next = 0
        }
        return element
    }
}
