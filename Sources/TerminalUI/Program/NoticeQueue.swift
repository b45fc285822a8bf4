import Threads

/// What a terminal has said and the main actor has not heard yet.
///
/// It holds 1,024 notices at most: then the terminal's thread waits, and reads nothing meanwhile.
final class NoticeQueue: Sendable {
    private struct State {
        var notices: [TerminalSession.Notice] = []
        var isClosed = false
    }

    static let capacity = 1_024

    private let state = Monitor(State())
    private let signal: AsyncStream<Void>.Continuation
    /// Comes once, however much there is to do.
    let wakes: AsyncStream<Void>

    init() {
        (wakes, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// There is something to do.
    func wake() { signal.yield() }

    /// Called by the terminal's thread.
    func append(_ notice: TerminalSession.Notice) {
        state.wait { $0.isClosed || $0.notices.count < Self.capacity ? () : nil }
        state.withLock { if !$0.isClosed { $0.notices.append(notice) } }
        signal.yield()
    }

    func takeAll() -> [TerminalSession.Notice] {
        state.update { state in
            defer { state.notices = [] }
            return state.notices
        }
    }

    /// Lets the terminal's thread go; what it says from here on is nobody's.
    func close() {
        state.update { $0.isClosed = true }
        signal.finish()
    }
}
