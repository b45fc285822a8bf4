/// Where views of a column lie in its width.
public enum HorizontalAlignment: Hashable, Sendable {
    /// At the left.
    case leading
    /// In the middle.
    case center
    /// At the right.
    case trailing

    var alignment: Alignment {
        switch self {
        case .leading: .topLeading
        case .center: .top
        case .trailing: .topTrailing
        }
    }
}

/// Where views of a row lie in its height.
public enum VerticalAlignment: Hashable, Sendable {
    /// At the top.
    case top
    /// In the middle.
    case center
    /// At the bottom.
    case bottom

    var alignment: Alignment {
        switch self {
        case .top: .topLeading
        case .center: .leading
        case .bottom: .bottomLeading
        }
    }
}

/// Views side by side.
public struct HStack<Content: View>: PrimitiveView {
    private let layout: StackLayout
    private let content: Content

    /// - Parameters:
    ///   - alignment: where they lie in the height.
    ///   - spacing: the columns between two of them.
    ///   - content: the views.
    public init(
        alignment: VerticalAlignment = .center, spacing: Int = 1,
        @ViewBuilder content: () -> Content
    ) {
        layout = StackLayout(
            isHorizontal: true, alignment: alignment.alignment, spacing: spacing)
        self.content = content()
    }

    package func makeNode(_ context: ViewContext) -> StackNode { StackNode(context) }
    package func update(_ node: StackNode, _ context: ViewContext) { node.update(layout, content) }
}

/// Views below each other.
public struct VStack<Content: View>: PrimitiveView {
    private let layout: StackLayout
    private let content: Content

    /// - Parameters:
    ///   - alignment: where they lie in the width.
    ///   - spacing: the rows between two of them.
    ///   - content: the views.
    public init(
        alignment: HorizontalAlignment = .leading, spacing: Int = 0,
        @ViewBuilder content: () -> Content
    ) {
        layout = StackLayout(
            isHorizontal: false, alignment: alignment.alignment, spacing: spacing)
        self.content = content()
    }

    package func makeNode(_ context: ViewContext) -> StackNode { StackNode(context) }
    package func update(_ node: StackNode, _ context: ViewContext) { node.update(layout, content) }
}

package final class StackNode: ViewNode {
    private(set) var layout = StackLayout.vertical {
        didSet { if layout != oldValue { invalidateLayout() } }
    }

    func update(_ layout: StackLayout, _ content: some View) {
        self.layout = layout
        setContent(content)
    }

    /// The layout nodes of what is inside.
    private var content: [ViewNode] { children.flatMap(\.layoutNodes) }

    package override func sizeThatFits(_ proposal: Proposal) -> Size {
        layout.size(of: content, proposal)
    }

    package override func place(in frame: Rect) {
        super.place(in: frame)
        layout.place(content, in: frame)
    }
}

/// Views on top of each other: the last one is in front. Keys go to the one in front that can have them, so that a dialog
/// keeps the focus.
public struct ZStack<Content: View>: PrimitiveView {
    private let alignment: Alignment
    private let content: Content

    /// - Parameters:
    ///   - alignment: where those lie that are smaller than the largest.
    ///   - content: the views.
    public init(alignment: Alignment = .center, @ViewBuilder content: () -> Content) {
        self.alignment = alignment
        self.content = content()
    }

    package func makeNode(_ context: ViewContext) -> LayersNode { LayersNode(context) }

    package func update(_ node: LayersNode, _ context: ViewContext) {
        node.update(alignment, content)
    }
}

package final class LayersNode: ViewNode {
    private var alignment = Alignment.center

    func update(_ alignment: Alignment, _ content: some View) {
        self.alignment = alignment
        setContent(content)
    }

    private var layers: [ViewNode] { children.flatMap(\.layoutNodes) }

    package override func sizeThatFits(_ proposal: Proposal) -> Size {
        layers.map { $0.size(for: proposal) }.reduce(.zero) {
            Size(width: max($0.width, $1.width), height: max($0.height, $1.height))
        }
    }

    package override func place(in frame: Rect) {
        super.place(in: frame)
        for layer in layers {
            layer.place(in: alignment.place(layer.size(for: Proposal(frame.size)), in: frame))
        }
    }

    package override func draw(into buffer: inout CellBuffer, clip: Rect) {
        for (index, layer) in layers.enumerated() {
            // What is in front hides what is behind it, also where it is blank.
            if index > 0 { buffer.fill(layer.frame.intersection(clip)) }
            layer.draw(into: &buffer, clip: clip)
        }
    }

    /// What is in front hides what is behind it from the mouse, too.
    package override func hit(_ position: Position) -> ViewNode? {
        guard let front = layers.last(where: { $0.frame.contains(position) }) else { return nil }
        return front.hit(position) ?? front
    }

    package override var focusChildren: [ViewNode] {
        layers.last { $0.hasFocusable }.map { [$0] } ?? []
    }
}

extension ViewNode {
    /// Whether a node in it can have the focus.
    var hasFocusable: Bool { canBeFocused || focusChildren.contains(where: \.hasFocusable) }
}

/// Room that is left, between views of a stack.
public struct Spacer: PrimitiveView {
    private let minLength: Int

    /// - Parameter minLength: how many cells it takes at least.
    public init(minLength: Int = 0) { self.minLength = minLength }

    package func makeNode(_ context: ViewContext) -> SpacerNode { SpacerNode(context) }
    package func update(_ node: SpacerNode, _ context: ViewContext) { node.minLength = minLength }
}

package final class SpacerNode: ViewNode {
    var minLength = 0 {
        didSet { if minLength != oldValue { invalidateLayout() } }
    }

    package override var isFilling: Bool { true }

    package override func sizeThatFits(_ proposal: Proposal) -> Size {
        // It takes room in the direction of its stack only.
        let isHorizontal = isInRow
        let room = isHorizontal ? proposal.width : proposal.height
        let length = max(room ?? minLength, minLength)
        return isHorizontal ? Size(width: length, height: 0) : Size(width: 0, height: length)
    }
}

extension ViewNode {
    /// Whether the innermost stack around it is a row.
    fileprivate var isInRow: Bool {
        var node = parent
        while let current = node {
            if let stack = current as? StackNode { return stack.layout.isHorizontal }
            node = current.parent
        }
        return false
    }
}

/// A line between views of a stack.
public struct Divider: PrimitiveView {
    /// As long as the stack is wide or high.
    public init() {}

    package func makeNode(_ context: ViewContext) -> DividerNode { DividerNode(context) }
    package func update(_ node: DividerNode, _ context: ViewContext) {}
}

package final class DividerNode: ViewNode {
    package override func sizeThatFits(_ proposal: Proposal) -> Size {
        isInRow
            ? Size(width: 1, height: proposal.height ?? 1)
            : Size(width: proposal.width ?? 1, height: 1)
    }

    package override func draw(into buffer: inout CellBuffer, clip: Rect) {
        var style = environment.style
        style.attributes.insert(.dim)
        let line = Glyph(code: isInRow ? 0x2502 : 0x2500)
        buffer.fill(frame.intersection(clip), with: line, style: style)
    }
}
