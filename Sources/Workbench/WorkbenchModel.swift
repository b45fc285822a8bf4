package import Console
import GraphQLLanguage
import RelayJSON
import TerminalUI

/// A workbench at a GraphQL server: what keys do, and what is to be seen.
@MainActor
package final class WorkbenchModel {
    private(set) var screen = WorkbenchScreen() {
        didSet { if screen != oldValue { show(screen) } }
    }
    /// What is typed: the document, with the caret's place in characters, and its variables.
    var document = "" { didSet { if document != oldValue { documentChanged() } } }
    var caret = 0 { didSet { if caret != oldValue { caretMoved() } } }
    var variables = ""
    /// What is searched for in the schema.
    var schemaFilter = "" { didSet { filterSchema() } }

    let url: String
    private let session: ServerSession
    private let watch: ConnectionWatch
    private let history: OperationHistory
    private var show: @MainActor (WorkbenchScreen) -> Void = { _ in }
    private var leave: @MainActor () -> Void = {}
    private var schema: Schema?
    private var outline: SchemaOutline?
    private var reading: Task<Void, Never>?
    /// Whether the server is one of ours: it says where in its log a result is.
    private var isOurs = false
    /// Oldest first.
    private var runs: [OperationRun] = []
    private var runCount = 0
    private var shownRun: OperationRun? { didSet { isStale = true } }
    /// Whether there is something else to show than what is on the screen, or about to be.
    private var isStale = true
    private var isMakingPage = false

    /// So many operations are kept: the oldest that have ended are forgotten, and when none has, no more is begun.
    static let runLimit = 100
    /// Longer documents are not looked at while they are typed.
    private static let checkedLength = 65_536

    /// - Parameters:
    ///   - url: the server, as it was given.
    ///   - session: reports to the watch.
    ///   - history: what was run before.
    package init(
        _ url: String, _ session: ServerSession, _ watch: ConnectionWatch,
        history: OperationHistory
    ) {
        self.url = url
        self.session = session
        self.watch = watch
        self.history = history
    }

    // MARK: Life

    /// Follows the connection. Returns when its task is cancelled.
    func run(
        leave: @escaping @MainActor () -> Void,
        show: @escaping @MainActor (WorkbenchScreen) -> Void
    ) async {
        self.leave = leave
        self.show = show
        refresh()
        do {
            try await history.load()
        } catch {
            screen.note = "The history could not be read. \(error)"
        }
        for await status in watch.statuses {
            let isNew = status.connectionCount > screen.status.connectionCount
            if status.gapCount > screen.status.gapCount {
                screen.note = "A stream went on without what it had missed."
            }
            screen.status = status
            if isNew { connected() }
        }
        reading?.cancel()
        for run in runs { run.task?.cancel() }
    }

    /// The server may be another one than before.
    private func connected() {
        reading?.cancel()
        reading = Task {
            do {
                let began = ContinuousClock.now
                for try await result in session.run(["query": "{ __typename }"]) {
                    screen.latency = .now - began
                    isOurs = KeptResult(result, number: 1).content.cursor != nil
                }
                use(try await session.schema())
            } catch {
                if !Task.isCancelled { screen.schemaNote = "\(error)" }
            }
        }
    }

    private func use(_ schema: Schema) {
        if Task.isCancelled { return }
        self.schema = schema
        outline = SchemaOutline(schema, like: outline)
        screen.schemaNote = nil
        screen.schemaRows = outline?.rows ?? []
        screen.problem = problem()
        caretMoved()
    }

    // MARK: The schema

    private func filterSchema() {
        outline?.filter = schemaFilter
        screen.schemaRows = outline?.rows ?? []
    }

    func press(_ key: KeyPress, at row: SchemaOutline.Row) -> Bool {
        switch key {
        case KeyPress(.enter): toggle(row)
        case KeyPress(.right) where !row.isOpen: toggle(row)
        case KeyPress(.left) where row.isOpen: toggle(row)
        case "i": insert(row)
        case "/": screen.isSearchingSchema = true
        default: return false
        }
        return true
    }

    private func toggle(_ row: SchemaOutline.Row) {
        outline?.toggle(row)
        screen.schemaRows = outline?.rows ?? []
    }

    /// The search ends, and what was found stays.
    func searchedSchema() { screen.isSearchingSchema = false }

    /// Writes a field into the document: one of a root as an operation, any other where the caret is.
    private func insert(_ row: SchemaOutline.Row) {
        guard let schema, case .field(let name, let typeName) = row.subject,
            let type = schema.type(named: typeName), let field = type.field(name)
        else {
            screen.note = "Only fields can be inserted."
            return
        }
        let skeleton = FieldSkeleton(schema)
        let operation = OperationType.allCases.first { schema.rootType(of: $0) === type }
        if let operation {
            let (text, place) = skeleton.operation(operation, field)
            set(document: text, caret: place)
        } else {
            let (text, place) = skeleton.field(field)
            let start = document.index(
                document.startIndex, offsetBy: caret, limitedBy: document.endIndex)
            var changed = document
            changed.insert(contentsOf: text, at: start ?? document.endIndex)
            set(document: changed, caret: min(caret, document.count) + place)
        }
    }

    // MARK: The editor

    private func set(document: String, caret: Int) {
        screen.replacementCount += 1
        self.caret = min(caret, document.count)
        self.document = document
        caretMoved()
        screen.suggestions = []
    }

    private func documentChanged() {
        screen.note = nil
        screen.isBlank = document.allSatisfy(\.isWhitespace)
        screen.problem = problem()
        caretMoved()
    }

    /// Whether it is looked at while it is typed.
    private var isChecked: Bool {
        document.utf8.count <= Self.checkedLength && !document.allSatisfy(\.isWhitespace)
    }

    private func problem() -> String? {
        guard isChecked else { return nil }
        do throws(DocumentError) {
            let parsed = try Document(parsing: document)
            return schema.flatMap { parsed.validate(against: $0).first?.description }
        } catch {
            return error.description
        }
    }

    private var caretOffset: Int { document.prefix(caret).utf8.count }

    private func caretMoved() {
        guard let schema, isChecked else { return screen.suggestions = [] }
        let completion = DocumentCompletion(of: document, at: caretOffset, in: schema)
        let before = document.utf8.prefix(completion.replaced.lowerBound)
        let written = document.utf8.dropFirst(before.count).prefix(completion.replaced.count)
        // What is written as it would be suggested needs no suggestion, and after a bracket Tab goes on.
        let isComplete = completion.suggestions.first.map { written.elementsEqual($0.text.utf8) }
        let last = before.last { !" \n".utf8.contains($0) }
        let isAfterBracket = written.isEmpty && (last.map { "})".utf8.contains($0) } ?? true)
        screen.suggestions = isComplete == true || isAfterBracket ? [] : completion.suggestions
        screen.chosen = 0
    }

    /// Keys that the editor has no use for.
    func pressInEditor(_ key: KeyPress) -> Bool {
        if !screen.suggestions.isEmpty {
            switch key {
            case KeyPress(.tab):
                accept()
                return true
            case KeyPress(.escape):
                screen.suggestions = []
                return true
            case KeyPress(.character("n"), .control):
                screen.chosen = min(screen.chosen + 1, screen.suggestions.count - 1)
                return true
            case KeyPress(.character("p"), .control):
                screen.chosen = max(screen.chosen - 1, 0)
                return true
            default: break
            }
        }
        switch key {
        case KeyPress(.up, .control), KeyPress(.up, .alt), KeyPress(.character("p"), .control):
            if let earlier = history.back(from: document) {
                set(document: earlier, caret: earlier.count)
            } else {
                screen.note = "This is the first operation of the history."
            }
        case KeyPress(.down, .control), KeyPress(.down, .alt), KeyPress(.character("n"), .control):
            if let later = history.forward() { set(document: later, caret: later.count) }
        case KeyPress(.character("o"), .control):
            // Back there is what was written.
            if !document.isEmpty { history.append(document) }
            set(document: "", caret: 0)
        default: return false
        }
        return true
    }

    private func accept() {
        guard let schema, screen.suggestions.indices.contains(screen.chosen) else { return }
        let suggestion = screen.suggestions[screen.chosen].text
        let replaced = DocumentCompletion(of: document, at: caretOffset, in: schema).replaced
        let bytes = Array(document.utf8)
        let before = String(decoding: bytes[..<replaced.lowerBound], as: UTF8.self) + suggestion
        set(
            document: before + String(decoding: bytes[replaced.upperBound...], as: UTF8.self),
            caret: before.count)
    }

    // MARK: Keys everywhere

    /// Keys that nothing else has a use for.
    func press(_ key: KeyPress) -> Bool {
        screen.note = nil
        switch key {
        case KeyPress(.character("r"), .control), KeyPress(.function(5)), KeyPress(.enter, .alt):
            runDocument()
        case KeyPress(.character("x"), .control): stop()
        case KeyPress(.function(1)): open(screen.pane == .help ? .tree : .help)
        case KeyPress(.function(2)): open(screen.pane == .table ? .tree : .table)
        case KeyPress(.escape):
            if screen.isSearchingSchema || !schemaFilter.isEmpty {
                screen.isSearchingSchema = false
                schemaFilter = ""
            } else {
                open(.tree)
            }
        case "q": leave()
        default: return false
        }
        return true
    }

    // MARK: Operations

    private func runDocument() {
        if screen.isBlank {
            screen.note = "There is no operation in the editor."
            return
        }
        let parsed = try? Document(parsing: document)
        let chosen = parsed.flatMap { ChosenOperation(in: $0, at: caretOffset) }
        var parameters: JSONObject = ["query": .string(document)]
        if let name = chosen?.name { parameters["operationName"] = .string(name) }
        if !variables.allSatisfy(\.isWhitespace) {
            guard case .object(let values)? = try? JSONValue(parsing: variables) else {
                screen.note = "The variables are no JSON object, like {\"id\": \"t1\"}."
                return
            }
            parameters["variables"] = .object(values)
        }
        guard makeRoom() else {
            screen.note = "\(Self.runLimit) operations run. Stop one with Ctrl-X first."
            return
        }
        history.append(document)
        screen.suggestions = []
        runCount += 1
        let run = OperationRun(id: runCount, title: chosen?.title ?? "an operation")
        runs.append(run)
        shownRun = run
        if screen.pane != .table { screen.pane = .tree }
        // Others' changes that are not confirmed; of no meaning for what is answered once.
        let relay: JSONObject = isOurs ? ["optimistic": true] : [:]
        let results = session.run(parameters, relay: relay)
        run.task = Task { [weak self] in await self?.follow(run, results) }
        refresh()
    }

    private func makeRoom() -> Bool {
        guard runs.count >= Self.runLimit else { return true }
        guard let oldest = runs.firstIndex(where: { !$0.isRunning }) else { return false }
        runs.remove(at: oldest)
        return true
    }

    private func follow(_ run: OperationRun, _ results: OperationResults) async {
        do {
            for try await result in results {
                if run.latency == nil {
                    run.latency = .now - run.began
                    screen.latency = run.latency
                }
                run.results.append(KeptResult(result, number: run.results.count + 1))
                run.state = .live
                if run === shownRun { isStale = true }
                refresh()
            }
            run.state = Task.isCancelled ? .stopped : .ended
        } catch {
            run.state = .failed("\(error)")
        }
        if run === shownRun { isStale = true }
        refresh()
    }

    /// Ends the operation that is shown.
    private func stop() {
        guard let shownRun, shownRun.isRunning else {
            screen.note = "No operation is running here."
            return
        }
        shownRun.task?.cancel()
    }

    func press(_ key: KeyPress, at row: WorkbenchScreen.Run) -> Bool {
        guard let run = runs.first(where: { $0.id == row.id }) else { return false }
        switch key {
        case KeyPress(.enter), KeyPress(.right): shownRun = run
        case "x": run.task?.cancel()
        default: return false
        }
        refresh()
        return true
    }

    func press(_ key: KeyPress, at row: ResultRow) -> Bool {
        switch key {
        case KeyPress(.left): shownRun?.move(by: -1)
        case KeyPress(.right): shownRun?.move(by: 1)
        case "<": shownRun?.move(by: -KeptResults.limit)
        case ">": shownRun?.move(by: KeptResults.limit)
        case "v": return press(KeyPress(.function(2)))
        case KeyPress(.enter):
            guard let record = row.record else { return false }
            open(.record(record))
        default: return false
        }
        isStale = true
        refresh()
        return true
    }

    // MARK: Results

    private func open(_ pane: WorkbenchScreen.Pane) {
        screen.pane = pane
        isStale = true
        refresh()
    }

    private func refresh() {
        screen.runs = runs.reversed().map { run in
            WorkbenchScreen.Run(
                id: run.id, title: run.title, state: run.state, count: run.results.count,
                isShown: run === shownRun)
        }
        guard isStale, !isMakingPage else { return }
        isStale = false
        isMakingPage = true
        var results: [KeptResult] = []
        if case .record = screen.pane {
            results = runs.flatMap(\.results.results).sorted { $0.time < $1.time }
        }
        let subject = ResultPage.Subject(
            pane: screen.pane, run: shownRun?.subject, results: results)
        Task {
            // What comes meanwhile is shown together.
            screen.page = await ResultPage.made(of: subject)
            isMakingPage = false
            refresh()
        }
    }
}
