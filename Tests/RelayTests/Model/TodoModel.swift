/// One todo as a client should show it, written from what Relay promises and with nothing of the runtime's.
///
/// A record holds what the server confirmed. On top, oldest first, stand the optimistic updates that have not
/// ended; each is applied anew to whatever is below it.
struct TodoModel {
    /// What is known of the record.
    enum Record: Equatable {
        case unknown
        case deleted
        case fields(text: String?, complete: Bool?)
    }

    /// One write.
    enum Change: Equatable {
        case text(String)
        case complete(Bool)
        /// An updater's: adds to the text, if there is one.
        case suffix(String)
        /// A local updater's: sets the text, if the record is there.
        case localText(String)
        /// An updater's that throws on a todo that is complete.
        case refuseComplete
        case delete
    }

    var confirmed = Record.unknown
    /// By the number of the update, which rises.
    private var shown: [(update: Int, changes: [Change])] = []

    /// What readers see. An update that throws on what is below it shows nothing.
    var head: Record {
        shown.reduce(confirmed) { record, entry in record.applying(entry.changes) ?? record }
    }

    /// Whether an optimistic update is shown.
    var isCovered: Bool { !shown.isEmpty }

    mutating func confirm(_ changes: [Change]) {
        confirmed = confirmed.applying(changes) ?? confirmed
    }

    mutating func show(_ changes: [Change], update: Int) { shown.append((update, changes)) }

    mutating func revoke(update: Int) { shown.removeAll { $0.update == update } }
}

extension TodoModel.Record {
    /// - Returns: nil if one of the changes throws.
    func applying(_ changes: [TodoModel.Change]) -> Self? {
        changes.reduce(self) { record, change in record?.applying(change) }
    }

    private func applying(_ change: TodoModel.Change) -> Self? {
        var (text, complete): (String?, Bool?) = (nil, nil)
        var isThere = false
        if case .fields(let old, let state) = self {
            (text, complete, isThere) = (old, state, true)
        }
        switch change {
        case .delete: return .deleted
        case .refuseComplete: return complete == true ? nil : self
        case .text(let new): return .fields(text: new, complete: complete)
        case .complete(let new): return .fields(text: text, complete: new)
        case .localText(let new): return isThere ? .fields(text: new, complete: complete) : self
        case .suffix(let more):
            guard isThere, let text else { return self }
            return .fields(text: text + more, complete: complete)
        }
    }
}
