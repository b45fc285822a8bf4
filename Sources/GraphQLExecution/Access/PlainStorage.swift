/// A growing list of plain values: reading one counts no references and checks no bounds.
struct PlainStorage<Element: BitwiseCopyable>: ~Copyable {
    private var start: UnsafeMutablePointer<Element>
    private var capacity: Int
    private(set) var count = 0

    init() {
        capacity = 4
        start = .allocate(capacity: capacity)
    }

    deinit { start.deallocate() }

    mutating func append(_ element: Element) {
        if count == capacity {
            let grown = UnsafeMutablePointer<Element>.allocate(capacity: 2 * capacity)
            grown.moveInitialize(from: start, count: count)
            start.deallocate()
            start = grown
            capacity *= 2
        }
        (start + count).initialize(to: element)
        count += 1
    }

    mutating func removeAll() { count = 0 }

    /// The address of an element; good until the next one is appended.
    @inline(__always)
    func address(_ index: Int) -> UnsafeMutablePointer<Element> {
        assert(index >= 0 && index < count, "an index comes from count")
        return start + index
    }
}
