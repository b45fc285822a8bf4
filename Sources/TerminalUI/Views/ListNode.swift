/// The node of a ``List``: which rows there are, where they are, and which of them has the keys.
package final class ListNode: ViewNode {
    /// A row that exists.
    private struct Row {
        let index: Int
        /// What the row's view is; its layout nodes are below it.
        let node: ViewNode
        var frame = Rect.zero
    }

    private enum Source {
        case one(ViewNode)
        case lazy(any LazyRows)

        @MainActor var count: Int {
            switch self {
            case .one: 1
            case .lazy(let rows): rows.rowCount
            }
        }
    }

    /// The first row that can be seen, and how many of its lines can't.
    private var top: (index: Int, hidden: Int) = (0, 0)
    private var current = 0
    /// Whether the current row has to be seen, wherever the list was scrolled to.
    private var showsCurrent = false
    private var visible: [Row] = []
    private weak var topNode: ViewNode?
    /// The row of the screen at which it began when it was laid out last.
    private var lastOrigin = 0
    private weak var currentNode: ViewNode?
    /// Those that stand for rows without controls.
    private var stands: [ObjectIdentifier: RowStand] = [:]

    func update(_ content: some View) {
        var context = context
        context.isLazy = true
        children = [reconciled(children.first) { old, _ in content._reconcile(old, context) }]
        invalidateLayout()
    }

    package override func sizeThatFits(_ proposal: Proposal) -> Size {
        Size(
            width: proposal.width ?? 40,
            height: proposal.height ?? min(sources.reduce(0) { $0 + $1.count }, 10))
    }

    // MARK: Rows

    private var sources: [Source] {
        var sources: [Source] = []
        func collect(_ node: ViewNode) {
            if let rows = node as? any LazyRows {
                sources.append(.lazy(rows))
            } else if node.isTransparent {
                for child in node.children { collect(child) }
            } else {
                sources.append(.one(node))
            }
        }
        for child in children { collect(child) }
        return sources
    }

    private func node(at index: Int, _ sources: [Source]) -> ViewNode? {
        var index = index
        for source in sources {
            if index < source.count {
                switch source {
                case .one(let node): return node
                case .lazy(let rows): return rows.row(at: index)
                }
            }
            index -= source.count
        }
        return nil
    }

    /// Where a row is now; rows may have come and gone.
    private func index(of node: ViewNode?, near index: Int, _ sources: [Source]) -> Int? {
        guard let node, node.isMounted else { return nil }
        var start = 0
        for source in sources {
            switch source {
            case .one(let one) where one === node: return start
            case .one: break
            case .lazy(let rows):
                if let found = rows.index(of: node, near: max(index - start, 0)) {
                    return start + found
                }
            }
            start += source.count
        }
        return nil
    }

    // MARK: Layout

    package override func place(in frame: Rect) {
        self.frame = frame
        let sources = sources
        let count = sources.reduce(0) { $0 + $1.count }
        let last = visible.first { $0.node === currentNode }?.frame
        let moved = index(of: currentNode, near: current, sources)
        current = min(moved ?? current, max(count - 1, 0))
        if let last, topNode != nil, count > 0 {
            // What somebody works at keeps its line, whatever comes and goes around it.
            keepLine(last.origin.row - lastOrigin, last.size.height, sources)
        } else if let moved = index(of: topNode, near: top.index, sources) {
            top.index = moved
        }
        lastOrigin = frame.origin.row
        top.index = min(top.index, max(count - 1, 0))
        visible = rows(count, sources)
        if showsCurrent { show(count, sources) }
        showsCurrent = false
        for row in visible {
            StackLayout.vertical.placeOne(row.node.layoutNodes, in: row.frame)
            stands[ObjectIdentifier(row.node)]?.place(in: row.frame)
        }
        if count > 0, !visible.contains(where: { $0.index == current }) {
            // Only a row that has the focus is kept where nobody sees it.
            let isFocused =
                moved != nil && (currentNode.map { contains(graph.focus.focused, $0) } ?? false)
            if !isFocused, let first = visible.first { current = first.index }
        }
        currentNode = count > 0 ? node(at: current, sources) : nil
        topNode = visible.first?.node
        keep(sources)
    }

    /// The rows from the top to the bottom, with their places; further ones above if there is room.
    private func rows(_ count: Int, _ sources: [Source]) -> [Row] {
        var rows: [Row] = []
        var line = -top.hidden
        var index = top.index
        while index < count, line < frame.size.height, let node = node(at: index, sources) {
            let height = height(of: node)
            rows.append(Row(index: index, node: node, frame: Rect(size(height), at: line)))
            line += height
            index += 1
        }
        var first = rows.first?.frame.origin.row ?? 0
        var missing = frame.size.height - line
        while missing > 0, first < 0 || top.index > 0 {
            if first < 0 {
                let step = min(missing, -first)
                first += step
                missing -= step
                continue
            }
            guard let node = node(at: top.index - 1, sources) else { break }
            top.index -= 1
            let height = height(of: node)
            rows.insert(
                Row(index: top.index, node: node, frame: Rect(size(height), at: 0)), at: 0)
            first = -height
        }
        top.hidden = -first
        line = frame.origin.row + first
        for place in rows.indices {
            rows[place].frame.origin = Position(column: frame.origin.column, row: line)
            line += rows[place].frame.size.height
        }
        return rows
    }

    /// Scrolls so that the current row is on a line, or as near to it as it can be seen.
    private func keepLine(_ line: Int, _ height: Int, _ sources: [Source]) {
        let line = min(line, max(frame.size.height - height, 0))
        top = (current, max(-line, 0))
        var above = 0
        while above < line, top.index > 0, let node = node(at: top.index - 1, sources) {
            top.index -= 1
            above += self.height(of: node)
        }
        if line > 0 { top.hidden = max(above - line, 0) }
    }

    private func size(_ height: Int) -> Size { Size(width: frame.size.width, height: height) }

    private func height(of node: ViewNode) -> Int {
        let proposal = Proposal(width: frame.size.width, height: nil)
        let nodes = node.layoutNodes
        let size =
            nodes.count == 1
            ? nodes[0].size(for: proposal) : StackLayout.vertical.size(of: nodes, proposal)
        // A row without a line could not be seen, and there could be any number of them.
        return max(size.height, 1)
    }

    /// Scrolls as little as necessary for the current row to be seen.
    private func show(_ count: Int, _ sources: [Source]) {
        guard count > 0, frame.size.height > 0 else { return }
        if let row = visible.first(where: { $0.index == current }) {
            let below = row.frame.rows.upperBound - frame.rows.upperBound
            let above = frame.origin.row - row.frame.origin.row
            if above <= 0, below <= 0 { return }
            if above > 0 {
                top = (current, 0)
            } else {
                scroll(by: min(below, -above))
            }
        } else if current < top.index {
            top = (current, 0)
        } else {
            // The row is the last one that can be seen.
            var lines = 0
            var index = current
            while let node = node(at: index, sources) {
                lines += height(of: node)
                if lines >= frame.size.height || index == 0 { break }
                index -= 1
            }
            top = (index, index == current ? 0 : max(lines - frame.size.height, 0))
        }
        visible = rows(count, sources)
    }

    private func scroll(by lines: Int) {
        top.hidden += lines
        for row in visible where top.hidden >= row.frame.size.height {
            top.hidden -= row.frame.size.height
            top.index = row.index + 1
        }
        topNode = nil
    }

    private func keep(_ sources: [Source]) {
        let range = (visible.first?.index ?? 0)..<((visible.last?.index ?? -1) + 1)
        var start = 0
        for source in sources {
            if case .lazy(let rows) = source {
                rows.keepRows { range.contains($0 + start) || $0 + start == current }
            }
            start += source.count
        }
        stands = stands.filter { $0.value.row?.isMounted == true }
    }

    package override func draw(into buffer: inout CellBuffer, clip: Rect) {
        let clip = clip.intersection(frame)
        for row in visible {
            for node in row.node.layoutNodes { node.draw(into: &buffer, clip: clip) }
            if let stand = stands[ObjectIdentifier(row.node)], stand.isFocused {
                buffer.restyle(row.frame.intersection(clip)) {
                    $0.attributes.formSymmetricDifference(.inverse)
                }
            }
        }
    }

    // MARK: Focus

    /// What in a row can have the focus: its controls, or what stands for the row.
    private func focusable(in row: ViewNode) -> [ViewNode] {
        var found: [ViewNode] = []
        func collect(_ node: ViewNode) {
            if node.canBeFocused { found.append(node) }
            for child in node.focusChildren { collect(child) }
        }
        collect(row)
        if !found.isEmpty { return found }
        // Keys go on to all that is around the row's content, which may be another one than it was.
        let content = row.layoutNodes.first ?? row
        if let stand = stands[ObjectIdentifier(row)] {
            stand.parent = content
            return [stand]
        }
        let stand = RowStand(content.context)
        stand.row = row
        stands[ObjectIdentifier(row)] = stand
        stand.place(in: visible.first { $0.node === row }?.frame ?? .zero)
        return [stand]
    }

    /// Tab goes to one row only, and then on.
    package override var focusChildren: [ViewNode] {
        guard let currentNode, currentNode.isMounted else { return [] }
        let nodes = focusable(in: currentNode)
        return nodes.first is RowStand ? nodes : [currentNode]
    }

    private func contains(_ node: ViewNode?, _ row: ViewNode) -> Bool {
        var node = node
        while let current = node {
            if current === row { return true }
            node = current.parent
        }
        return false
    }

    package override func focusArrived(at node: ViewNode) {
        guard let row = visible.first(where: { contains(node, $0.node) }) else { return }
        current = row.index
        currentNode = row.node
        showsCurrent = true
    }

    // MARK: Input

    package override func handle(_ key: KeyPress) -> Bool {
        guard key.modifiers.isEmpty else { return false }
        let page = max(frame.size.height - 1, 1)
        switch key.key {
        case .up: return move(to: current - 1)
        case .down: return move(to: current + 1)
        case .pageUp: return move(to: max(current - page, 0))
        case .pageDown: return move(to: current + page)
        case .home: return move(to: 0)
        case .end: return move(to: .max)
        case .left: return moveInRow(-1)
        case .right: return moveInRow(1)
        default: return false
        }
    }

    private func move(to index: Int) -> Bool {
        let sources = sources
        let count = sources.reduce(0) { $0 + $1.count }
        let target = min(index, count - 1)
        guard target >= 0, target != current, let row = node(at: target, sources) else {
            return false
        }
        // The same control of the other row.
        let place = currentNode.map(focusable)?.firstIndex { $0 === graph.focus.focused } ?? 0
        let nodes = focusable(in: row)
        current = target
        currentNode = row
        showsCurrent = true
        graph.focus.move(to: nodes[min(place, nodes.count - 1)])
        graph.needsFrame()
        return true
    }

    private func moveInRow(_ step: Int) -> Bool {
        guard let currentNode else { return false }
        let nodes = focusable(in: currentNode)
        guard let place = nodes.firstIndex(where: { $0 === graph.focus.focused }),
            nodes.indices.contains(place + step)
        else { return false }
        graph.focus.move(to: nodes[place + step])
        return true
    }

    package override func hit(_ position: Position) -> ViewNode? {
        guard frame.contains(position) else { return nil }
        guard let row = visible.first(where: { $0.frame.contains(position) }) else { return self }
        return row.node.hit(position) ?? self
    }

    package override func handle(_ event: MouseEvent) -> Bool {
        switch event.kind {
        case .scroll(let lines):
            // Where the end is, the next layout says.
            if lines < 0, top.index == 0, top.hidden == 0 { return false }
            if lines < 0 {
                top.index = max(top.index + lines, 0)
                top.hidden = 0
                topNode = nil
            } else {
                scroll(by: lines)
            }
            graph.needsFrame()
            return true
        case .press:
            guard let row = visible.first(where: { $0.frame.contains(event.position) }) else {
                return false
            }
            graph.focus.move(to: focusable(in: row.node)[0])
            return true
        default: return false
        }
    }
}

/// Has the focus for a row without controls.
final class RowStand: ViewNode {
    /// The view of the row.
    weak var row: ViewNode?

    override var isControl: Bool { row?.isMounted ?? false }
    override var isFocusable: Bool { isControl }
}

extension Rect {
    /// A row of a list, before it is known where the list is.
    fileprivate init(_ size: Size, at line: Int) {
        self.init(origin: Position(column: 0, row: line), size: size)
    }
}
