import RelayStore
import Testing

@testable import EventStore

@Suite struct BisectTests {
    private let log: TodoHistory

    init() throws { log = try TodoHistory() }

    @Test func bisectFindsTheFirstStateAndLooksAtFew() throws {
        let history = try log.open()
        for first in UInt64(1)...10 {
            var looks = 0
            let found = try history.bisect(in: 1...10) { snapshot in
                looks += 1
                return snapshot.sequence >= first
            }
            #expect(found == first)
            #expect(looks <= 5)
        }
        #expect(try history.bisect(in: 1...10) { _ in false } == nil)
        #expect(try history.bisect(in: 3...7) { $0.sequence >= 7 } == 7)
        #expect(throws: EventStoreError.self) { try history.bisect(in: 1...11) { _ in false } }
    }
}
