/// What is to be seen of a workbench.
struct WorkbenchScreen: Equatable {
    /// What is shown of the results.
    enum Pane: Hashable, Sendable {
        case tree, table
        /// A value of the result by its path, and the record that it belongs to.
        case value(path: [String], record: String?)
    }

    /// The part with the schema.
    struct Schema: Equatable {
        var rows: [SchemaOutline.Row] = []
        /// Why there is none; nil if there is.
        var note: String? = "reading…"
        /// What is searched for; nil: nothing.
        var filter: String?
        /// Whether that is being typed.
        var isSearching = false
    }

    /// A line in the list of operations.
    struct Entry: Identifiable, Equatable {
        let id: Int
        let title: String
        let state: OperationRun.State
        let count: Int
        let isShown: Bool

        var line: String {
            let mark =
                switch state {
                case .waiting: "…"
                case .live: "●"
                case .ended: "✓"
                case .stopped: "■"
                case .failed: "✗"
                }
            return "\(mark) \(title)" + (count > 1 ? "  \(count)" : "")
        }
    }

    var status = ConnectionStatus()
    /// Whether streams have gone on over a new connection since something was run.
    var hasResumed = false
    /// How long the newest first result took.
    var latency: Duration?
    var schema = Schema()
    var editor = EditorState()
    /// Newest first.
    var entries: [Entry] = []
    var pane = Pane.tree
    /// Whether the keys are shown in place of all else.
    var showsHelp = false
    var page = ResultPage()
    /// What became of the last key.
    var note: String?
}
