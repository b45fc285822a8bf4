#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A program whose views fill the terminal.
///
///     try await TerminalProgram.run { TodoList() }
///
/// Ctrl-C leaves it, unless a view has a use for that; so does a view, by ``EnvironmentValues/leave``. Ctrl-Z suspends
/// it, Ctrl-L draws everything again. The terminal is left as it was found, however the program ends.
@MainActor
public final class TerminalProgram {
    /// How a program ended.
    public enum End: Hashable, Sendable {
        /// Somebody wanted to leave.
        case left
        /// A signal asked it to end; its number.
        case signal(Int32)
        /// The terminal is gone.
        case disconnected
    }

    /// Sixty frames a second at most: what changes in between is seen together.
    private static let frameTime = Duration.nanoseconds(16_666_667)

    private let graph: ViewGraph
    private let session: TerminalSession
    private let queue = NoticeQueue()
    private let wish = Wish()
    private var size: Size
    private var lastFrame: ContinuousClock.Instant?
    private var end: End?
    /// Waits for the next step of an animation.
    private var animation: Task<Void, Never>?

    package init(_ content: some View, on session: TerminalSession) {
        self.session = session
        size = session.size
        var values = EnvironmentValues()
        values.leave = { [queue, wish] in
            wish.isToLeave = true
            queue.wake()
        }
        graph = ViewGraph(content, environment: values)
    }

    @MainActor private final class Wish {
        var isToLeave = false
    }

    /// Shows views on the terminal until somebody leaves.
    /// - Parameters:
    ///   - mouse: whether clicks and the wheel are for the program; then the terminal selects no text.
    ///   - content: what fills the screen.
    /// - Throws: ``TerminalError`` if standard input and output are no terminal, or one without a screen (`TERM=dumb`).
    @discardableResult
    public static func run(
        mouse: Bool = false, @ViewBuilder _ content: () -> some View
    ) async throws -> End {
        let terminal = SystemTerminal()
        let capabilities = capabilities(of: terminal)
        guard capabilities.hasScreen else {
            throw TerminalError(
                "There is no screen to draw on: standard input and output are no terminal, or TERM is \"dumb\"."
            )
        }
        let session = TerminalSession(
            terminal, colors: capabilities.colors, wantsMouse: mouse)
        let program = TerminalProgram(content(), on: session)
        defer { withExtendedLifetime(program) {} }
        return try await program.run()
    }

    /// Whether there is a screen to draw on: standard input and output are a terminal, and not one like `TERM=dumb`.
    nonisolated public static var hasScreen: Bool { capabilities(of: SystemTerminal()).hasScreen }

    nonisolated private static func capabilities(of terminal: SystemTerminal)
        -> TerminalCapabilities
    {
        TerminalCapabilities(
            environment: environment(["TERM", "COLORTERM", "NO_COLOR"]),
            isTerminal: terminal.isTerminal)
    }

    nonisolated private static func environment(_ names: [String]) -> [String: String] {
        var values: [String: String] = [:]
        for name in names { values[name] = getenv(name).map { String(cString: $0) } }
        return values
    }

    package func run() async throws -> End {
        let queue = queue
        graph.onNeedsFrame = { queue.wake() }
        try session.start { queue.append($0) }
        defer {
            animation?.cancel()
            queue.close()
            session.stop()
            graph.end()
        }
        draw()
        for await _ in queue.wakes {
            takeNotices()
            if end == nil, graph.isFrameNeeded, let wait = timeToNextFrame() {
                // What comes meanwhile is in the same frame.
                try? await Task.sleep(for: wait)
                takeNotices()
            }
            if let end { return end }
            draw()
        }
        return end ?? .left
    }

    // MARK: Notices

    private func takeNotices() {
        for notice in queue.takeAll() where end == nil {
            switch notice {
            case .input(let event): handle(event)
            case .redraw(let size):
                self.size = size
                graph.needsFrame()
            case .ended(.signal(let number)): end = .signal(number)
            case .ended(.gone): end = .disconnected
            }
        }
        if wish.isToLeave { end = end ?? .left }
    }

    private func handle(_ event: InputEvent) {
        // The key may be for something that has just come.
        graph.update(size)
        if graph.handle(event) { return }
        guard case .key(let key) = event, key.modifiers == .control else { return }
        switch key.key {
        case .character("c"): end = .left
        case .character("z"): session.suspend()
        case .character("l"):
            session.redraw()
            graph.needsFrame()
        default: break
        }
    }

    // MARK: Frames

    private func timeToNextFrame() -> Duration? {
        guard let lastFrame else { return nil }
        let wait = Self.frameTime - (ContinuousClock.now - lastFrame)
        return wait > .zero ? wait : nil
    }

    private func draw() {
        if let frame = graph.frame(size) {
            session.show(frame.buffer, cursor: frame.cursor)
            lastFrame = .now
        }
        guard animation == nil, let pause = graph.animation else { return }
        animation = Task { [weak self] in
            try? await Task.sleep(for: pause)
            guard let self, !Task.isCancelled else { return }
            animation = nil
            graph.animate()
        }
    }
}

extension EnvironmentValues {
    private enum LeaveKey: EnvironmentKey {
        static var defaultValue: @MainActor () -> Void { {} }
    }

    /// Ends the program.
    public internal(set) var leave: @MainActor () -> Void {
        get { self[LeaveKey.self] }
        set { self[LeaveKey.self] = newValue }
    }
}
