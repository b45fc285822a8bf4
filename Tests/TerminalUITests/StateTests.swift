import BoundedTesting
import TerminalUI
import Testing
import Threads

@MainActor @Suite(.bounded, .timeLimit(.minutes(2))) struct StateTests {
    private struct Counter: View {
        @State private var count = 0
        let name: String

        var body: some View {
            Button("\(name) \(count)") { count += 1 }
        }
    }

    @Test func aButtonChangesState() {
        let pilot = Pilot { Counter(name: "a") }
        #expect(pilot.text == "a 0")
        pilot.press(.enter)
        pilot.press(" ")
        #expect(pilot.text == "a 2")
    }

    private struct Twice<Content: View>: View {
        let content: Content
        var body: some View {
            VStack {
                content
                content
            }
        }
    }

    @Test func aValueThatIsAViewAtTwoPlacesHasAStateAtEach() {
        let pilot = Pilot { Twice(content: Counter(name: "n")) }
        pilot.press(.enter)
        pilot.press(.enter)
        #expect(pilot.text == "n 2\nn 0")
        pilot.press(.tab)
        pilot.press(.enter)
        #expect(pilot.text == "n 2\nn 1")
        pilot.handle(.mouse(MouseEvent(.press(button: 0), at: Position(column: 0, row: 0))))
        #expect(pilot.text == "n 3\nn 1")
    }

    private struct Holder: View {
        @State private var text = "x"
        var body: some View { Child(text: $text).task { text += "t" } }
    }

    @Test func soHaveItsBindingsAndTasks() async {
        let pilot = Pilot { Twice(content: Holder()) }
        await pilot.settle { $0.text == "child xt\nchild xt" }
        pilot.press(.enter)
        #expect(pilot.text == "child xty\nchild xt")
        pilot.press(.tab)
        pilot.press(.enter)
        pilot.press(.enter)
        #expect(pilot.text == "child xty\nchild xtyy")
    }

    @Test func onlyWhatHasChangedIsEvaluated() {
        let pilot = Pilot {
            VStack {
                Counter(name: "a")
                Counter(name: "b")
            }
        }
        let before = pilot.evaluationCount
        pilot.press(.enter)
        #expect(pilot.text == "a 1\nb 0")
        #expect(pilot.evaluationCount == before + 1)
    }

    private struct Parent: View {
        @State private var isLong = false
        @State private var text = "x"

        var body: some View {
            Button(isLong ? "long" : "short") { isLong.toggle() }
            Counter(name: isLong ? "counter" : "c")
            Counter(name: "same")
            Child(text: $text)
            if isLong { Text(text) }
        }
    }

    private struct Child: View {
        @Binding var text: String
        var body: some View { Button("child \(text)") { text += "y" } }
    }

    @Test func stateOutlivesTheViewAndIsOfItsPlace() {
        let pilot = Pilot { Parent() }
        pilot.press(.tab)
        pilot.press(.enter)
        #expect(pilot.text == "short\nc 1\nsame 0\nchild x")
        pilot.press(.tab, .shift)
        let before = pilot.evaluationCount
        pilot.press(.enter)
        #expect(pilot.text == "long\ncounter 1\nsame 0\nchild x\nx")
        // The parent, and the counter that has another name: what is the same is not evaluated.
        #expect(pilot.evaluationCount == before + 2)
        pilot.press(.tab)
        pilot.press(.tab)
        pilot.press(.tab)
        pilot.press(.enter)
        #expect(pilot.text == "long\ncounter 1\nsame 0\nchild xy\nxy")
    }

    private struct Branches: View {
        @State private var isSecond = false
        var body: some View {
            Button("switch") { isSecond.toggle() }
            if isSecond { Counter(name: "second") } else { Counter(name: "first") }
        }
    }

    @Test func branchesHaveStatesOfTheirOwn() {
        let pilot = Pilot { Branches() }
        pilot.press(.tab)
        pilot.press(.enter)
        #expect(pilot.text == "switch\nfirst 1")
        pilot.press(.tab, .shift)
        pilot.press(.enter)
        #expect(pilot.text == "switch\nsecond 0")
        pilot.press(.enter)
        #expect(pilot.text == "switch\nfirst 0")
    }

    fileprivate enum NameKey: EnvironmentKey {
        static var defaultValue: String { "nobody" }
    }

    private struct Greeting: View {
        @EnvironmentValue(\.name) private var name
        var body: some View { Text("hello \(name)") }
    }

    private struct Naming: View {
        @State private var name = "ann"
        var body: some View {
            Button("bob") { name = "bob" }
            VStack { Greeting() }.environmentValue(\.name, name)
            Greeting()
        }
    }

    @Test func valuesAreInherited() {
        let pilot = Pilot { Naming() }
        #expect(pilot.text == "bob\nhello ann\nhello nobody")
        let before = pilot.evaluationCount
        pilot.press(.enter)
        #expect(pilot.text == "bob\nhello bob\nhello nobody")
        #expect(pilot.evaluationCount == before + 2)
        // The same once more is no change.
        pilot.press(.enter)
        #expect(pilot.evaluationCount == before + 2)
    }

    private final class Ended: Sendable {
        let count = Lock(0)
    }

    private struct Appearing: View {
        @State private var isThere = true
        @State private var log = ""
        let ended: Ended

        var body: some View {
            Text(log)
            Button("toggle") { isThere.toggle() }
            if isThere {
                Text("there")
                    .onAppear { log += "a" }
                    .task {
                        log += "t"
                        await withTaskCancellationHandler {
                            try? await Task.sleep(for: .seconds(600))
                        } onCancel: {
                            ended.count.withLock { $0 += 1 }
                        }
                    }
            }
        }
    }

    @Test func tasksLastAsLongAsTheirViews() async {
        let ended = Ended()
        let pilot = Pilot { Appearing(ended: ended) }
        await pilot.settle { $0.text == "at\ntoggle\nthere" }
        #expect(ended.count.withLock { $0 } == 0)
        pilot.press(.enter)
        #expect(pilot.text == "at\ntoggle")
        #expect(ended.count.withLock { $0 } == 1)
        pilot.press(.enter)
        await pilot.settle { $0.text == "atat\ntoggle\nthere" }
    }

    private struct Endless: View {
        @State private var count = 0
        var body: some View {
            let _ = count += 1
            Text("\(count)")
        }
    }

    /// It is a mistake; the program goes on.
    @Test func aViewThatChangesItselfDoesNotHang() {
        let pilot = Pilot { Endless() }
        #expect(!pilot.text.isEmpty)
    }
}

extension EnvironmentValues {
    fileprivate var name: String {
        get { self[StateTests.NameKey.self] }
        set { self[StateTests.NameKey.self] = newValue }
    }
}
