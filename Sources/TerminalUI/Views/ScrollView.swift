/// Shows a part of views that are higher than the room for them. The part with the focus is shown; keys that nobody has a
/// use for, and the wheel, move it.
public struct ScrollView<Content: View>: PrimitiveView {
    private let content: Content

    /// - Parameter content: the views.
    public init(@ViewBuilder content: () -> Content) { self.content = content() }

    package func makeNode(_ context: ViewContext) -> ScrollNode { ScrollNode(context) }
    package func update(_ node: ScrollNode, _ context: ViewContext) {
        node.setContent(content)
    }
}

package final class ScrollNode: WrapperNode {
    /// The row of the content that is at the top.
    private var offset = 0
    private var contentHeight = 0
    private weak var wanted: ViewNode?

    package override func sizeThatFits(_ proposal: Proposal) -> Size {
        let inner = contentSize(Proposal(width: proposal.width, height: nil))
        return Size(
            width: inner.width, height: min(inner.height, proposal.height ?? inner.height))
    }

    package override func place(in frame: Rect) {
        self.frame = frame
        contentHeight = contentSize(Proposal(width: frame.size.width, height: nil)).height
        placeContent()
        guard let wanted, wanted.isMounted else { return }
        self.wanted = nil
        let rows = wanted.frame.rows
        let moved = rows.upperBound - frame.rows.upperBound
        if moved > 0 { offset += min(moved, rows.lowerBound - frame.rows.lowerBound) }
        if rows.lowerBound < frame.rows.lowerBound {
            offset -= frame.rows.lowerBound - rows.lowerBound
        }
        placeContent()
    }

    private func placeContent() {
        offset = min(max(offset, 0), max(contentHeight - frame.size.height, 0))
        placeContent(
            in: Rect(
                origin: Position(column: frame.origin.column, row: frame.origin.row - offset),
                size: Size(width: frame.size.width, height: max(contentHeight, frame.size.height))))
    }

    package override func draw(into buffer: inout CellBuffer, clip: Rect) {
        super.draw(into: &buffer, clip: clip.intersection(frame))
    }

    package override func hit(_ position: Position) -> ViewNode? {
        frame.contains(position) ? super.hit(position) ?? self : nil
    }

    package override func focusArrived(at node: ViewNode) { wanted = node }

    private func scroll(by rows: Int) -> Bool {
        let target = min(max(offset + rows, 0), max(contentHeight - frame.size.height, 0))
        if target == offset { return false }
        offset = target
        graph.needsFrame()
        return true
    }

    package override func handle(_ key: KeyPress) -> Bool {
        guard key.modifiers.isEmpty else { return false }
        switch key.key {
        case .up: return scroll(by: -1)
        case .down: return scroll(by: 1)
        case .pageUp: return scroll(by: -max(frame.size.height - 1, 1))
        case .pageDown: return scroll(by: max(frame.size.height - 1, 1))
        case .home: return scroll(by: -contentHeight)
        case .end: return scroll(by: contentHeight)
        default: return false
        }
    }

    package override func handle(_ event: MouseEvent) -> Bool {
        guard case .scroll(let lines) = event.kind else { return false }
        return scroll(by: lines)
    }
}
