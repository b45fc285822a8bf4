import Threads

/// How far long work is, on standard error, where a terminal is to show it; otherwise nothing.
package final class ProgressBar: Sendable {
    private struct State {
        let start = ContinuousClock.now
        var lastDrawn: ContinuousClock.Instant?
    }

    private static let width = 30
    /// Whether there is a bar on the terminal.
    private static let isDrawn = Lock(false)
    private let title: String
    private let isShown = StandardStream.error.isTerminal && environmentValue("TERM") != "dumb"
    private let state = Lock(State())

    /// - Parameter title: what is being done, as in "Checking".
    package init(_ title: String) { self.title = title }

    /// Shows how much is done, at most ten times a second, and not for work that is over at once.
    package func show(_ done: UInt64, of total: UInt64) {
        guard isShown, total > 0 else { return }
        let share = min(1, Double(done) / Double(total))
        let filled = Int(share * Double(Self.width))
        let bar =
            String(repeating: "#", count: filled)
            + String(repeating: ".", count: Self.width - filled)
        show("[\(bar)] \(Int(share * 100))%")
    }

    /// Shows in words how far it is, as often.
    package func show(_ text: String) {
        guard isShown else { return }
        let isDue = state.withLock { state in
            let now = ContinuousClock.now
            guard now - (state.lastDrawn ?? state.start) > .milliseconds(100) else { return false }
            state.lastDrawn = now
            return true
        }
        guard isDue else { return }
        Self.isDrawn.withLock { isDrawn in
            isDrawn = true
            StandardStream.error.write("\r\(title) \(text)\u{1B}[K".utf8)
        }
    }

    /// Leaves an empty line where the bar was.
    package static func clear() {
        isDrawn.withLock { isDrawn in
            if isDrawn { StandardStream.error.write("\r\u{1B}[K".utf8) }
            isDrawn = false
        }
    }
}
