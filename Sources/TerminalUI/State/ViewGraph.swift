/// All nodes of a screen: evaluates what has changed, lays out, draws.
///
/// A frame is made when somebody asks for it; ``onNeedsFrame`` says when there is something to see.
@MainActor
package final class ViewGraph {
    private var root: ViewNode?
    private var dirty: [ObjectIdentifier: ViewNode] = [:]
    /// What has come in this frame, and is told so once it can be seen.
    private var arrivals: [@MainActor () -> Void] = []
    private let graphemes = GraphemeTable()
    package private(set) var isFrameNeeded = true
    package private(set) lazy var focus = Focus(self)
    /// The nodes that look different though nothing has changed; see ``ViewNode/animation``.
    private var animated: [ObjectIdentifier: ViewNode] = [:]
    /// Called once, when the next frame would be another. It may be called while nodes are evaluated.
    package var onNeedsFrame: () -> Void = {}
    /// How often the bodies of programs' views were evaluated.
    package private(set) var evaluationCount = 0
    private var isGone = false
    /// What comes from other threads.
    package let mail = ViewMail()
    /// What other rooms keep for all views of the screen; see ``shared(_:_:)``.
    private var shared: [ObjectIdentifier: WeakObject] = [:]

    /// - Parameter root: the view that fills the screen.
    package init(_ root: some View, environment: EnvironmentValues = EnvironmentValues()) {
        let context = ViewContext(graph: self, environment: environment, parent: nil)
        let node = RootNode(context)
        self.root = node
        mail.open { [weak self] in Task { @MainActor in self?.mail.deliver() } }
        node.setContent(root)
    }

    /// Takes everything out. Tasks of views end.
    package func end() {
        isGone = true
        let last = mail.close()
        root?.unmount()
        root = nil
        dirty = [:]
        // Views are gone; others wait for what has come.
        for source in last { source.receive() }
    }

    // MARK: Changes

    /// The body of a node's view may be another.
    package func invalidate(_ node: ViewNode) {
        guard node.isMounted else { return }
        dirty[ObjectIdentifier(node)] = node
        needsFrame()
    }

    /// Something looks different; no body does.
    package func needsFrame() {
        guard !isFrameNeeded, !isGone else { return }
        isFrameNeeded = true
        onNeedsFrame()
    }

    package func evaluated(_ node: ViewNode) {
        evaluationCount += 1
        dirty[ObjectIdentifier(node)] = nil
    }

    package func forget(_ node: ViewNode) {
        dirty[ObjectIdentifier(node)] = nil
        animated[ObjectIdentifier(node)] = nil
        focus.forget(node)
    }

    /// Something is done after the frame that is being made.
    package func afterFrame(_ action: @escaping @MainActor () -> Void) {
        arrivals.append(action)
        needsFrame()
    }

    /// A node has an animation, or has none any more.
    package func setAnimated(_ node: ViewNode, _ isAnimated: Bool) {
        animated[ObjectIdentifier(node)] = isAnimated ? node : nil
    }

    /// When the next frame is due though nothing changes; nil: never.
    package var animation: Duration? { animated.values.compactMap(\.animation).min() }

    /// A step of all animations.
    package func animate() { if !animated.isEmpty { needsFrame() } }

    /// An object that views have in common as long as one of them holds it.
    /// - Parameter owner: what it is for; another of the same type is for another owner. It holds the owner.
    package func shared<Shared: AnyObject>(_ owner: AnyObject, _ make: () -> Shared) -> Shared {
        if let known = shared[ObjectIdentifier(owner)]?.object as? Shared { return known }
        shared = shared.filter { $0.value.object != nil }
        let new = make()
        shared[ObjectIdentifier(owner)] = WeakObject(object: new)
        return new
    }

    private struct WeakObject {
        weak var object: AnyObject?
    }

    // MARK: Frames

    package struct Frame {
        package let buffer: CellBuffer
        /// Where the cursor is; nil: it is hidden.
        package let cursor: Position?
    }

    /// What is to be seen now; nil if nothing has changed since the last frame of this size.
    package func frame(_ size: Size) -> Frame? {
        guard let root else { return nil }
        mail.deliver()
        let isResized = root.frame.size != size
        guard isFrameNeeded || isResized else { return nil }
        // What is asked for from here on is another frame.
        isFrameNeeded = false
        if graphemes.isFull { graphemes.clear() }
        lay(root, out: size)
        isFrameNeeded = !dirty.isEmpty
        var buffer = CellBuffer(size, graphemes)
        root.draw(into: &buffer, clip: buffer.bounds)
        let cursor = focus.focused?.cursor.flatMap { buffer.bounds.contains($0) ? $0 : nil }
        let arrivals = arrivals
        self.arrivals = []
        for action in arrivals { action() }
        if isFrameNeeded { onNeedsFrame() }
        return Frame(buffer: buffer, cursor: cursor)
    }

    /// Brings everything up to date without drawing it: a key is for what is there now.
    package func update(_ size: Size) {
        mail.deliver()
        guard let root, isFrameNeeded || root.frame.size != size else { return }
        lay(root, out: size)
    }

    private func lay(_ root: ViewNode, out size: Size) {
        evaluate()
        if root.frame.size != size { root.invalidateLayout() }
        root.place(in: Rect(size))
        focus.settle(in: root)
        // Where the focus went, a list may have to show other rows.
        if focus.hasMoved { root.place(in: Rect(size)) }
    }

    /// Evaluates what has changed, the upper ones first: they may give those below them other views, or take them out.
    private func evaluate() {
        // A view that sets a state of its own while it is evaluated would never end.
        for _ in 0..<100 where !dirty.isEmpty {
            let nodes = dirty.values.map { ($0.depth, $0) }.sorted { $0.0 < $1.0 }
            for (_, node) in nodes where dirty[ObjectIdentifier(node)] != nil {
                dirty[ObjectIdentifier(node)] = nil
                node.evaluate()
            }
        }
    }

    // MARK: Input

    /// - Returns: whether somebody did something with it.
    @discardableResult
    package func handle(_ event: InputEvent) -> Bool {
        switch event {
        case .key(let key): return focus.handle(key, root)
        case .paste(let text): return focus.handle(pasted: text)
        case .mouse(let event): return handle(event)
        case .focus, .reply: return false
        }
    }

    private func handle(_ event: MouseEvent) -> Bool {
        switch event.kind {
        case .press(button: 0), .scroll: break
        default: return false
        }
        guard let root, var node = root.hit(event.position) else { return false }
        node.connectViews()
        while true {
            if node.isFocusable, case .press = event.kind { focus.move(to: node) }
            if node.handle(event) { return true }
            guard let parent = node.parent else { return false }
            node = parent
        }
    }
}

/// The node above all others: its view fills the screen.
final class RootNode: ViewNode {
    override func sizeThatFits(_ proposal: Proposal) -> Size {
        Size(width: proposal.width ?? 0, height: proposal.height ?? 0)
    }

    override func place(in frame: Rect) {
        super.place(in: frame)
        StackLayout.vertical.placeOne(children.flatMap(\.layoutNodes), in: frame)
    }
}
