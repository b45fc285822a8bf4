/// Everything a store knows about its log.
///
/// A journal holds one history. Events may also come from other processes, so code must not assume that
/// the next event is its own: an append says which sequence it expects to follow.
package protocol EventJournal: Sendable {
    /// Increases whenever the history may differ from what was handed out earlier: repair, fork, memory.
    var epoch: UInt64 { get }

    /// Submits events to be appended after `sequence`, in the order of the calls.
    ///
    /// Does not wait. `completion` is called once, in order, on a thread of the journal's, and must not
    /// append: with the last of the events' sequences when they are durable, or with the reason why none
    /// of them was appended. After a failure everything submitted after it fails too.
    func append(
        _ events: [NewEvent], expecting sequence: UInt64,
        completion: @escaping @Sendable (Result<UInt64, JournalError>) -> Void)

    /// Everything from a sequence on, once durable; then live until the task is cancelled.
    func events(from sequence: UInt64) -> AsyncThrowingStream<Event, any Error>

    /// The earliest event after which the state can still be rebuilt; 0 is the state before all events.
    var earliestState: UInt64 { get }

    /// A state at or before an event, as late as possible without folding, with symbols of its own.
    /// - Throws: if no state from which that event can be reached is kept or readable.
    func state(near sequence: UInt64, indexes: [IndexDefinition]) async throws -> Snapshot

    /// The last event at or before a time, in microseconds since 1970; nil if all are later.
    /// - Parameter last: the last event to consider.
    func lastEvent(at timeMicroseconds: Int64, through last: UInt64) async throws -> UInt64?

    /// Whether there is room for more events, as far as an attempt can tell.
    func hasRoom() async -> Bool

    /// Only an append tells whether there is room: the disk is another machine's.
    var isTriedByAppends: Bool { get }
}

extension EventJournal {
    package var earliestState: UInt64 { 0 }

    package func hasRoom() async -> Bool { true }

    package var isTriedByAppends: Bool { false }

    package func state(near sequence: UInt64, indexes: [IndexDefinition]) async throws -> Snapshot {
        Snapshot(indexes: indexes)
    }

    package func lastEvent(
        at timeMicroseconds: Int64, through last: UInt64
    ) async throws -> UInt64? {
        var found: UInt64?
        if last == 0 { return nil }
        for try await event in events(from: 1) {
            if event.timeMicroseconds <= timeMicroseconds { found = event.sequence }
            if event.sequence >= last { break }
        }
        return found
    }
}

/// An event without a place in the log yet.
package struct NewEvent: Sendable, Hashable {
    package var timeMicroseconds: Int64
    package var body: EventBody

    package init(timeMicroseconds: Int64, body: EventBody) {
        self.timeMicroseconds = timeMicroseconds
        self.body = body
    }
}

/// Why events were not appended.
package struct JournalError: Error, Hashable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// Another writer appended first; the journal is now at this sequence.
        case overtaken(by: UInt64)
        case storageFull
        /// Too much is waiting for the disk; the journal will accept events again later.
        case busy
        /// The journal has stopped permanently: an earlier write or sync failed.
        case frozen
        /// The journal cannot accept these events, but can accept others.
        case refused
        case closed
        /// Too many events are waiting for a journal that rejects them.
        case backlogFull
    }

    package var code: Code
    package var message: String

    package init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}

/// Why events cannot be read: the cause may be permanent, like damage, or temporary, like a lack of file descriptors.
package protocol EventReadError: Error {
    var isLasting: Bool { get }
}

extension FoldError: EventReadError {
    package var isLasting: Bool { true }
}

extension MalformedEvent: EventReadError {
    package var isLasting: Bool { true }
}

extension EventJournal {
    /// Appends and waits until the events are durable; returns the last one's sequence.
    package func append(
        _ events: [NewEvent], expecting sequence: UInt64
    ) async throws(JournalError) -> UInt64 {
        let result = await withCheckedContinuation { continuation in
            append(events, expecting: sequence) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }
}
