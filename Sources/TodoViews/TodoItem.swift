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

    var body: some View {
        if let todo {
            if isEdited {
                HStack {
                    Image(systemName: "pencil")
                    TextField("What is to be done?", text: $draft) {
                        isEdited = false
                        if draft != todo.text, !draft.isEmpty {
                            rename.commit(id: todo.id, text: draft, ended: began())
                        }
                    }
                    .takesFocus()
                }
                .onKey(KeyPress(.escape)) { isEdited = false }
            } else if TemporaryID.isTemporary(todo.id) {
                // The server does not know it yet.
                HStack {
                    Image(systemName: "square")
                    Text("\(todo.text) …")
                }
                .foregroundColor(.secondary)
            } else {
                Button {
                    changeStatus.commit(id: todo.id, complete: !todo.complete, ended: began())
                } label: {
                    HStack {
                        Image(systemName: todo.complete ? "checkmark.square" : "square")
                        Text(isInFlight ? "\(todo.text) …" : todo.text)
                    }
                    .foregroundColor(isInFlight ? .secondary : .primary)
                }
                .onKey { handle($0, todo) }
            }
        }
    }

    private var isInFlight: Bool {
        // All of them are read, so that the view follows all of them.
        [
            changeStatus.isInFlight, rename.isInFlight, remove.isInFlight, move.isInFlight,
        ].contains(true)
    }

    private func began() -> Ended { session?.began() ?? { _ in } }

    private func handle(_ key: KeyPress, _ todo: TodoItem_todo.Data) -> Bool {
        switch key {
        case "e":
            draft = todo.text
            isEdited = true
        case "d", KeyPress(.delete):
            remove.commit(id: todo.id, connections: [place.connection], ended: began())
        case "K", KeyPress(.up, .alt): moveUp(todo.id)
        case "J", KeyPress(.down, .alt): moveDown(todo.id)
        default: return false
        }
        return true
    }

    private func moveUp(_ id: String) {
        guard place.canMove, let _ = place.above else { return }
        move.commit(id: id, after: place.aboveThat, of: place.user, ended: began())
    }

    private func moveDown(_ id: String) {
        guard place.canMove, let below = place.below else { return }
        move.commit(id: id, after: below, of: place.user, ended: began())
    }
}

/// Where a row is.
struct TodoPlace: Hashable {
    let user: String
    /// The list that is shown.
    let connection: String
    /// False in a part of the list, where the neighbours are others.
    let canMove: Bool
    let above: String?
    let aboveThat: String?
    let below: String?
}
