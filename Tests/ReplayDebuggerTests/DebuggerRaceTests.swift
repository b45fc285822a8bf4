import BoundedTesting
import EventStore
@_spi(Rooms) import RelayRecords
import TerminalUI
import Testing

@testable import ReplayDebugger

/// Keys that come while the debugger has not answered: what was asked last is what is shown, and nothing else is.
///
/// A gate holds every answer until the test lets it through.
@MainActor @Suite(.bounded) struct DebuggerRaceTests {
    private let log: DebuggedLog
    private let gate = Gate()

    init() throws { log = try DebuggedLog() }

    private func makeModel(at event: UInt64) throws -> DebuggerModel {
        DebuggerModel(try Debugger(log.open()), at: event, query: nil) { [gate] in
            await gate.pass()
        }
    }

    /// At an event, with the index complete and the gate open.
    private func start(at event: UInt64) async throws -> (pilot: Pilot, model: DebuggerModel) {
        let model = try makeModel(at: event)
        let pilot = Pilot(size: Size(width: 100, height: 24)) { DebuggerView(model) }
        await pilot.settle { !$0.text.contains("index ") && $0.text.contains("▶") }
        return (pilot, model)
    }

    private func runs(to stop: String, _ pilot: Pilot) {
        pilot.press("/")
        pilot.type(stop)
        pilot.press(.enter)
    }

    @Test func aSearchThatAnotherOneEndedDoesNotEndTheOther() async throws {
        let (pilot, _) = try await start(at: 1)
        runs(to: "kind == revocation", pilot)
        await pilot.settle { $0.text.hasPrefix("event 6 of 8") }
        gate.close()
        pilot.press("r")
        await gate.holds(1)
        pilot.press("R")
        await gate.holds(2)
        // The first one is through, and the second one still runs.
        await gate.letThrough(1)
        #expect(pilot.text.contains("searching…"))
        pilot.press(.escape)
        #expect(!pilot.text.contains("searching…"))
        gate.open()
        pilot.press(.left)
        await pilot.settle { $0.text.hasPrefix("event 5 of 8") }
        #expect(!pilot.text.contains("There is no such event"))
    }

    @Test func whatASearchFoundDoesNotOvertakeALaterKey() async throws {
        let (pilot, _) = try await start(at: 1)
        runs(to: "kind == revocation", pilot)
        await pilot.settle { $0.text.hasPrefix("event 6 of 8") }
        pilot.press("<")
        await pilot.settle { $0.text.hasPrefix("event 1 of 8") }
        gate.close()
        pilot.press("r")
        await gate.holds(1)
        // The answer is there; the model has not looked at it.
        pilot.press(">")
        gate.open()
        await pilot.settle { $0.text.hasPrefix("event 8 of 8") }
        await gate.isQuiet()
        #expect(pilot.text.hasPrefix("event 8 of 8"))
    }

    @Test func aStopThatWasLookedUpTooLateIsNotTaken() async throws {
        let (pilot, model) = try await start(at: 8)
        gate.close()
        runs(to: "kind == revocation", pilot)
        await gate.holds(1)
        _ = model.press("w", at: model.screen.rows.first)
        #expect(pilot.text.contains("stops at t1.complete"))
        gate.open()
        await pilot.settle { $0.text.hasPrefix("event 5 of 8") }
        await gate.isQuiet()
        #expect(pilot.text.contains("stops at t1.complete"))
        #expect(!pilot.text.contains("There is no such event"))
        pilot.press("R")
        await pilot.settle { $0.text.hasPrefix("event 1 of 8") }
    }

    @Test func aSearchBeginsWhereTheKeysHaveGone() async throws {
        let (pilot, _) = try await start(at: 1)
        runs(to: "kind == update", pilot)
        await pilot.settle { $0.text.hasPrefix("event 5 of 8") }
        gate.close()
        pilot.type("nnr")
        gate.open()
        await pilot.settle { $0.text.hasPrefix("event 8 of 8") }
    }

    /// Also if nothing is found, or the search is ended.
    @Test func keysThatASearchFollowedAreNotForgotten() async throws {
        let (pilot, _) = try await start(at: 1)
        runs(to: "kind == revocation", pilot)
        await pilot.settle { $0.text.hasPrefix("event 6 of 8") }
        gate.close()
        pilot.type("nr")
        gate.open()
        await pilot.settle {
            $0.text.hasPrefix("event 7 of 8") && $0.text.contains("no such event after 7")
        }
        gate.close()
        pilot.type("nR")
        pilot.press(.escape)
        gate.open()
        await pilot.settle { $0.text.hasPrefix("event 8 of 8") }
    }

    @Test func aMomentThatIsReadDoesNotWipeThatASearchRuns() async throws {
        let (pilot, _) = try await start(at: 1)
        runs(to: "kind == revocation", pilot)
        await pilot.settle { $0.text.hasPrefix("event 6 of 8") }
        gate.close()
        pilot.press(.right)
        await gate.holds(1)
        pilot.press("R")
        await gate.holds(2)
        await gate.letThrough(1)
        #expect(pilot.text.contains("searching…"))
        gate.open()
        await pilot.settle { !$0.text.contains("searching…") }
    }

    /// What would be different takes a fold of the log.
    @Test func aKeyThatMovesDoesNotWaitForWhatIf() async throws {
        let (pilot, _) = try await start(at: 3)
        gate.close()
        pilot.press("t")
        await gate.holds(1)
        await gate.letThrough(1)
        // The event is there, what would be without it is not.
        await gate.holds(1)
        #expect(pilot.text.contains("reading…"))
        pilot.press(.escape)
        #expect(!pilot.text.contains("reading…"))
        gate.open()
        await pilot.settle { $0.text.contains("Changes") }
        #expect(!pilot.text.contains("Without event 3"))
    }

    @Test func aTimeIsLookedUpWithoutHoldingUpKeys() async throws {
        let (pilot, _) = try await start(at: 8)
        gate.close()
        pilot.press("g")
        pilot.type("1970-01-01T00:00:02Z")
        pilot.press(.enter)
        await gate.holds(1)
        #expect(pilot.text.contains("looking…"))
        pilot.press("<")
        gate.open()
        await pilot.settle { $0.text.hasPrefix("event 1 of 8") }
        await gate.isQuiet()
        #expect(pilot.text.hasPrefix("event 1 of 8"))
    }

    /// It runs while the index is made, and goes on after that.
    @Test func aSearchOutlivesTheEndOfTheIndex() async throws {
        let model = try makeModel(at: 1)
        gate.close()
        let running = Task { await model.run(leave: {}, show: { _ in }) }
        await gate.holds(1)
        _ = model.press("/")
        model.typed = "kind == revocation"
        model.answer()
        await gate.holds(2)
        // The first moment is through, and the index is made.
        await gate.letThrough(1)
        await eventually { model.screen.indexed == nil }
        await gate.isQuiet()
        #expect(model.screen.work?.hasPrefix("searching…") == true)
        gate.open()
        await eventually { model.screen.position == 6 }
        running.cancel()
        await running.value
    }

    @Test func leavingEndsWhatRuns() async throws {
        let model = try makeModel(at: 8)
        let running = Task { await model.run(leave: {}, show: { _ in }) }
        await eventually { model.screen.indexed == nil }
        gate.close()
        _ = model.press("t")
        await gate.holds(1)
        running.cancel()
        await running.value
        #expect(model.screen.work == nil)
        gate.open()
        await gate.isQuiet()
        #expect(model.screen.title == "Changes")
    }
}
