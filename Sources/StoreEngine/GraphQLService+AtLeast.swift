import GraphQLExecution
@_spi(Rooms) import RelayRecords

// `extensions.relay.atLeast`: a state as new as a cursor.

extension GraphQLService {
    func isReached(_ cursor: StreamCursor) -> Bool {
        cursor.storeID == identity.storeID && cursor.epoch == identity.epoch
            && cursor.sequence <= durable.snapshot.sequence
    }

    /// Waits until the state has reached a cursor, which another server of the same journal may have given.
    /// - Parameter goOn: called once, at once if it has; with the reason if it is not waited for.
    func wait(
        for cursor: StreamCursor?, _ goOn: @escaping @Sendable (ExecutionError?) -> Void
    ) {
        guard let cursor, !isReached(cursor) else { return goOn(nil) }
        guard cursor.storeID == identity.storeID, cursor.epoch == identity.epoch else {
            return goOn(
                ExecutionError(
                    "extensions.relay.atLeast is a cursor of another history.", code: .badUserInput)
            )
        }
        let isWaiting = durable.whenReached(cursor.sequence, within: catchUpTime, tasks) {
            [catchUpTime] isReached in
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
            This server has not reached the event that extensions.relay.atLeast names within \
            \(time.components.seconds) seconds. Nothing was executed; try again, or ask another server.
            """, code: .behind)
    }
}
