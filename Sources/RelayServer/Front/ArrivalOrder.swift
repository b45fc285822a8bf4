/// What is prepared side by side and handed over in the order of arrival: a state machine without threads.
///
/// Every arrival takes a ticket, every ticket is settled once, and ``settle(_:_:)`` gives out the front as far
/// as it is settled.
struct ArrivalOrder<Value> {
    struct Ticket {
        fileprivate let number: Int
    }

    private var arrivals: [Value?] = []
    /// The number of the first.
    private var first = 0

    /// Nobody is waited for.
    var isEmpty: Bool { arrivals.isEmpty }

    mutating func arrive() -> Ticket {
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
