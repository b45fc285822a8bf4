import Synchronization

/// How much of a log may be read for one question, where others wait for their answers as well.
///
/// Reading ends with an error when more would be needed, or when nobody waits for it any more. An event that is
/// folded or listed counts as one; one that is only searched for a record's id counts as an eighth.
package final class HistoryAllowance: Sendable {
    static let eventUnits = 8
    static let passedUnits = 1

    /// In events.
    package let limit: Int
    private let unitLimit: Int
    private let spentUnits = Atomic(0)
    private let givenUp = Atomic(false)

    package init(events limit: Int) {
        self.limit = max(limit, 0)
        let (units, isTooMany) = self.limit.multipliedReportingOverflow(by: Self.eventUnits)
        unitLimit = isTooMany ? .max : units
    }

    /// Events read so far.
    package var spent: Int { spentUnits.load(ordering: .relaxed) / Self.eventUnits }

    /// Whether nobody waits any more.
    package var isGivenUp: Bool { givenUp.load(ordering: .relaxed) }

    private var leftUnits: Int {
        unitLimit - min(spentUnits.load(ordering: .relaxed), unitLimit)
    }

    /// Nobody waits for the answer any more. May be called on any thread.
    package func giveUp() { givenUp.store(true, ordering: .relaxed) }

    /// - Throws: `cancelled`, `limitExceeded`.
    func spend(_ units: Int) throws(EventStoreError) {
        if isGivenUp { throw .cancelled }
        let sum = spentUnits.add(units, ordering: .relaxed).newValue
        guard sum <= unitLimit else { throw .tooMuchWork(limit: limit) }
    }

    /// Checks in advance whether a way of so many events may be gone: the answer would come late otherwise.
    /// - Throws: `limitExceeded`.
    func check(_ events: UInt64, of units: Int) throws(EventStoreError) {
        if events > UInt64(leftUnits / units) { throw .tooMuchWork(events, limit: limit) }
    }
}
