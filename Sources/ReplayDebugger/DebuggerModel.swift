import EventStore
import RelayJSON
package import TerminalUI

/// A debugger at a screen: what keys do, and what is to be seen.
///
/// One piece of work runs at a time, and only that one writes to the screen: a key that asks for something else ends
/// it. While a moment is read that is there at once, keys that move only say where to: what is passed in between is not
/// shown.
@MainActor
package final class DebuggerModel {
    package private(set) var screen: DebuggerScreen { didSet { show(screen) } }
    /// What is typed in the last line.
    package var typed = ""
    private let debugger: Debugger
    private let delay: @MainActor () async -> Void
    private var query: DebuggerQuery?
    private var stop: Debugger.Stop?
    private var show: @MainActor (DebuggerScreen) -> Void = { _ in }
    private var leave: @MainActor () -> Void = {}
    /// Where the way goes, or has gone.
    private var target: UInt64
    /// What runs.
    private var work: Work?
    private var workCount = 0

    private struct Work {
        enum Kind {
            /// A moment that is there at once.
            case moment
            /// A moment that takes longer.
            case reading
            case search
        }

        let number: Int
        let kind: Kind
        let task: Task<Void, Never>
    }

    /// - Parameters:
    ///   - start: the event to begin at; nil: the newest.
    ///   - query: what the answer pane shows.
    ///   - delay: is waited for before an answer is looked at. For tests.
    package init(
        _ debugger: Debugger, at start: UInt64?, query: DebuggerQuery?,
        delay: @escaping @MainActor () async -> Void = {}
    ) {
        self.debugger = debugger
        self.query = query
        self.delay = delay
        let events = debugger.events
        let start = start ?? events.upperBound
        target = events.nearest(to: start)
        screen = DebuggerScreen(position: target, last: events.upperBound)
        if let damage = debugger.history.damage { screen.note = "The log is damaged: \(damage)." }
        if target != start { screen.note = events.note(without: start) }
        screen.isDamaged = debugger.history.damage != nil
    }

    // MARK: Life

    /// Shows the first moment, and makes the index. Returns when its task is cancelled.
    package func run(
        leave: @escaping @MainActor () -> Void, show: @escaping @MainActor (DebuggerScreen) -> Void
    ) async {
        self.leave = leave
        self.show = show
        showMoment()
        await work?.task.value
        let building = Task.detached(priority: .utility) { [weak self, index = debugger.index] in
            try index.build { reached in Task { await self?.note(reached: reached) } }
        }
        let (never, end) = AsyncStream<Never>.makeStream()
        await withTaskCancellationHandler {
            do { try await building.value } catch { screen.note = "The index ends early. \(error)" }
            screen.indexed = nil
            noteDamage()
            for await _ in never {}
        } onCancel: {
            building.cancel()
            end.finish()
        }
        self.end()
    }

    private func note(reached: UInt64) {
        if let indexed = screen.indexed, reached > indexed { screen.indexed = reached }
    }

    private func noteDamage() {
        let isDamaged = !debugger.history.damages.all.isEmpty
        if isDamaged != screen.isDamaged { screen.isDamaged = isDamaged }
    }

    // MARK: Keys

    /// - Parameter row: the line that has the focus.
    /// - Returns: whether the key means something.
    package func press(_ key: KeyPress, at row: DebuggerScreen.Row? = nil) -> Bool {
        if screen.question != nil {
            guard key.key == .escape else { return false }
            screen.question = nil
            return true
        }
        guard key.modifiers.isEmpty || key.modifiers == .shift else { return false }
        screen.note = nil
        switch key.key {
        case .right, .character("n"): move(.forward)
        case .left, .character("p"): move(.backward)
        case .character("<"): go(to: debugger.events.lowerBound)
        case .character(">"): go(to: debugger.events.upperBound)
        case .character("g"): ask(.place)
        case .character("/"): ask(.stop)
        case .character("e"): ask(.query, typed: query?.text ?? "")
        case .character("r"): search(.forward)
        case .character("R"): search(.backward)
        case .character("w"): follow(row, .backward)
        case .character("W"): follow(row, .forward)
        case .enter where row?.record != nil: open(.record(row?.record ?? ""))
        case .character("c"): open(.changes)
        case .character("o"): open(.pending)
        case .character("a"):
            if let query { open(.answer(query)) } else { ask(.query) }
        case .character("t"): open(.without)
        case .character("h"), .character("?"): open(.help)
        case .escape:
            if work?.kind == .search || screen.pane == .changes { settle() } else { open(.changes) }
        case .character("q"): leave()
        default: return false
        }
        return true
    }

    private func ask(_ question: DebuggerScreen.Question, typed: String = "") {
        self.typed = typed
        screen.question = question
    }

    /// What was typed in the last line is complete.
    package func answer() {
        guard let question = screen.question else { return }
        screen.question = nil
        if typed.isEmpty { return }
        switch question {
        case .place: go(toPlace: typed)
        case .stop: search(for: typed)
        case .query:
            let query = DebuggerQuery(
                text: typed, variables: query?.variables ?? [:],
                operationName: query?.text == typed ? query?.operationName : nil)
            self.query = query
            open(.answer(query))
        }
    }

    // MARK: Work

    /// Ends what runs, and begins something else.
    /// - Parameters:
    ///   - label: is said as long as it runs, with how far it is.
    ///   - body: writes to the screen, but not after anything that it has waited for other than by ``result(_:)``.
    private func begin(
        _ kind: Work.Kind, _ label: String? = nil,
        _ body: @escaping @MainActor (@escaping Debugger.Report) async throws -> Void
    ) {
        end()
        workCount += 1
        let number = workCount
        screen.work = label.map { "\($0)…" }
        let report: Debugger.Report = { [weak self] place in
            guard let label else { return }
            Task { @MainActor in
                guard let self, self.work?.number == number else { return }
                self.screen.work = "\(label)… \(place)"
            }
        }
        let task = Task {
            do {
                try await body(report)
            } catch {
                if !Task.isCancelled { screen.note = "\(error)" }
            }
            if !Task.isCancelled { settle() }
        }
        work = Work(number: number, kind: kind, task: task)
    }

    private func end() {
        work?.task.cancel()
        work = nil
        if screen.work != nil { screen.work = nil }
    }

    /// Nothing runs any more: shows where keys that came meanwhile go to.
    private func settle() {
        end()
        if screen.position != target { showMoment() }
    }

    /// Asks the debugger something.
    /// - Throws: `CancellationError` if the work that asks has been ended meanwhile.
    private func result<Answer: Sendable>(
        _ question: @Sendable (isolated Debugger) throws -> Answer
    ) async throws(CancellationError) -> Result<Answer, any Error> {
        let answer = await debugger.answer(question)
        await delay()
        if Task.isCancelled { throw CancellationError() }
        return answer
    }

    // MARK: Moving

    private func move(_ direction: Debugger.Direction) {
        let events = debugger.events
        switch direction {
        case .forward where target < events.upperBound: go(to: target + 1)
        case .backward where target > events.lowerBound: go(to: target - 1)
        case .forward: screen.note = "This was the newest event when the log was opened."
        case .backward: screen.note = "This is the first event."
        }
    }

    private func go(to position: UInt64) {
        target = position
        // The moment that is being read is shown first.
        if work?.kind != .moment { showMoment() }
    }

    private func go(toPlace text: String) {
        begin(.search, "looking") { [self] _ in
            let place = try await result { try $0.event(at: text) }.get()
            let events = debugger.events
            if !events.contains(place) { screen.note = events.note(without: place) }
            go(to: events.nearest(to: place))
        }
    }

    private func open(_ pane: DebuggerScreen.Pane) {
        screen.pane = pane
        showMoment()
    }

    private func showMoment() {
        let (position, pane) = (target, screen.pane)
        let isAtOnce =
            pane == .help || pane != .without && position <= debugger.index.reached
        begin(isAtOnce ? .moment : .reading, isAtOnce ? nil : "reading") { [self] report in
            let neighbors = (try? await result { try $0.neighbors(of: position) }.get()) ?? []
            try Task.checkCancellation()
            if !isAtOnce { write(position, neighbors, DebuggerPage("")) }
            let page = try await result { try $0.page(pane, at: position, report) }
            switch page {
            case .success(let page): write(position, neighbors, page)
            case .failure(let error): write(position, neighbors, DebuggerPage("\(error)"))
            }
        }
    }

    private func write(_ position: UInt64, _ neighbors: [EventSummary], _ page: DebuggerPage) {
        var next = screen
        (next.position, next.neighbors) = (position, neighbors)
        (next.title, next.rows) = (page.title, page.rows)
        screen = next
        noteDamage()
    }

    // MARK: Searching

    private func search(for text: String) {
        let start = target
        begin(.search, "searching") { [self] report in
            stop = try await result { try $0.stop(text, report) }.get()
            screen.stop = text
            try await find(.forward, from: start, report)
        }
    }

    private func search(_ direction: Debugger.Direction) {
        if stop == nil { return ask(.stop) }
        let start = target
        begin(.search, "searching") { [self] report in
            try await find(direction, from: start, report)
        }
    }

    /// To the write that changed a value, or the next one that does.
    private func follow(_ row: DebuggerScreen.Row?, _ direction: Debugger.Direction) {
        guard let record = row?.record else {
            screen.note = "Choose a field with Up and Down first."
            return
        }
        stop = .change(record: record, field: row?.field)
        screen.stop = row?.field.map { "\(record).\($0)" } ?? record
        search(direction)
    }

    private func find(
        _ direction: Debugger.Direction, from start: UInt64, _ report: @escaping Debugger.Report
    ) async throws {
        guard let stop else { return }
        let found = try await result { try $0.event(direction, from: start, at: stop, report) }
            .get()
        if found.unknownCount > 0 {
            screen.note = """
                What \(found.unknownCount) of the events on the way changed cannot be told: \
                the log is damaged.
                """
        }
        if let event = found.event { return go(to: event) }
        let end = direction == .forward ? "after" : "before"
        let notes = ["There is no such event \(end) \(start).", screen.note]
        screen.note = notes.compactMap(\.self).joined(separator: " ")
    }
}

extension ClosedRange<UInt64> {
    fileprivate func nearest(to event: UInt64) -> UInt64 {
        Swift.min(Swift.max(event, lowerBound), upperBound)
    }

    fileprivate func note(without event: UInt64) -> String {
        "Event \(event) cannot be shown, only \(lowerBound) to \(upperBound)."
    }
}
