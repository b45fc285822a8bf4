package import EventLog
@_spi(Rooms) package import RelayRecords

// An event of the store is an event of the log whose payload is its body.

extension EventBatch {
    package mutating func append(_ event: NewEvent) {
        append(
            kind: LogEventKind(rawValue: event.body.kind),
            timeMicroseconds: event.timeMicroseconds, payload: event.body.payload)
    }
}

extension WholeFrame {
    /// Its events, decoded.
    package func storeEvents() throws(EventStoreError) -> [Event] {
        var decoded: [Event] = []
        for recorded in events {
            let event = recorded.event
            let result = event.payload.withUnsafeBytes {
                Result.reading(
                    recorded.sequence, event.kind.rawValue, event.timeMicroseconds, $0)
            }
            decoded.append(try result.get())
        }
        return decoded
    }
}

extension EventCursor {
    /// The next event, decoded; nil at the end.
    func nextEvent() throws(EventStoreError) -> Event? {
        let result = try onLog { () throws(LogError) in
            try next { sequence, kind, time, payload in
                Result.reading(sequence, kind.rawValue, time, payload)
            }
        }
        return try result?.get()
    }
}
