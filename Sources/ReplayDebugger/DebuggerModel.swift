import EventStore
import RelayJSON
@_spi(Rooms) import RelayRecords
package import TerminalUI

/// A debugger at a screen: what keys do, and what is to be seen.
///
/// Every question goes to the ``Debugger``, one at a time. While one is answered, keys that move only say where to: what is
/// passed in between is not shown. A key that asks something else ends a search.
@MainActor
package final class DebuggerModel {
    package private(set) var screen: DebuggerScreen { didSet { show(screen) } }
    /// What is typed in the last line.
    package var typed = ""
    private let debugger: Debugger
    private var query: DebuggerQuery?
    private var stop: Debugger.Stop?
    private var show: @MainActor (DebuggerScreen) -> Void = { _ in }
    private var leave: @MainActor () -> Void = {}
    /// Where to go, as soon as what is shown now is there.
    private var wanted: UInt64?
    /// Where the way goes, or has gone.
    private var target: UInt64
    private var showing: Task<Void, Never>?
    private var work: Task<Void, Never>?

    /// - Parameters:
    ///   - start: the event to begin at; nil: the newest.
    ///   - query: what the answer pane shows.
    package init(_ debugger: Debugger, at start: UInt64?, query: DebuggerQuery?) {
        self.debugger = debugger
        self.query = query
        let events = debugger.events
        let start = start.map { min(max($0, events.lowerBound), events.upperBound) }
        target = start ?? events.upperBound
        screen = DebuggerScreen(position: target, last: events.upperBound)
    }

    // MARK: Life

    /// Shows the first moment, and makes the index. Returns when its task is cancelled.
    package func run(
        leave: @escaping @MainActor () -> Void, show: @escaping @MainActor (DebuggerScreen) -> Void
    ) async {
        self.leave = leave
        self.show = show
        screen.work = "reading…"
        go(to: screen.position)
        await showing?.value
        await makeIndex()
        work?.cancel()
        showing?.cancel()
    }

    private func makeIndex() async {
        let index = debugger.index
        let building = Task.detached(priority: .utility) { [weak self] in
            try index.build { reached in Task { await self?.note(reached: reached) } }
        }
        do {
            try await withTaskCancellationHandler {
                try await building.value
            } onCancel: {
                building.cancel()
            }
        } catch { screen.note = "The index ends early. \(error)" }
        screen.indexed = nil
    }

    private func note(reached: UInt64) {
        if let indexed = screen.indexed, reached > indexed { screen.indexed = reached }
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
        case .escape: stopWork()
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
        case .place: goToPlace(typed)
        case .stop: search(for: typed)
        case .query:
            let query = DebuggerQuery(
                text: typed, variables: query?.variables ?? [:],
                operationName: query?.text == typed ? query?.operationName : nil)
            self.query = query
            open(.answer(query))
        }
    }

    private func stopWork() {
        if let work {
            work.cancel()
        } else if screen.pane != .changes {
            open(.changes)
        }
    }

    // MARK: Moving

    private func move(_ direction: Debugger.Direction) {
        let events = debugger.events
        switch direction {
        case .forward where target < events.upperBound: go(to: target + 1)
        case .backward where target > events.lowerBound: go(to: target - 1)
        case .forward: screen.note = "This is the newest event."
        case .backward: screen.note = "This is the first event."
        }
    }

    private func goToPlace(_ text: String) {
        do {
            let place = try debugger.history.sequence(
                of: HistoryPoint(text), now: WallClock.microseconds())
            let events = debugger.events
            go(to: min(max(place, events.lowerBound), events.upperBound))
        } catch { screen.note = "\(error)" }
    }

    private func go(to position: UInt64) {
        work?.cancel()
        (wanted, target) = (position, position)
        reload()
    }

    private func open(_ pane: DebuggerScreen.Pane) {
        work?.cancel()
        screen.pane = pane
        wanted = target
        reload()
    }

    private func reload() {
        guard showing == nil else { return }
        showing = Task {
            while let position = wanted {
                wanted = nil
                await load(position, screen.pane)
            }
            showing = nil
        }
    }

    private func load(_ position: UInt64, _ pane: DebuggerScreen.Pane) async {
        do {
            let moment = try await debugger.moment(position)
            let page = try await page(pane, moment)
            var next = screen
            (next.position, next.summary) = (position, moment.summary)
            next.neighbors = moment.neighbors
            // The pane may be another one by now; then it is on its way.
            if pane == next.pane { (next.title, next.rows) = (page.title, page.rows) }
            next.work = nil
            screen = next
        } catch {
            // One may go on to what is behind it.
            var next = screen
            (next.position, next.summary, next.neighbors) = (position, nil, [])
            (next.title, next.rows, next.work) = ("\(error)", [], nil)
            screen = next
        }
    }

    private func page(
        _ pane: DebuggerScreen.Pane, _ moment: Debugger.Moment
    ) async throws -> DebuggerPage {
        let position = moment.summary.sequence
        switch pane {
        case .changes: return DebuggerPage(changes: moment)
        case .help: return DebuggerPage.help
        case .record(let id):
            let (before, after) = try await debugger.states(around: position)
            return DebuggerPage(record: id, before, after)
        case .pending:
            return DebuggerPage(pending: try await debugger.state(after: position).pending)
        case .answer(let query):
            return DebuggerPage(answer: try await debugger.answer(query, after: position))
        case .without:
            let report = progress("folding the history without event \(position)")
            let differences = try await debugger.differences(without: position) { done, total in
                report(total > 0 ? "\(done * 100 / total) %" : "")
            }
            return DebuggerPage(without: moment.summary, differences)
        }
    }

    // MARK: Searching

    private func search(for text: String) {
        work?.cancel()
        let position = screen.position
        work = Task {
            do {
                stop = try await debugger.stop(text, near: position)
                screen.stop = text
                await find(.forward, from: position)
            } catch { screen.note = "\(error)" }
            work = nil
        }
    }

    private func search(_ direction: Debugger.Direction) {
        guard stop != nil else { return ask(.stop) }
        work?.cancel()
        let position = screen.position
        work = Task {
            await find(direction, from: position)
            work = nil
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

    private func find(_ direction: Debugger.Direction, from position: UInt64) async {
        guard let stop else { return }
        let report = progress("searching")
        do {
            let found = try await debugger.event(direction, from: position, at: stop) {
                report("at \($0)")
            }
            screen.work = nil
            if let found {
                (wanted, target) = (found, found)
                reload()
            } else {
                let end = direction == .forward ? "after" : "before"
                screen.note = "There is no such event \(end) \(position)."
            }
        } catch is CancellationError {
            screen.work = nil
        } catch {
            screen.work = nil
            screen.note = "\(error)"
        }
    }

    /// Says that something runs, and returns what says how far it has come.
    private func progress(_ what: String) -> @Sendable (String) -> Void {
        screen.work = "\(what)…"
        return { [weak self] place in
            Task { @MainActor in
                guard let self, self.screen.work != nil else { return }
                self.screen.work = "\(what)… \(place)"
            }
        }
    }
}
