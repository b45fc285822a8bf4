package import EventLog
package import RelayStore

// An event of the store is an event of the log whose payload is its body.

extension EventBatch {
    package mutating func append(_ event: NewEvent) {
        append(
            kind: EventLog.EventKind(rawValue: event.body.kind),
            timeMicroseconds: event.timeMicroseconds, payload: event.body.payload)
    }
}

extension EventCursor {
    /// The next event, read; nil at the end.
    func nextEvent() throws(EventStoreError) -> Event? {
        let result = try onLog { () throws(LogError) in
            try next { sequence, kind, time, payload in
                Result { () throws(EventStoreError) in
                    do throws(MalformedEvent) {
                        let body = try EventBody(kind: kind.rawValue, payload: payload)
                        return Event(sequence: sequence, timeMicroseconds: time, body: body)
                    } catch {
                        throw .unreadable(sequence, error)
                    }
                }
            }
        }
        return try result?.get()
    }
}
