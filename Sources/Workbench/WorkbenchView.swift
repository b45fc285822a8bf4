import GraphQLLanguage
import RelayJSON
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
        Group {
            if screen.showsHelp {
                VStack {
                    Text("Keys").bold().frame(height: 1)
                    Divider()
                    List(Self.help) { line in Text(line.text) }.takesFocus()
                }
            } else {
                main
            }
        }
        .onKey { model.press($0) }
        .task { await model.run(leave: leave) { screen = $0 } }
    }

    private static let help = ResultPage.help.enumerated().map { HelpLine(id: $0, text: $1) }

    private var main: some View {
        VStack {
            head
            Divider()
            HStack(alignment: .top) {
                VStack {
                    schema
                    Divider()
                    runs
                }
                .frame(maxWidth: 30)
                Divider()
                VStack {
                    editor
                    Divider()
                    results
                }
            }
            foot
        }
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
            Text(screen.hasResumed ? "connected, resumed" : "connected")
                .foregroundColor(.green)
        case .offline(_, let isTrying):
            Text(isTrying ? "offline, reconnecting" : "offline").foregroundColor(.red)
        }
    }

    @ViewBuilder private var foot: some View {
        if let note = screen.note {
            Text(note.inOneLine.printable).foregroundColor(.yellow).frame(height: 1)
        } else if case .offline(let reason, _) = screen.status.state {
            Text(reason.inOneLine.printable).foregroundColor(.red).frame(height: 1)
        } else {
            Text("Tab next part  Ctrl-R run  Ctrl-X stop  F2 tree or table  Ctrl-C leave")
                .foregroundColor(.secondary).frame(height: 1)
        }
    }

    // MARK: Left

    private var schema: some View {
        VStack {
            if screen.schema.isSearching {
                HStack {
                    Text("/").bold()
                    TextField(
                        "a part of a name",
                        text: Binding(
                            get: { model.schemaFilter }, set: { model.schemaFilter = $0 })
                    ) { model.endSearch() }
                    .takesFocus()
                }
                .frame(height: 1)
            } else {
                Text("Schema" + (screen.schema.filter.map { "  /\($0)" } ?? "")).bold()
                    .frame(height: 1)
            }
            if let note = screen.schema.note {
                Text(note.cut(to: 200).inOneLine.printable).foregroundColor(.secondary)
            }
            List(screen.schema.rows) { row in
                SchemaRow(row: row).onKey { model.press($0, at: row) }
            }
        }
        .onKey { model.pressInSchema($0) }
    }

    private var runs: some View {
        VStack {
            Text("Operations").bold().frame(height: 1)
            List(screen.entries) { entry in
                Text(entry.line.inOneLine).bold(entry.isShown).foregroundColor(entry.color)
                    .frame(height: 1)
                    .onKey { model.press($0, at: entry) }
            }
        }
        .frame(maxHeight: 6)
    }

    // MARK: Right

    private var editor: some View {
        VStack {
            TextEditor(
                Binding(get: { model.editor.state.edited }, set: { model.editor.edit($0) })
            )
            .onKey { model.editor.press($0) }
            .takesFocus()
            .frame(maxHeight: 8)
            ForEach(Array(screen.editor.shownSuggestions), id: \.text) { suggestion in
                SuggestionRow(
                    suggestion: suggestion, isChosen: suggestion == screen.editor.chosenSuggestion)
            }
            if let count = screen.editor.suggestionCount {
                Text("  " + count).foregroundColor(.secondary).frame(height: 1)
            }
            if screen.editor.suggestions.isEmpty, let problem = screen.editor.problem {
                Text(problem.inOneLine.printable).foregroundColor(.red).frame(height: 1)
            }
            if screen.editor.isBlank {
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
        .onKey { model.press($0, at: nil) }
    }
}

private struct HelpLine: Identifiable {
    let id: Int
    let text: String
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
    let suggestion: DocumentCompletion.Suggestion
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
        if row.pieces.first?.width != nil {
            // A row of a table.
            HStack {
                ForEach(Array(row.pieces.enumerated()), id: \.offset) { piece in
                    PieceText(piece: piece.element)
                        .frame(width: piece.element.width, height: 1, alignment: .leading)
                }
            }
            .frame(height: 1)
        } else {
            HStack(alignment: .top, spacing: 0) {
                ForEach(Array(row.pieces.enumerated()), id: \.offset) { piece in
                    PieceText(piece: piece.element)
                }
            }
        }
    }
}

private struct PieceText: View {
    let piece: ResultRow.Piece

    var body: some View {
        // Attributes, too, for terminals without colours.
        Text(piece.text).foregroundColor(piece.mark.color)
            .bold(piece.mark == .heading || piece.mark == .changed)
            .disabled(piece.mark == .unconfirmed)
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

extension WorkbenchScreen.Entry {
    fileprivate var color: Color? {
        switch state {
        case .waiting: .yellow
        case .live: .green
        case .ended, .stopped: nil
        case .failed: .red
        }
    }
}
