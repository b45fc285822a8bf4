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
    private(set) lazy var editor = DocumentEditor(
        history, changed: { [weak self] in self?.editorChanged() },
        note: { [weak self] in self?.screen.note = $0 })
    /// The operation's variables, as JSON.
    var variables = ""

    let url: String
    private let session: ServerSession
    private let watch: ConnectionWatch
    private let history: OperationHistory
    private lazy var runs = OperationRuns { [weak self] in self?.changed($0) }
    private var outline: SchemaOutline?
    private var reading: Task<Void, Never>?
    /// Whether the server is one of ours: it says where in its log a result is.
    private var isOurs = false
    private var show: @MainActor (WorkbenchScreen) -> Void = { _ in }
    private var leave: @MainActor () -> Void = {}
    /// Where Escape goes back to.
    private var lastResultPane = WorkbenchScreen.Pane.tree
    /// Whether the operations are about to be shown as they are.
    private var isPublishing = false
    /// Whether there is another page to show than the one that is on the screen, or about to be.
    private var isStale = true
    private var isMakingPage = false
    /// What the server tells of the record that is shown.
    private var served: ServedRecord?
    private var asking: Task<Void, Never>?

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
        history.note = { [weak self] in self?.screen.note = $0 }
        makePage()
        let loading = Task { [weak self, history] in
            do {
                try await history.load()
            } catch {
                self?.screen.note = "The history could not be read. \(error)"
            }
        }
        for await status in watch.statuses { take(status) }
        loading.cancel()
        reading?.cancel()
        asking?.cancel()
        runs.endAll()
    }

    private func take(_ status: ConnectionStatus) {
        let last = screen.status
        if status.gapCount > last.gapCount {
            screen.note = "The server could not resume after the last results; some may be missing."
        }
        if status.resumedCount > last.resumedCount { screen.hasResumed = true }
        screen.status = status
        // The server may be another one than before.
        let isNew = status.connectionCount > last.connectionCount
        if isNew || status.state != .connected { isOurs = false }
        if isNew { readSchema(after: last.connectionCount == 0 ? .zero : Self.readingDelay) }
    }

    /// How long a later connection has to last before the schema is read again: a server that ends one connection after
    /// the other is not asked each time.
    private static let readingDelay = Duration.seconds(1)

    private func readSchema(after delay: Duration) {
        reading?.cancel()
        reading = Task {
            if delay > .zero { try? await Task.sleep(for: delay) }
            guard !Task.isCancelled, screen.status.state == .connected else { return }
            let answer: Result<ServerSession.Introspection, any Error>
            do { answer = .success(try await session.introspection()) } catch {
                answer = .failure(error)
            }
            if !Task.isCancelled { use(answer) }
        }
    }

    private func use(_ answer: Result<ServerSession.Introspection, any Error>) {
        switch answer {
        case .success(let introspection):
            isOurs = introspection.isOurs
            screen.latency = introspection.latency
            outline = SchemaOutline(introspection.schema, like: outline)
            screen.schema.note = nil
        case .failure(let error):
            isOurs = false
            outline = nil
            screen.schema.note = "\(error)"
        }
        screen.schema.rows = outline?.rows ?? []
        editor.schema = outline?.schema
    }

    private func editorChanged() {
        // What is found out of a text that stays has nothing to do with the last key.
        if editor.state.edited != screen.editor.edited { screen.note = nil }
        screen.editor = editor.state
    }

    // MARK: The schema

    /// What is searched for.
    var schemaFilter: String {
        get { outline?.filter ?? "" }
        set {
            outline?.filter = newValue
            screen.schema.filter = newValue.isEmpty ? nil : newValue
            screen.schema.rows = outline?.rows ?? []
        }
    }

    func press(_ key: KeyPress, at row: SchemaOutline.Row) -> Bool {
        switch key {
        case KeyPress(.enter): toggle(row)
        case KeyPress(.right) where !row.isOpen: toggle(row)
        case KeyPress(.left) where row.isOpen: toggle(row)
        case "i": insert(row)
        default: return false
        }
        return true
    }

    /// Keys of the schema as a whole.
    func pressInSchema(_ key: KeyPress) -> Bool {
        switch key {
        case "/" where outline != nil && !screen.schema.isSearching:
            screen.schema.isSearching = true
        case KeyPress(.escape) where screen.schema.isSearching || screen.schema.filter != nil:
            screen.schema.isSearching = false
            schemaFilter = ""
        default: return false
        }
        return true
    }

    /// What was searched for is complete; what was found stays.
    func endSearch() { screen.schema.isSearching = false }

    private func toggle(_ row: SchemaOutline.Row) {
        outline?.toggle(row)
        screen.schema.rows = outline?.rows ?? []
    }

    /// Writes a field into the document: one of a root as an operation, any other where the caret is.
    private func insert(_ row: SchemaOutline.Row) {
        guard let schema = outline?.schema, case .field(let name, let typeName) = row.subject,
            let type = schema.type(named: typeName), let field = type.field(name)
        else {
            screen.note = "Only fields can be inserted."
            return
        }
        let skeleton = FieldSkeleton(schema)
        if let operation = OperationType.allCases.first(where: { schema.rootType(of: $0) === type })
        {
            let (text, caret) = skeleton.operation(operation, field)
            editor.replace(withOperation: text, caret: caret)
        } else {
            let (text, caret) = skeleton.field(field)
            editor.insert(text, caret: caret)
        }
    }

    // MARK: Keys everywhere

    /// Keys that nothing else has a use for.
    func press(_ key: KeyPress) -> Bool {
        screen.note = nil
        switch key {
        case KeyPress(.character("r"), .control), KeyPress(.function(5)), KeyPress(.enter, .alt):
            runDocument()
        case KeyPress(.character("x"), .control): stop()
        case KeyPress(.function(1)): screen.showsHelp.toggle()
        case KeyPress(.function(2)): open(lastResultPane == .tree ? .table : .tree)
        case KeyPress(.escape): screen.showsHelp ? screen.showsHelp = false : open(lastResultPane)
        case "q": leave()
        default: return false
        }
        return true
    }

    // MARK: Operations

    private func runDocument() {
        guard !editor.state.isBlank else {
            screen.note = "There is no operation in the editor."
            return
        }
        let document = try? Document(parsing: editor.text)
        let chosen = document.flatMap { ChosenOperation(in: $0, at: editor.caretOffset) }
        var parameters: JSONObject = ["query": .string(editor.text)]
        if let name = chosen?.name { parameters["operationName"] = .string(name) }
        if !variables.allSatisfy(\.isWhitespace) {
            guard case .object(let values)? = try? JSONValue(parsing: variables) else {
                screen.note = "The variables are not a JSON object like {\"id\": \"t1\"}."
                return
            }
            parameters["variables"] = .object(values)
        }
        guard runs.makeRoom() else {
            screen.note =
                "\(OperationRuns.limit) operations are running. Stop one with Ctrl-X first."
            return
        }
        history.append(editor.text)
        editor.hideSuggestions()
        screen.hasResumed = false
        // Others' changes that are not confirmed; of no meaning for what is answered once.
        let relay: JSONObject = isOurs ? ["optimistic": true] : [:]
        let title = chosen?.title ?? "an operation"
        let results = session.run(
            parameters, called: chosen?.label, relay: relay, namesMutation: isOurs)
        // What had to wait for a connection, or waits for an event, does not say how far away the server is.
        let isAnsweredAtOnce = screen.status.state == .connected && chosen?.type != .subscription
        runs.begin(title, results, measuresConnection: isAnsweredAtOnce)
        open(lastResultPane)
    }

    /// Ends the operation that is shown.
    private func stop() {
        guard let run = runs.shown, run.isRunning else {
            screen.note = "This operation is not running."
            return
        }
        run.task?.cancel()
    }

    func press(_ key: KeyPress, at entry: WorkbenchScreen.Entry) -> Bool {
        guard let run = runs.all.first(where: { $0.id == entry.id }) else { return false }
        switch key {
        case KeyPress(.enter), KeyPress(.right):
            runs.show(run)
            open(lastResultPane)
        case "x": run.task?.cancel()
        default: return false
        }
        return true
    }

    // MARK: Results

    func press(_ key: KeyPress, at row: ResultRow?) -> Bool {
        switch key {
        case KeyPress(.left): move(by: -1)
        case KeyPress(.right): move(by: 1)
        case "<": move(by: -.max)
        case ">": move(by: .max)
        case "v": return press(KeyPress(.function(2)))
        case KeyPress(.enter):
            guard let path = row?.path else { return false }
            // The value is that of this result, whatever comes.
            if let number = screen.page.number { runs.shown?.look(at: number) }
            open(.value(path: path, record: row?.record))
            if isOurs, let record = row?.record { ask(for: record) }
        default: return false
        }
        return true
    }

    private func move(by step: Int) {
        runs.shown?.move(by: step)
        isStale = true
        publish()
    }

    private func open(_ pane: WorkbenchScreen.Pane) {
        if pane == .tree || pane == .table {
            lastResultPane = pane
            for run in runs.all { run.goOn() }
        }
        screen.pane = pane
        isStale = true
        publish()
    }

    private func ask(for record: String) {
        asking?.cancel()
        asking = Task {
            let answer = await ServedRecord.asked(session, for: record)
            if Task.isCancelled { return }
            served = answer
            isStale = true
            makePage()
        }
    }

    private func changed(_ run: OperationRun) {
        if run === runs.shown { isStale = true }
        if run.measuresConnection, let latency = run.latency { screen.latency = latency }
        publish()
    }

    /// Shows the operations as they are. What comes meanwhile is shown together.
    private func publish() {
        if isPublishing { return }
        isPublishing = true
        Task {
            isPublishing = false
            screen.entries = runs.all.reversed().map { run in
                WorkbenchScreen.Entry(
                    id: run.id, title: run.title, state: run.state, count: run.results.count,
                    isShown: run === runs.shown)
            }
            makePage()
        }
    }

    private func makePage() {
        guard isStale, !isMakingPage else { return }
        isStale = false
        isMakingPage = true
        var subject = ResultPage.Subject(pane: screen.pane, run: runs.shown?.subject)
        if case .value(_, let record?) = screen.pane {
            subject.results = runs.shown?.results.results ?? []
            subject.served = served?.id == record ? served : nil
        }
        Task { [subject] in
            screen.page = await ResultPage.made(of: subject)
            isMakingPage = false
            makePage()
        }
    }
}
