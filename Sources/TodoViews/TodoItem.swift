import RelayTerminal

private let itemFragment = graphql(
    """
    fragment TodoItem_todo on Todo { id text complete }
    """)

/// A row: Enter ticks it, and keys of its own rename, remove and move it.
struct TodoItem: View {
    @Fragment<TodoItem_todo> var todo
    @Mutation<ChangeTodoStatusMutation> var changeStatus
    @Mutation<RenameTodoMutation> var rename
    @Mutation<RemoveTodoMutation> var remove
    @Mutation<MoveTodoMutation> var move
    @EnvironmentValue(\.todoSession) var session
    @State private var isEdited = false
    @State private var draft = ""
    let place: TodoPlace
    /// Whether a change of it waits for the server.
    let isWaiting: Bool
    /// Whether a change of somebody else's waits for the server.
    let isExpected: Bool

    var body: some View {
        if let todo {
            if isEdited {
                HStack {
                    Image(systemName: "pencil")
                    TextField("What is to be done?", text: $draft) {
                        isEdited = false
                        if draft != todo.text.inOneLine, !draft.isEmpty {
                            rename.commit(id: todo.id, text: draft, ended: ended)
                        }
                    }
                    .takesFocus()
                }
                .onKey(KeyPress(.escape)) { isEdited = false }
            } else if TemporaryID.isTemporary(todo.id) {
                // The server does not know it yet.
                row(todo)
            } else {
                Button {
                    changeStatus.commit(id: todo.id, complete: !todo.complete, ended: ended)
                } label: {
                    row(todo)
                }
                .onKey { handle($0, todo) }
            }
        }
    }

    private func row(_ todo: TodoItem_todo.Data) -> some View {
        HStack {
            Image(systemName: todo.complete ? "checkmark.square" : "square")
            Text(todo.text.inOneLine).frame(height: 1)
            if isWaiting { Text("…") }
        }
        .foregroundColor(isWaiting || isExpected ? .secondary : .primary)
    }

    private func ended(_ result: Result<Void, any Error>) { session?.ended(result) }

    private func handle(_ key: KeyPress, _ todo: TodoItem_todo.Data) -> Bool {
        switch key {
        case "e":
            draft = todo.text.inOneLine
            isEdited = true
        case "d", KeyPress(.delete):
            remove.commit(id: todo.id, of: place.user, ended: ended)
        case "K", KeyPress(.up, .alt): moveUp(todo.id)
        case "J", KeyPress(.down, .alt): moveDown(todo.id)
        default: return false
        }
        return true
    }

    private func moveUp(_ id: String) {
        guard place.canMove, let _ = place.above else { return }
        move.commit(id: id, after: place.aboveThat, of: place.user, ended: ended)
    }

    private func moveDown(_ id: String) {
        guard place.canMove, let below = place.below else { return }
        move.commit(id: id, after: below, of: place.user, ended: ended)
    }
}

extension OptimisticEntry {
    /// The ids of what it is about: the records that it changes, and the todo that its variables name.
    var subjects: [String] {
        records.map(\.rawValue) + [variables.input?["id"]?.stringValue].compactMap { $0 }
    }
}

extension String {
    /// A row has one line, whatever others have written.
    var inOneLine: String {
        split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}

/// Where a row is, among those that the server knows: it could not be told of others.
struct TodoPlace: Hashable {
    let user: String
    /// False in a part of the list, where the neighbours are others.
    let canMove: Bool
    let above: String?
    let aboveThat: String?
    let below: String?
}
