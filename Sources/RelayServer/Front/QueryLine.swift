@_spi(Rooms) import Threads

/// The queries of one connection: a few are executed at a time, and the others wait for them in order of arrival. So
/// one client leaves processors to the others, and what it no longer waits for need not be executed.
struct QueryLine<Query> {
    private let limit: Int
    private var runningCount = 0
    private var waiting = FIFO<Query>()

    /// - Parameter limit: how many are executed at a time.
    init(limit: Int) { self.limit = limit }

    /// - Returns: whether it begins now; otherwise it waits.
    mutating func arrive(_ query: Query) -> Bool {
        if runningCount == limit {
            waiting.append(query)
            return false
        }
        runningCount += 1
        return true
    }

    /// One has ended.
    /// - Returns: the one that begins now.
    mutating func end() -> Query? {
        if let next = waiting.popFirst() { return next }
        runningCount -= 1
        return nil
    }
}
