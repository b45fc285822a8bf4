/// Which node gets the keys.
@MainActor
package final class Focus {
    private unowned let graph: ViewGraph
    package private(set) weak var focused: ViewNode?
    /// Where among the focusable nodes the focus was: if its node is gone, the one in its place has it.
    private var place = 0
    /// A view that has just come, and wants it for what is in it.
    private weak var wanting: ViewNode?
    /// Those that others have taken it from, which are still there: dialogs are in front of them.
    private var behind: [Behind] = []

    private struct Behind {
        weak var node: ViewNode?
    }

    /// Whether it went to another node since it was settled last.
    package private(set) var hasMoved = false

    init(_ graph: ViewGraph) { self.graph = graph }

    func forget(_ node: ViewNode) {
        if focused === node { focused = nil }
    }

    package func move(to node: ViewNode) {
        guard node !== focused, node.isFocusable else { return }
        focused = node
        hasMoved = true
        var above: ViewNode? = node
        while let current = above {
            current.focusArrived(at: node)
            above = current.parent
        }
        graph.needsFrame()
    }

    /// A view wants the focus for what is in it, once that is there.
    func want(for node: ViewNode) { wanting = node }

    /// After views have changed: a node has the focus if any can have it.
    func settle(in root: ViewNode) {
        hasMoved = false
        if let wanting, wanting.isMounted, let first = focusable(below: wanting).first {
            if let focused { behind.append(Behind(node: focused)) }
            move(to: first)
        }
        wanting = nil
        let nodes = focusable(below: root)
        if let focused, let index = nodes.firstIndex(where: { $0 === focused }) {
            place = index
            return
        }
        behind.removeAll { $0.node?.isMounted != true }
        if let focused {
            // Something has come in front of it, and begins at its beginning.
            behind.append(Behind(node: focused))
            place = 0
        } else if let last = behind.lastIndex(where: { one in nodes.contains { $0 === one.node } })
        {
            // What was in front is gone.
            place = nodes.firstIndex { $0 === behind[last].node } ?? place
            behind.removeSubrange(last...)
        }
        focused = nil
        guard !nodes.isEmpty else { return }
        move(to: nodes[min(place, nodes.count - 1)])
        place = nodes.firstIndex { $0 === focused } ?? 0
    }

    private func focusable(below node: ViewNode) -> [ViewNode] {
        var found: [ViewNode] = []
        func collect(_ node: ViewNode) {
            if node.canBeFocused { found.append(node) }
            for child in node.focusChildren { collect(child) }
        }
        collect(node)
        return found
    }

    // MARK: Keys

    func handle(_ key: KeyPress, _ root: ViewNode?) -> Bool {
        // Without a focusable node, keys are for those who listen to them anywhere.
        var node = focused ?? root.flatMap(innermost)
        node?.connectViews()
        while let current = node {
            if current.handle(key) { return true }
            node = current.parent
        }
        switch (key.key, key.modifiers) {
        case (.tab, []), (.tab, .shift):
            guard let root else { return false }
            return step(key.modifiers.isEmpty ? 1 : -1, in: root)
        default: return false
        }
    }

    func handle(pasted text: String) -> Bool {
        var node = focused
        node?.connectViews()
        while let current = node {
            if current.handle(pasted: text) { return true }
            node = current.parent
        }
        return false
    }

    /// Moves on to the next focusable node, from the last to the first.
    private func step(_ by: Int, in root: ViewNode) -> Bool {
        let nodes = focusable(below: root)
        guard !nodes.isEmpty else { return false }
        let now = nodes.firstIndex { $0 === focused }
        let next = now.map { ($0 + by + nodes.count) % nodes.count } ?? 0
        move(to: nodes[next])
        return true
    }

    /// The node below all others on the way of what was drawn last.
    private func innermost(_ node: ViewNode) -> ViewNode {
        node.focusChildren.last.map(innermost) ?? node
    }
}
