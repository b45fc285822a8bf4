@_spi(Rooms) import RelayRecords

/// Subscriptions for which reading the log failed and will be retried shortly. Pure.
struct FailedReadings {
    /// The delay before a failed read is retried, and the number of retries: half a minute in all.
    static let retryInterval = Duration.seconds(1)
    static let retryLimit = 30

    /// The last event known to be unreadable; anything after an earlier cursor is lost.
    var readableAfter: UInt64 = 0
    private var retrying = WaitingLine<ObjectIdentifier, CatchUp.Waiting>()
    private var isRetryDue = false

    var count: Int { retrying.count }

    /// - Returns: those that are retried, those that have failed too often, and whether a retry must be
    ///   scheduled.
    mutating func append(
        _ batch: [CatchUp.Waiting]
    ) -> (retried: [CatchUp.Waiting], ended: [CatchUp.Waiting], starts: Bool) {
        var retried: [CatchUp.Waiting] = []
        var ended: [CatchUp.Waiting] = []
        for var waiting in batch {
            // If it has made progress, this is a new failure.
            if waiting.sequence != waiting.request.failedAfter { waiting.request.failedReads = 0 }
            waiting.request.failedAfter = waiting.sequence
            waiting.request.failedReads += 1
            if waiting.request.failedReads > Self.retryLimit {
                ended.append(waiting)
            } else {
                retried.append(waiting)
                retrying.append(ObjectIdentifier(waiting.request.sink), waiting)
            }
        }
        let starts = !retried.isEmpty && !isRetryDue
        if starts { isRetryDue = true }
        return (retried, ended, starts)
    }

    /// All that are due for a retry.
    mutating func takeDue() -> [CatchUp.Waiting] {
        isRetryDue = false
        return retrying.takeAll()
    }

    mutating func remove(_ sink: any SubscriptionSink) -> CatchUp.Waiting? {
        retrying.remove(ObjectIdentifier(sink))
    }
}
