import GraphQLExecution
@_spi(Rooms) import RelayRecords

// `extensions.relay.atLeast`: a state as new as a cursor.

extension GraphQLService {
    func isReached(_ cursor: StreamCursor) -> Bool {
        isOfThisHistory(cursor) && cursor.sequence <= durable.published
    }

    /// What a stream waits for before it begins: the state that it asks for, and, where other servers give cursors too,
    /// the one that it resumes behind.
    func cursorToReach(_ relay: RelayExtensions) -> StreamCursor? {
        let resumed =
            leadership.isShared
            ? relay.resume.flatMap(StreamCursor.init).flatMap { isOfThisHistory($0) ? $0 : nil }
            : nil
        guard let resumed else { return relay.atLeast }
        guard let atLeast = relay.atLeast else { return resumed }
        return atLeast.sequence < resumed.sequence && isOfThisHistory(atLeast) ? resumed : atLeast
    }

    private func isOfThisHistory(_ cursor: StreamCursor) -> Bool {
        cursor.storeID == identity.storeID && cursor.epoch == identity.epoch
    }

    /// Waits until the state has reached a cursor, which another server of the same journal may have given.
    /// - Parameters:
    ///   - isBounded: false for what is counted elsewhere.
    ///   - goOn: called once, at once if it has; with the reason if it is not waited for.
    func wait(
        for cursor: StreamCursor?, isBounded: Bool = true,
        _ goOn: @escaping @Sendable (ExecutionError?) -> Void
    ) {
        guard let cursor, !isReached(cursor) else { return goOn(nil) }
        guard isOfThisHistory(cursor) else {
            return goOn(
                ExecutionError(
                    "extensions.relay.atLeast is a cursor of another history.", code: .badUserInput)
            )
        }
        let isWaiting = durable.whenReached(
            cursor.sequence, within: catchUpTime, isBounded: isBounded, tasks
        ) { [catchUpTime] isReached in
            goOn(isReached ? nil : .behind(cursor, after: catchUpTime))
        }
        if !isWaiting {
            let message = "Too many requests wait for a newer state; try again later."
            goOn(ExecutionError(message, code: .overloaded))
        }
    }
}

extension ExecutionError {
    fileprivate static func behind(_ cursor: StreamCursor, after time: Duration) -> ExecutionError {
        ExecutionError(
            """
            This server has not reached event \(cursor.sequence), which the cursor of the request names, within \
            \(time.components.seconds) seconds. Nothing was executed; try again, or ask another server.
            """, code: .behind)
    }
}
