import BoundedTesting
import Testing

@testable import TerminalUI

@MainActor @Suite(.bounded, .timeLimit(.minutes(2))) struct FocusTests {
    private final class Log {
        var done: [String] = []
    }

    private struct Asking: View {
        let log: Log
        @State private var isAsking = false

        var body: some View {
            ZStack {
                VStack {
                    Button("one") { log.done.append("one") }
                    Button("two") { log.done.append("two") }
                    Button("three") { isAsking = true }
                }
                if isAsking {
                    VStack {
                        Button("cancel") {
                            log.done.append("cancel")
                            isAsking = false
                        }
                        Button("no") {}
                        Button("delete") { log.done.append("delete") }
                    }
                }
            }
        }
    }

    @Test func aDialogBeginsAtItsFirstControlAndGivesTheFocusBack() {
        let log = Log()
        let pilot = Pilot { Asking(log: log) }
        pilot.press(.tab)
        pilot.press(.tab)
        pilot.press(.enter)
        pilot.press(.enter)
        #expect(log.done == ["cancel"])
        // It is where it was: the dialog comes again.
        pilot.press(.enter)
        pilot.press(.enter)
        #expect(log.done == ["cancel", "cancel"])
    }

    private struct Busy: View {
        let log: Log
        @State private var isBusy = false

        var body: some View {
            Button("add") {
                log.done.append("add")
                isBusy = true
            }
            .disabled(isBusy)
            Button("delete all") { log.done.append("delete all") }
                .onKey("r") { isBusy = false }
        }
    }

    @Test func aControlThatIsDisabledKeepsTheFocus() {
        let log = Log()
        let pilot = Pilot { Group { Busy(log: log) } }
        pilot.press(.enter)
        pilot.press(.enter)
        #expect(log.done == ["add"])
        pilot.press(.tab)
        pilot.press("r")
        pilot.press(.tab)
        pilot.press(.enter)
        #expect(log.done == ["add", "add"])
    }

    @Test func settlingEndsWhenItsTaskIsCancelled() async {
        let pilot = Pilot { Text("never") }
        let waiting = Task { await pilot.settle { $0.text == "other" } }
        await Task.yield()
        waiting.cancel()
        #expect(await waiting.value == false)
        #expect(await pilot.settle { $0.text == "never" })
    }
}
