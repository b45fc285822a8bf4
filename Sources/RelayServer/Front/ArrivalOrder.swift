/// What is prepared side by side and handed over in the order of arrival: a state machine without threads.
///
/// What has to wait takes a ticket, every ticket is settled once, and ``settle(_:_:)`` gives out the front as far
/// as it is settled.
struct ArrivalOrder<Value> {
    struct Ticket {
        fileprivate let number: Int
    }

    private var arrivals: [Value?] = []
    /// The number of the first.
    private var first = 0

    /// - Parameter isReady: it needs no preparation.
    /// - Returns: nil when its turn is now; else a ticket, to be settled when it is ready.
    mutating func arrive(isReady: Bool) -> Ticket? {
        if isReady, arrivals.isEmpty { return nil }
        arrivals.append(nil)
        return Ticket(number: first + arrivals.count - 1)
    }

    /// - Returns: whose turn it is now, in order.
    mutating func settle(_ ticket: Ticket, _ value: Value) -> [Value] {
        assert(arrivals[ticket.number - first] == nil, "a ticket is settled once")
        arrivals[ticket.number - first] = value
        let ready = arrivals.prefix { $0 != nil }.compactMap { $0 }
        arrivals.removeFirst(ready.count)
        first += ready.count
        return ready
    }
}
