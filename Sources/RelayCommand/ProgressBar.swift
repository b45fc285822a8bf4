import Synchronization

/// How far long work is, on standard error, where a terminal is to show it; otherwise nothing.
final class ProgressBar: Sendable {
    private struct State {
        let start = ContinuousClock.now
        var lastDrawn: ContinuousClock.Instant?
    }

    private static let width = 30
    private let title: String
    private let isShown = StandardStream.error.isTerminal
    private let state = Mutex(State())

    /// - Parameter title: what is being done, as in "Checking".
    init(_ title: String) { self.title = title }

    /// Shows how much is done, at most ten times a second, and not for work that is over at once.
    func show(_ done: UInt64, of total: UInt64) {
        guard isShown, total > 0 else { return }
        state.withLock { state in
            let now = ContinuousClock.now
            guard now - (state.lastDrawn ?? state.start) > .milliseconds(100) else { return }
            state.lastDrawn = now
            let share = min(1, Double(done) / Double(total))
            let filled = Int(share * Double(Self.width))
            let bar =
                String(repeating: "#", count: filled)
                + String(repeating: ".", count: Self.width - filled)
            write("\r\(title) [\(bar)] \(Int(share * 100))%")
        }
    }

    /// Leaves an empty line.
    func clear() {
        state.withLock { state in
            if state.lastDrawn != nil { write("\r\u{1B}[K") }
            state.lastDrawn = nil
        }
    }

    private func write(_ text: String) { StandardStream.error.write(text.utf8) }
}
