import BoundedTesting
import EventStore
@_spi(Rooms) import RelayRecords
import TerminalUI
import Testing

@testable import ReplayDebugger

/// The debugger at a screen, key by key.
@MainActor @Suite(.bounded) struct DebuggerTests {
    private let log: DebuggedLog

    init() throws { log = try DebuggedLog() }

    private func start(
        at event: UInt64? = nil, query: String? = nil, of log: DebuggedLog? = nil
    ) async throws -> Pilot {
        let log = log ?? self.log
        let model = DebuggerModel(
            try Debugger(log.open()), at: event, query: query.map { DebuggerQuery(text: $0) },
            // The files are there as long as the log is.
            delay: { withExtendedLifetime(log) {} })
        let pilot = Pilot(size: Size(width: 100, height: 24)) { DebuggerView(model) }
        await pilot.settle { !$0.text.contains("index ") && $0.text.contains("▶") }
        return pilot
    }

    private func line(_ pilot: Pilot, _ prefix: String) -> String? {
        pilot.text.split(separator: "\n").map(String.init).first { $0.hasPrefix(prefix) }
    }

    @Test func itOpensAtTheNewestEvent() async throws {
        let pilot = try await start()
        #expect(pilot.text.hasPrefix("event 8 of 8"))
        #expect(line(pilot, "▶ ")?.contains("commitUpdate") == true)
        #expect(pilot.text.contains("t1.complete                     true -> false"))
        pilot.press(.right)
        #expect(pilot.text.contains("This was the newest event when the log was opened."))
    }

    @Test func leftAndRightGoBackAndForward() async throws {
        let pilot = try await start(at: 3)
        #expect(pilot.text.hasPrefix("event 3 of 8"))
        pilot.press(.left)
        await pilot.settle { $0.text.hasPrefix("event 2 of 8") }
        #expect(pilot.text.contains("addTodo") && pilot.text.contains("No record changed."))
        pilot.press("n")
        await pilot.settle { $0.text.hasPrefix("event 3 of 8") }
        #expect(line(pilot, "t2.text")?.contains(#"nothing -> "Eat""#) == true)
        #expect(line(pilot, "u1.todos")?.contains("+t2") == true)
        pilot.press("<")
        await pilot.settle { $0.text.hasPrefix("event 1 of 8") }
        pilot.press("p")
        #expect(pilot.text.contains("This is the first event."))
        pilot.press(">")
        await pilot.settle { $0.text.hasPrefix("event 8 of 8") }
    }

    /// Faster than moments can be read: what is passed is not shown, and nothing is lost.
    @Test func keysThatComeTooFastAreCounted() async throws {
        let pilot = try await start()
        for _ in 0..<7 { pilot.press(.left) }
        await pilot.settle { $0.text.hasPrefix("event 1 of 8") }
    }

    @Test func oneGoesToANumberATimeOrAPlaceBeforeTheEnd() async throws {
        let pilot = try await start()
        for (text, event) in [("5", 5), ("@-1", 7), ("1970-01-01T00:00:02Z", 3)] {
            pilot.press("g")
            #expect(pilot.text.contains("Go to"))
            pilot.type(text)
            pilot.press(.enter)
            await pilot.settle { $0.text.hasPrefix("event \(event) of 8") }
        }
        pilot.press("g")
        pilot.type("99")
        pilot.press(.enter)
        await pilot.settle { $0.text.contains("The log has no event 99: it has events 1 to 8.") }
        pilot.press("g")
        pilot.press(.escape)
        #expect(!pilot.text.contains("Go to"))
        #expect(pilot.text.hasPrefix("event 3 of 8"))
    }

    /// A record, a field, a condition; forward and backward.
    @Test(arguments: [
        ("t2", 3, 7), ("t1.complete", 5, 8), ("kind == revocation", 6, 6),
        ("operation == removeTodo", 7, 7),
    ])
    func aSearchStopsWhereItIsTold(_ text: String, _ first: Int, _ last: Int) async throws {
        let pilot = try await start(at: 1)
        pilot.press("/")
        pilot.type(text)
        pilot.press(.enter)
        await pilot.settle { $0.text.hasPrefix("event \(first) of 8") }
        #expect(pilot.text.contains("stops at \(text)"))
        if last != first {
            pilot.press("r")
            await pilot.settle { $0.text.hasPrefix("event \(last) of 8") }
        }
        pilot.press("r")
        await pilot.settle { $0.text.contains("There is no such event after \(last).") }
        if last != first {
            pilot.press("R")
            await pilot.settle { $0.text.hasPrefix("event \(first) of 8") }
        }
    }

    @Test func whatIsNoConditionIsSaid() async throws {
        let pilot = try await start()
        pilot.press("/")
        pilot.type("kind ==")
        pilot.press(.enter)
        await pilot.settle { $0.text.contains("expected") }
        #expect(pilot.text.hasPrefix("event 8 of 8"))
    }

