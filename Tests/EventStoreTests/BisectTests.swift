@_spi(Rooms) import RelayRecords
import Testing

@testable import EventStore

@Suite(.bounded) struct BisectTests {
    private let log: TodoHistory

    init() throws { log = try TodoHistory() }

    @Test func bisectFindsTheFirstStateAndLooksAtFew() throws {
        let history = try log.open()
        for first in UInt64(1)...10 {
            var looks = 0
            let result = try history.bisect(in: 1...10) { snapshot in
                looks += 1
                return snapshot.sequence >= first ? .holds : .doesNotHold
            }
            #expect(result == .found(first))
            #expect(looks <= 5)
        }
        #expect(try history.bisect(in: 1...10) { _ in .doesNotHold } == .never)
        #expect(
            try history.bisect(in: 3...7) { $0.sequence >= 7 ? .holds : .doesNotHold } == .found(7))
        #expect(throws: EventStoreError.self) {
            try history.bisect(in: 1...11) { _ in .doesNotHold }
        }
    }

    @Test func statesOfWhichNothingCanBeToldArePassedOver() throws {
        let history = try log.open()
        let found = try history.bisect(in: 1...10) { snapshot in
            if [4, 5, 6].contains(snapshot.sequence) { return .cannotTell }
            return snapshot.sequence >= 8 ? .holds : .doesNotHold
        }
        #expect(found == .found(8))
        let unclear = try history.bisect(in: 1...10) { snapshot in
            if [4, 5, 6].contains(snapshot.sequence) { return .cannotTell }
            return snapshot.sequence >= 5 ? .holds : .doesNotHold
        }
        #expect(unclear == .among(4...7))
    }
}
