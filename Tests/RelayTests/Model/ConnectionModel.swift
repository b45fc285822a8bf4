/// A connection as a client should show it.
///
/// As with ``TodoModel``: what the server confirmed, and on top of it the updates that are shown, oldest first.
struct ConnectionModel {
    struct Edge: Equatable {
        let node: String
        /// The server's first page gave it, and not a mutation.
        var hasCursor = false
        /// Its node's record is gone.
        var isDeleted = false
    }

    /// All that a reader of the connection gets: it follows the cursors, too, and is told when one changes.
    struct Page: Equatable {
        var edges: [Edge] = []
        var endCursor: String?
    }

    enum Change {
        /// The server's first page, in place of whatever was known.
        case page([String])
        case append(String)
        /// The edge goes, the record stays.
        case remove(String)
        /// The record goes, the edge stays.
        case delete(String)
    }

    private(set) var confirmed = Page()
    /// By the number of the update, which rises.
    private var shown: [(update: Int, change: Change)] = []

    /// What readers see.
    var head: Page { shown.reduce(confirmed) { $0.applying($1.change) } }

    /// Nodes that the server has, as far as is known.
    var confirmedNodes: [String] { confirmed.edges.filter { !$0.isDeleted }.map(\.node) }

    mutating func confirm(_ change: Change) { confirmed = confirmed.applying(change) }

    mutating func show(_ change: Change, update: Int) { shown.append((update, change)) }

    mutating func revoke(update: Int) { shown.removeAll { $0.update == update } }
}

extension ConnectionModel.Page {
    fileprivate func applying(_ change: ConnectionModel.Change) -> Self {
        var page = self
        switch change {
        case .page(let nodes):
            page.edges = nodes.map { ConnectionModel.Edge(node: $0, hasCursor: true) }
            page.endCursor = nodes.last
        case .append(let node):
            if !edges.contains(where: { $0.node == node }) {
                page.edges.append(ConnectionModel.Edge(node: node))
            }
        case .remove(let node):
            page.edges.removeAll { $0.node == node }
        case .delete(let node):
            for place in edges.indices where edges[place].node == node {
                page.edges[place].isDeleted = true
            }
        }
        return page
    }
}
