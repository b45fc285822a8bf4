import RelayTerminal

/// The line in which todos are written, one after the other. What is written is its own: a letter is no work for the
/// list.
struct NewTodo: View {
    @State private var draft = ""
    /// Told what is written at each Enter.
    let add: @MainActor (String) -> Void

    var body: some View {
        HStack {
            Image(systemName: "plus")
            TextField("What is to be done?", text: $draft) {
                add(draft)
                draft = ""
            }
            .takesFocus()
        }
    }
}
