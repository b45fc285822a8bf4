/// A screen without a terminal: for tests of programs, and for previews.
///
///     let pilot = Pilot(size: Size(width: 40, height: 10)) { TodoList() }
///     pilot.press(.down)
///     await pilot.settle { $0.text.contains("Buy milk") }
@MainActor
public final class Pilot {
    private let graph: ViewGraph
    private var size: Size
    private var last: ViewGraph.Frame?
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// How many frames were different from the one before.
    public private(set) var frameCount = 0
    /// Whether a view has left the program, by ``EnvironmentValues/leave``. The screen is there all the same.
    public private(set) var hasLeft = false

    /// - Parameters:
    ///   - size: that of the screen.
    ///   - content: what is on it.
    public init(size: Size = Size(width: 80, height: 24), @ViewBuilder content: () -> some View) {
        self.size = size
        let left = Wish()
        var values = EnvironmentValues()
        values.leave = { left.action() }
        graph = ViewGraph(content(), environment: values)
        left.action = { [weak self] in self?.hasLeft = true }
        graph.onNeedsFrame = { [weak self] in self?.wake() }
        render()
    }

    isolated deinit { graph.end() }

    /// A wish to leave, from views that are made before the pilot is.
    private final class Wish {
        var action: @MainActor () -> Void = {}
    }

    private func wake() {
        let waiting = waiting
        self.waiting = []
        for continuation in waiting { continuation.resume() }
    }

    private func render() {
        // An action after a frame may ask for another one.
        for _ in 0..<100 {
            guard let frame = graph.frame(size) else { return }
            if frame.buffer != last?.buffer { frameCount += 1 }
            last = frame
        }
    }

    /// What is on the screen now, row after row, without the spaces at their ends.
    public var text: String {
        render()
        return last?.buffer.text ?? ""
    }

    package var buffer: CellBuffer? {
        render()
        return last?.buffer
    }

    package var cursor: Position? {
        render()
        return last?.cursor
    }

    /// How often the bodies of views were evaluated.
    public var evaluationCount: Int { graph.evaluationCount }

    /// Presses keys, one after the other.
    public func press(_ keys: KeyPress...) {
        for key in keys {
            render()
            graph.handle(.key(key))
        }
        render()
    }

    /// Presses a key.
    public func press(_ key: KeyPress.Key, _ modifiers: KeyPress.Modifiers = []) {
        press(KeyPress(key, modifiers))
    }

    /// Presses the key of each character.
    public func type(_ text: String) {
        for character in text { press(KeyPress(.character(character))) }
    }

    /// Pastes a text.
    public func paste(_ text: String) {
        render()
        graph.handle(.paste(text))
        render()
    }

    package func handle(_ event: InputEvent) {
        render()
        graph.handle(event)
        render()
    }

    /// Gives the screen another size.
    public func resize(to size: Size) {
        self.size = size
        render()
    }

    /// Waits until the screen is as expected, or the task is cancelled. Tests bound how long they wait.
    /// - Returns: whether it is.
    @discardableResult
    public func settle(until condition: (Pilot) -> Bool) async -> Bool {
        while true {
            render()
            if condition(self) { return true }
            if Task.isCancelled { return false }
            await withTaskCancellationHandler {
                await withCheckedContinuation { waiting.append($0) }
            } onCancel: {
                Task { @MainActor in wake() }
            }
        }
    }
}
