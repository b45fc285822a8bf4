import GraphQLLanguage
package import TerminalUI

/// A workbench: the schema and what runs at the left; an operation and its results at the right.
package struct WorkbenchView: View {
    private let model: WorkbenchModel
    @State private var screen: WorkbenchScreen
    @EnvironmentValue(\.leave) private var leave

    package init(_ model: WorkbenchModel) {
        self.model = model
        _screen = State(wrappedValue: model.screen)
    }

    package var body: some View {
        VStack {
            head
            Divider()
            HStack(alignment: .top) {
                VStack {
                    schema
                    Divider()
                    runs
                }
                .frame(width: 30)
                Divider()
                VStack {
                    editor
                    Divider()
                    results
                }
            }
            foot
        }
        .onKey { model.press($0) }
        .task { await model.run(leave: leave) { screen = $0 } }
    }

    // MARK: The first line and the last one

    private var head: some View {
        HStack {
            Text("relay").bold()
            Text(model.url)
            connection
            if let latency = screen.latency {
                Text(latency.milliseconds).foregroundColor(.secondary)
            }
            Spacer()
            Text("F1 keys").foregroundColor(.secondary)
        }
        .frame(height: 1)
    }

    @ViewBuilder private var connection: some View {
        switch screen.status.state {
        case .connecting: Text("connecting").foregroundColor(.yellow)
        case .connected:
            Text(screen.status.resumedCount > 0 ? "connected, resumed" : "connected")
                .foregroundColor(.green)
        case .offline(_, let isTrying):
            Text(isTrying ? "offline, reconnecting" : "offline").foregroundColor(.red)
        }
    }

    @ViewBuilder private var foot: some View {
        if let note = screen.note {
            Text(note).foregroundColor(.yellow).frame(height: 1)
        } else if case .offline(let reason, _) = screen.status.state {
            Text(reason).foregroundColor(.red).frame(height: 1)
        } else {
            Text("Tab goes on  Ctrl-R runs  Ctrl-X stops  F2 tree or table  Ctrl-C leaves")
                .foregroundColor(.secondary).frame(height: 1)
        }
    }

    // MARK: Left

    private var schema: some View {
        VStack {
            if screen.isSearchingSchema {
                HStack {
                    Text("/").bold()
                    TextField(
                        "a part of a name",
                        text: Binding(
                            get: { model.schemaFilter }, set: { model.schemaFilter = $0 })
                    ) { model.searchedSchema() }
                    .takesFocus()
                }
                .frame(height: 1)
            } else {
                Text("Schema").bold().frame(height: 1)
            }
            if let note = screen.schemaNote { Text(note).foregroundColor(.secondary) }
            List(screen.schemaRows) { row in
                SchemaRow(row: row).onKey { model.press($0, at: row) }
            }
        }
    }

    private var runs: some View {
        VStack {
            Text("Operations").bold().frame(height: 1)
            List(screen.runs) { run in
                Text(run.line.inOneLine).bold(run.isShown).foregroundColor(run.color)
                    .frame(height: 1)
                    .onKey { model.press($0, at: run) }
            }
        }
        .frame(height: 6)
    }

    // MARK: Right

    private var editor: some View {
        VStack {
            TextEditor(
                text: Binding(get: { model.document }, set: { model.document = $0 }),
                caret: Binding(get: { model.caret }, set: { model.caret = $0 })
            )
            .onKey { model.pressInEditor($0) }
            .takesFocus()
            .frame(height: 8)
            ForEach(Array(screen.shownSuggestions), id: \.text) { suggestion in
                SuggestionRow(
                    suggestion: suggestion,
                    isChosen: suggestion == screen.suggestions[screen.chosen])
            }
            if screen.suggestions.isEmpty, let problem = screen.problem {
                Text(problem.inOneLine).foregroundColor(.red).frame(height: 1)
            }
            if screen.isBlank {
                Text("Write an operation, or press i at a field of the schema.")
                    .foregroundColor(.secondary).frame(height: 1)
            }
            HStack {
                Text("Variables").foregroundColor(.secondary)
                TextField(
                    "{}", text: Binding(get: { model.variables }, set: { model.variables = $0 }))
            }
            .frame(height: 1)
        }
    }

    private var results: some View {
        VStack {
            Text(screen.page.title.inOneLine).bold().frame(height: 1)
            if !screen.page.about.isEmpty {
                Text(screen.page.about).foregroundColor(.secondary).frame(height: 1)
            }
            List(screen.page.rows) { row in
                ResultLine(row: row).onKey { model.press($0, at: row) }
            }
        }
    }
}

private struct SchemaRow: View {
    let row: SchemaOutline.Row

    var body: some View {
        let mark = row.canOpen ? (row.isOpen ? "▾ " : "▸ ") : "  "
        Text(String(repeating: " ", count: row.depth) + mark + row.name + row.rest.inOneLine)
            .bold(row.subject == .group)
            .foregroundColor(row.subject == .detail ? .secondary : nil)
            .disabled(row.isDeprecated)
            .frame(height: 1)
    }
}

private struct SuggestionRow: View {
    let suggestion: WorkbenchScreen.Suggestion
    let isChosen: Bool

    var body: some View {
        HStack {
            Text((isChosen ? "▶ " : "  ") + suggestion.text).bold(isChosen)
            Text(suggestion.detail).foregroundColor(.cyan)
            Text((suggestion.description ?? "").inOneLine).foregroundColor(.secondary)
        }
        .disabled(suggestion.isDeprecated)
        .frame(height: 1)
    }
}

private struct ResultLine: View {
    let row: ResultRow

    var body: some View {
        HStack(spacing: row.pieces.first?.width == nil ? 0 : 1) {
            ForEach(Array(row.pieces.enumerated()), id: \.offset) { piece in
                Text(piece.element.text.inOneLine)
                    .foregroundColor(piece.element.mark.color)
                    .bold(piece.element.mark == .heading)
                    .frame(width: piece.element.width, height: 1, alignment: .leading)
            }
        }
        .frame(height: 1)
    }
}

extension ResultRow.Piece.Mark {
    fileprivate var color: Color? {
        switch self {
        case .none, .heading: nil
        case .changed: .yellow
        case .removed: .red
        case .unconfirmed: .secondary
        }
    }
}

extension WorkbenchScreen {
    typealias Suggestion = DocumentCompletion.Suggestion
}

extension WorkbenchScreen.Run {
    fileprivate var color: Color? {
        switch state {
        case .waiting: .yellow
        case .live: .green
        case .ended, .stopped: nil
        case .failed: .red
        }
    }
}
