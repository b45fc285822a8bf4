@_spi(Rooms) import RelayRecords

/// Subscriptions for which the log could not be read, and is read again in a moment. Pure.
struct FailedReadings {
    /// How long a reading waits that has failed, and how often it is tried again: half a minute in all.
    static let retryInterval = Duration.seconds(1)
    static let retryLimit = 30

    /// The last event that can't be read, as far as is known: what follows an earlier one is lost.
    var readableAfter: UInt64 = 0
    private var retrying = WaitingLine<ObjectIdentifier, CatchUp.Waiting>()
    private var isRetryDue = false

    var count: Int { retrying.count }

    /// - Returns: those that are tried again, those that have been too often, and whether a retry has to be timed.
    mutating func append(
        _ batch: [CatchUp.Waiting]
    ) -> (retried: [CatchUp.Waiting], ended: [CatchUp.Waiting], starts: Bool) {
        var retried: [CatchUp.Waiting] = []
        var ended: [CatchUp.Waiting] = []
        for var waiting in batch {
            // It is not the same lack again and again where it has got further.
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

    /// All whose time has come.
    mutating func takeDue() -> [CatchUp.Waiting] {
        isRetryDue = false
        return retrying.takeAll()
    }

    mutating func remove(_ sink: any SubscriptionSink) -> CatchUp.Waiting? {
        retrying.remove(ObjectIdentifier(sink))
    }
}