    @Test func fromAValueOneRunsBackToTheWriteThatChangedIt() async throws {
        let pilot = try await start()
        pilot.press("w")
        await pilot.settle { $0.text.hasPrefix("event 5 of 8") }
        #expect(line(pilot, "t1.complete")?.contains("false -> true") == true)
        pilot.press("w")
        await pilot.settle { $0.text.hasPrefix("event 1 of 8") }
        pilot.press("R")
        await pilot.settle { $0.text.contains("There is no such event before 1.") }
    }

    @Test func aRecordIsShownWholeAndFollowsTheEvent() async throws {
        let pilot = try await start()
        pilot.press(.enter)
        await pilot.settle { $0.text.contains("__typename") }
        #expect(line(pilot, "complete")?.contains("true -> false") == true)
        #expect(line(pilot, "text")?.contains(#""Buy""#) == true)
        pilot.press(.left)
        await pilot.settle { $0.text.hasPrefix("event 7 of 8") }
        #expect(line(pilot, "complete")?.contains("->") == false)
        // The second row is `complete`.
        pilot.press(.down)
        pilot.press("w")
        await pilot.settle { $0.text.hasPrefix("event 5 of 8") }
        pilot.press(.escape)
        await pilot.settle { $0.text.contains("Changes") }
    }

    @Test func mutationsInFlightAreShownWithWhatTheyExpect() async throws {
        let pilot = try await start(at: 4)
        pilot.press("o")
        await pilot.settle { $0.text.contains("Mutations in flight") }
        #expect(line(pilot, "4 ")?.contains("rename") == true)
        #expect(pilot.text.contains("expects changes of t1"))
        pilot.press(.left)
        await pilot.settle { $0.text.contains("No mutation is in flight.") }
    }

    @Test func aQueryIsAnsweredAtEachMoment() async throws {
        let pilot = try await start(query: "{ __typename }")
        pilot.press("a")
        await pilot.settle { $0.text.contains(#""__typename": "Query""#) }
        pilot.press("e")
        // The query that there is may be changed.
        pilot.type(" x")
        pilot.press(.enter)
        await pilot.settle { $0.text.contains("Syntax Error") }
    }

    @Test func anEventIsTakenAwayToSeeWhatDependsOnIt() async throws {
        let pilot = try await start(at: 3)
        pilot.press("t")
        await pilot.settle { $0.text.contains("Without event 3 all would") }
        pilot.press(">")
        await pilot.settle { $0.text.contains("as it would be without event 8") }
        #expect(line(pilot, "t1.complete")?.contains("false -> true") == true)
        // Where that cannot be said, the event is there all the same.
        pilot.press("<")
        await pilot.settle { $0.text.contains("nothing can be without it.") }
        #expect(line(pilot, "▶ ")?.contains("genesis") == true)
    }

    @Test func helpIsAKeyAway() async throws {
        let pilot = try await start()
        pilot.press("h")
        await pilot.settle { $0.text.contains("mutations in flight, with what they expect") }
    }

    // MARK: Logs that have lost something

    /// It is in the state with which the log begins.
    @Test func aRecordThatACompactedLogNeverWroteIsKnown() async throws {
        let pilot = try await start(at: 7, of: DebuggedLog(compacted: 7))
        #expect(pilot.text.hasPrefix("event 8 of 8"))
        #expect(pilot.text.contains("Event 7 cannot be shown, only 8 to 8."))
        pilot.press("/")
        pilot.type("u1")
        pilot.press(.enter)
        await pilot.settle { $0.text.contains("There is no such event after 8.") }
        #expect(pilot.text.contains("stops at u1"))
    }

    @Test func behindDamageEventsAreShownAndFound() async throws {
        let pilot = try await start(at: 4, of: DebuggedLog(damaged: 5))
        #expect(pilot.text.hasPrefix("event 4 of 8 damaged"))
        #expect(pilot.text.contains("The log is damaged: "))
        pilot.press("n")
        await pilot.settle { $0.text.contains("Event 5 cannot be read: ") }
        pilot.press("/")
        pilot.type("kind == update")
        pilot.press(.enter)
        await pilot.settle { $0.text.hasPrefix("event 7 of 8") }
        #expect(line(pilot, "▶ ")?.contains("removeTodo") == true)
        #expect(pilot.text.contains("The state after event 6 cannot be rebuilt: "))
    }

    @Test func aSearchSaysWhatDamageHides() async throws {
        let pilot = try await start(at: 8, of: DebuggedLog(damaged: 5))
        pilot.press("/")
        pilot.type("t2")
        pilot.press(.enter)
        await pilot.settle { $0.text.contains("There is no such event after 8.") }
        pilot.press("R")
        await pilot.settle { $0.text.hasPrefix("event 3 of 8") }
        #expect(pilot.text.contains("What 1 of the events on the way changed cannot be told: "))
    }
}
