import Relay

/// Which todos are shown.
enum TodoFilter: String, CaseIterable {
    case all
    case open
    case done

    /// What they have in common; nil: nothing.
    var complete: Bool? {
        switch self {
        case .all: nil
        case .open: false
        case .done: true
        }
    }

    /// The list of a user's todos, as the store has it (`TodoList_user`).
    func list(of userID: String) -> String {
        ConnectionHandler.default.getConnectionID(
            parentID: DataID(userID), key: "List_todos", filters: complete.map { ["complete": $0] }
        ).rawValue
    }

    var next: TodoFilter {
        let all = Self.allCases
        return all[(all.firstIndex(of: self).map { $0 + 1 } ?? 0) % all.count]
    }
}
