/// A queue: first in, first out, indexed from the front.
///
/// A removed element is released at once. Its slot is reclaimed when half of all slots are empty, so that each
/// element is moved about once even if the queue is never empty. Hot between rooms: decision 0009.
@_spi(Rooms) public struct FIFO<Element>: RandomAccessCollection {
    /// nil before `taken`.
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var taken = 0

    @inlinable public init() {}

    @inlinable public var startIndex: Int { 0 }
    @inlinable public var endIndex: Int { elements.count - taken }
    /// Allocated slots, with or without an element.
    @inlinable public var capacity: Int { elements.capacity }

    @inlinable public subscript(place: Int) -> Element { elements[taken + place]! }

    @inlinable public mutating func append(_ element: Element) { elements.append(element) }

    @inlinable public mutating func append(contentsOf new: some Sequence<Element>) {
        for element in new { elements.append(element) }
    }

    /// Removes the first element.
    @inlinable public mutating func popFirst() -> Element? {
        guard taken < elements.count else { return nil }
        let element = elements[taken].take()
        taken += 1
        if taken == elements.count {
            elements.removeAll(keepingCapacity: taken < 4_096)
            taken = 0
        } else if taken >= 64, taken * 2 >= elements.count {
            elements.removeFirst(taken)
            taken = 0
        }
        return element
    }
}

extension FIFO: Sendable where Element: Sendable {}
