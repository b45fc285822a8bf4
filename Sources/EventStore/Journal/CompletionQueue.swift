@_spi(Rooms) import RelayRecords

/// The order in which appends are completed: that of the calls, whatever the outcome of each.
///
/// The log completes what it accepted, in order, on its own thread. A refusal is known at once, but must not
/// overtake what was accepted before. A state machine without threads or locks: every append takes a ticket,
/// every ticket gets its result once, and ``takeReady()`` returns the front of the queue as far as results
/// are known.
///
/// Invariant: between a ``takeReady()`` that returns something and the one that returns nil, no other thread
/// gets anything, so two threads cannot complete out of order.
struct CompletionQueue {
    typealias Completion = @Sendable (Result<UInt64, JournalError>) -> Void

    struct Ticket {
        fileprivate let number: Int
    }

    struct Ready {
        let completion: Completion
        let result: Result<UInt64, JournalError>
    }

    private struct Entry {
        let completion: Completion
        var result: Result<UInt64, JournalError>?
    }

    private var entries: ArraySlice<Entry> = []
    private var taken = 0
    private var isBeingDelivered = false

    mutating func add(_ completion: @escaping Completion) -> Ticket {
        entries.append(Entry(completion: completion, result: nil))
        return Ticket(number: taken + entries.count - 1)
    }

    mutating func settle(_ ticket: Ticket, _ result: Result<UInt64, JournalError>) {
        let place = entries.startIndex + ticket.number - taken
        assert(entries[place].result == nil, "an append ends once")
        entries[place].result = result
    }

    /// Requests delivery; a caller that gets true calls ``takeReady()`` until it returns nil.
    mutating func beginDelivery() -> Bool {
        guard !isBeingDelivered else { return false }
        isBeingDelivered = true
        return true
    }

    /// The next completion that is ready, in order; nil ends the delivery.
    mutating func takeReady() -> Ready? {
        assert(isBeingDelivered, "one at a time delivers")
        guard let entry = entries.first, let result = entry.result else {
            isBeingDelivered = false
            return nil
        }
        entries.removeFirst()
        // An empty slice would keep its old buffer alive.
        if entries.isEmpty { entries = [] }
        taken += 1
        return Ready(completion: entry.completion, result: result)
    }
}
