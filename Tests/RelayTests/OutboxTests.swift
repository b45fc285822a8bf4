import Testing
import Threads

@testable import Relay
@_spi(Rooms) @testable import RelayStore

@Suite struct OutboxTests {
    @Test func manyThatEndAtOnceDoNotFillTheStack() {
        let outbox = Outbox()
        var order: [Int] = []
        outbox.resume(
            (0..<200_000).map { number in
                .init(number) { ended in
                    order.append(number)
                    ended(nil)
                }
            })
        #expect(order.count == 200_000)
        #expect(order == order.sorted())
        let isSent = Noted()
        outbox.sendBehindUnfinished(outbox.place("sent", isSent))
        #expect(isSent.all == ["sent"])
    }

    @Test func atTheBoundThereAreNoPlaces() {
        let outbox = Outbox(limit: 2)
        var end: (((any Error)?) -> Void)?
        outbox.resume([.init(1) { end = $0 }])
        let sent = Noted()
        for name in ["a", "b"] { outbox.sendBehindUnfinished(outbox.place(name, sent)) }
        #expect(outbox.makePlace { _ in } == nil)
        #expect(sent.all == [])
        end?(nil)
        #expect(sent.all == ["a", "b"])
        #expect(outbox.makePlace { _ in } != nil)
    }

    /// It keeps nothing, counts no longer, and holds up nobody.
    @Test func aPlaceThatIsGivenUpIsFree() throws {
        let outbox = Outbox(limit: 3)
        var end: (((any Error)?) -> Void)?
        outbox.resume([.init(1) { end = $0 }])
        let sent = Noted()
        let first = outbox.place("a", sent)
        weak var held: Noted?
        let second: Outbox.Place
        do {
            let holder = Noted()
            held = holder
            second = outbox.place("b", holder)
        }
        let third = outbox.place("c", sent)
        for place in [first, second, third] { outbox.sendBehindUnfinished(place) }
        #expect(held != nil)
        outbox.leave(second)
        #expect(held == nil)
        // Also one that is in no order yet, and one that comes to its turn when it is over.
        let fourth = outbox.place("d", sent)
        outbox.leave(fourth)
        outbox.sendBehindUnfinished(fourth)
        outbox.sendBehindUnfinished(outbox.place("e", sent))
        #expect(outbox.makePlace { _ in } == nil)
        end?(nil)
        outbox.leave(first)
        #expect(sent.all == ["a", "c", "e"])
        // One that ended twice, or was sent, makes no room for more than it had.
        let places = (0..<3).map { outbox.place("\($0)", sent) }
        #expect(outbox.makePlace { _ in } == nil)
        withExtendedLifetime(places) {}
    }

    /// A journal that refuses for long keeps nothing of mutations that were cancelled.
    @Test func aPlaceThatIsGivenUpDoesNotWaitForTheJournal() async throws {
        let journal = HeldJournal()
        var options = StoreOptions()
        options.journal = journal
        let store = Store(options: options)
        let outbox = Outbox()
        try store.commitUpdate { _ = $0.create(dataID: "a", typeName: "Todo") }
        weak var former: Outbox.Place?
        weak var late: Outbox.Place?
        let sent = Noted()
        do {
            let place = outbox.place("given up", sent)
            former = place
            outbox.enter(place, store)
            outbox.leave(place)
            // Cancelled on another thread while it begins.
            let next = outbox.place("given up before", sent)
            late = next
            outbox.leave(next)
            outbox.enter(next, store)
        }
        #expect(former == nil && late == nil)
        outbox.enter(outbox.place("b", sent), store)
        #expect(sent.all == [])
        journal.release()
        await eventually { sent.all == ["b"] }
    }
}

/// What was sent, in order.
private final class Noted: Sendable {
    private let names = Lock<[String]>([])

    var all: [String] { names.withLock { $0 } }

    func note(_ name: String) { names.withLock { $0.append(name) } }
}

extension Outbox.Unfinished {
    fileprivate init(
        _ number: Int, _ send: @escaping (@escaping ((any Error)?) -> Void) -> Void
    ) {
        self.init(
            entry: OptimisticEntryID(rawValue: UInt64(number)), send: send, skip: { _ in })
    }
}

extension Outbox {
    fileprivate func place(_ name: String, _ sent: Noted) -> Place {
        guard let place = makePlace({ _ in sent.note(name) }) else {
            preconditionFailure("there is no place for \(name)")
        }
        return place
    }
}
