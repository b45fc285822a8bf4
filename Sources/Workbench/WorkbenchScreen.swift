import GraphQLLanguage

/// What is to be seen of a workbench, but for what is typed.
struct WorkbenchScreen: Equatable {
    /// What is shown of the results.
    enum Pane: Hashable, Sendable {
        case tree, table
        /// A record, by its id.
        case record(String)
        case help
    }

    /// An operation in the list of those that were begun.
    struct Run: Identifiable, Equatable {
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
    /// How long the newest first result took.
    var latency: Duration?
    var schemaRows: [SchemaOutline.Row] = []
    /// Why there is no schema, or what is searched for in it.
    var schemaNote: String? = "reading…"
    var isSearchingSchema = false
    var suggestions: [DocumentCompletion.Suggestion] = []
    /// Which of them is chosen.
    var chosen = 0
    /// How often something else was put into the editor: the screen has to be drawn again then.
    var replacementCount = 0
    /// Whether nothing is typed.
    var isBlank = true
    /// What is wrong with what is typed.
    var problem: String?
    var runs: [Run] = []
    var pane = Pane.tree
    var page = ResultPage()
    /// What became of the last key.
    var note: String?

    /// The suggestions that there is room for, around the one that is chosen.
    var shownSuggestions: ArraySlice<DocumentCompletion.Suggestion> {
        let start = min(max(chosen - 2, 0), max(suggestions.count - Self.suggestionRows, 0))
        return suggestions[start..<min(start + Self.suggestionRows, suggestions.count)]
    }

    private static let suggestionRows = 5
}
