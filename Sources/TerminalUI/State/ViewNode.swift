/// What remains of a view from one frame to the next: its state, its place, its children.
///
/// A node that arranges or draws is a layout node. Others, such as those of programs' own views and groups, stand for
/// the layout nodes below them.
@MainActor
public class ViewNode {
    package let graph: ViewGraph
    package weak var parent: ViewNode?
    package var environment: EnvironmentValues
    /// Those that exist, in the order of the views.
    package var children: [ViewNode] = []
    /// Where it is on the screen, as it was placed last.
    package var frame = Rect.zero
    /// False once it has been taken out.
    package private(set) var isMounted = true
    private var measured: [Proposal: Size] = [:]

    package let isLazy: Bool

    package init(_ context: ViewContext) {
        isLazy = context.isLazy
        graph = context.graph
        parent = context.parent
        environment = context.environment
    }

    /// What is below it.
    package var context: ViewContext {
        var context = ViewContext(graph: graph, environment: environment, parent: self)
        context.isLazy = isLazy && isTransparent
        return context
    }

    /// Whether it has no place of its own.
    package var isTransparent: Bool { false }

    // MARK: Life

    /// The node and all below it are taken out. Their tasks end.
    package func unmount() {
        guard isMounted else { return }
        isMounted = false
        for child in children { child.unmount() }
        graph.forget(self)
    }

    /// Puts a view in the place of a child; the old child is taken out if it is another node.
    package func reconciled(
        _ old: ViewNode?, _ make: (_ old: ViewNode?, _ context: ViewContext) -> ViewNode
    ) -> ViewNode {
        let node = make(old, context)
        if let old, old !== node { old.unmount() }
        if old !== node { invalidateLayout() }
        return node
    }

    /// Gives it a single view below it.
    package final func setContent(_ content: some View) {
        children = [reconciled(children.first) { content._reconcile($0, $1) }]
    }

    // MARK: Evaluating

    /// Evaluates what has changed in it; see ``ViewGraph/invalidate(_:)``.
    package func evaluate() {}

    /// Has the properties of its view work with what it keeps.
    package func connect() {}

    /// Has the views that it is of do so, before it does what they have written: one value may be a view at several
    /// places, and its properties work for the place that was connected last.
    package final func connectViews() {
        var node: ViewNode? = self
        while let current = node {
            current.connect()
            node = current.parent
        }
    }

    /// How many nodes are above it.
    package var depth: Int {
        var depth = 0
        var above = parent
        while let node = above {
            depth += 1
            above = node.parent
        }
        return depth
    }

    // MARK: Layout

    /// The nodes that are laid out for it: itself, or those below a node that has no place of its own.
    package final var layoutNodes: [ViewNode] {
        var nodes: [ViewNode] = []
        func collect(_ node: ViewNode) {
            guard node.isTransparent else { return nodes.append(node) }
            for child in node.children { collect(child) }
        }
        collect(self)
        return nodes
    }

    /// Its size if it is offered so much room.
    package func sizeThatFits(_ proposal: Proposal) -> Size { .zero }

    /// The same, and remembered until something below it changes: each level of stacks asks several times.
    package final func size(for proposal: Proposal) -> Size {
        if let known = measured[proposal] { return known }
        let size = sizeThatFits(proposal)
        // Each level of stacks adds two questions. A terminal that is resized for ever asks others each time.
        if measured.count >= 128 { measured.removeAll(keepingCapacity: true) }
        measured[proposal] = size
        return size
    }

    /// Its size, or that of something below it, may be another.
    package final func invalidateLayout() {
        var node: ViewNode? = self
        while let current = node {
            current.measured.removeAll(keepingCapacity: true)
            node = current.parent
        }
        graph.needsFrame()
    }

    /// Whether it has a use only for room that nothing else in its stack wants.
    package var isFilling: Bool { false }

    /// Gives it its place, and its children theirs.
    package func place(in frame: Rect) { self.frame = frame }

    // MARK: Drawing and input

    /// Draws it where it was placed, within `clip`.
    package func draw(into buffer: inout CellBuffer, clip: Rect) {
        for node in children { node.draw(into: &buffer, clip: clip) }
    }

    /// Whether it can have the focus, unless it is disabled.
    package var isControl: Bool { false }

    /// Whether the focus may come to it.
    package var isFocusable: Bool { isControl && environment.isEnabled }

    /// Whether the focus may be at it: one that is disabled keeps what it has, so that the next key is for nobody else.
    final var canBeFocused: Bool { isFocusable || isControl && isFocused }

    package final var isFocused: Bool { graph.focus.focused === self }

    /// - Returns: whether it did something with the key; if not, the node above it is asked.
    package func handle(_ key: KeyPress) -> Bool { false }

    /// Text that was pasted.
    package func handle(pasted text: String) -> Bool { false }

    /// A press of the left button, or the wheel, inside its frame.
    package func handle(_ event: MouseEvent) -> Bool { false }

    /// The innermost node that is seen at a position; of several the one that was drawn last.
    package func hit(_ position: Position) -> ViewNode? {
        for child in children.reversed() {
            if let found = child.hit(position) { return found }
        }
        return (children.isEmpty || isControl) && frame.contains(position) ? self : nil
    }

    /// Those of its children in which there may be focusable nodes, in the order of Tab.
    package var focusChildren: [ViewNode] { children }

    /// The focus has come to it, or to a node below it.
    package func focusArrived(at node: ViewNode) {}

    /// The position of the cursor, if it wants one.
    package var cursor: Position? { nil }

    /// When it looks different though nothing has changed; nil: never.
    package var animation: Duration? { nil }
}

/// The node of a program's own view.
package final class CompositeNode<Content: View>: ViewNode {
    private var view: Content {
        didSet { properties = Self.properties(of: view) }
    }
    private var properties: [any ViewProperty]
    private var storages: [AnyObject?]

    package init(_ view: Content, _ context: ViewContext) {
        self.view = view
        properties = Self.properties(of: view)
        storages = properties.map { _ in nil }
        super.init(context)
        evaluate()
    }

    private static func properties(of view: Content) -> [any ViewProperty] {
        Mirror(reflecting: view).children.compactMap { $0.value as? any ViewProperty }
    }

    package func update(_ view: Content, _ context: ViewContext) {
        // What it shows depends on the view, what it inherits, and its state, which asks for itself.
        if context.environment === environment, isSame(self.view, view) { return }
        self.view = view
        environment = context.environment
        evaluate()
    }

    package override func connect() {
        for (index, property) in zip(storages.indices, properties) {
            storages[index] = property.attach(to: self, storages[index])
        }
    }

    package override func evaluate() {
        graph.evaluated(self)
        connect()
        let body = view.body
        children = [reconciled(children.first) { body._reconcile($0, $1) }]
    }

    package override func unmount() {
        guard isMounted else { return }
        for case let storage as any ViewStorage in storages { storage.end() }
        super.unmount()
    }

    package override var isTransparent: Bool { true }
}
