extension View {
    /// The colour of text in it.
    public func foregroundColor(_ color: Color?) -> some View {
        InheritedChange(content: self, value: color) { values, color in
            values.style.foreground = color ?? .primary
        }
    }

    /// Whether text in it is bold.
    public func bold(_ isActive: Bool = true) -> some View {
        InheritedChange(content: self, value: isActive) { values, isActive in
            if isActive {
                values.style.attributes.insert(.bold)
            } else {
                values.style.attributes.remove(.bold)
            }
        }
    }

    /// Controls in it cannot be used, and are dim. What is disabled around it stays so.
    public func disabled(_ isDisabled: Bool) -> some View {
        InheritedChange(content: self, value: isDisabled) { values, isDisabled in
            values.isEnabled = values.isEnabled && !isDisabled
        }
    }

    /// Hands a value down to the views in it; see ``EnvironmentValue``.
    public func environmentValue<Value>(
        _ path: WritableKeyPath<EnvironmentValues, Value>, _ value: Value
    ) -> some View {
        InheritedChange(content: self, value: value) { values, value in
            values[keyPath: path] = value
        }
    }

    /// Blank cells on all sides of it.
    /// - Parameter length: in cells; sides are twice as wide, since cells are twice as high as wide.
    public func padding(_ length: Int = 1) -> some View {
        Padding(content: self, horizontal: 2 * length, vertical: length)
    }

    /// Blank cells beside and above it.
    /// - Parameters:
    ///   - horizontal: columns at the left and at the right.
    ///   - vertical: rows above and below.
    public func padding(horizontal: Int, vertical: Int) -> some View {
        Padding(content: self, horizontal: horizontal, vertical: vertical)
    }

    /// Gives it a size of its own.
    /// - Parameters:
    ///   - width: in columns; nil: as wide as the view.
    ///   - height: in rows; nil: as high as the view.
    ///   - maxWidth: it takes the room that there is, up to so many columns; `.max`: all of it.
    ///   - maxHeight: the same for rows.
    ///   - alignment: where the view lies in it.
    public func frame(
        width: Int? = nil, height: Int? = nil, maxWidth: Int? = nil, maxHeight: Int? = nil,
        alignment: Alignment = .center
    ) -> some View {
        FrameView(
            content: self,
            limits: .init(
                width: width, height: height, maxWidth: maxWidth, maxHeight: maxHeight,
                alignment: alignment))
    }

    /// Done once, after it can be seen.
    public func onAppear(perform action: @escaping @MainActor () -> Void) -> some View {
        Lifetime(content: self, appeared: action, task: nil)
    }

    /// Has the focus when it comes, for what is in it: for a text field that appears to be written in.
    public func takesFocus() -> some View { FocusWish(content: self) }

    /// Runs while it can be seen: begins after it can, and is cancelled when it is gone.
    public func task(_ action: @escaping @MainActor () async -> Void) -> some View {
        Lifetime(content: self, appeared: nil, task: action)
    }

    /// Done when a key is pressed while the focus is in it, and nothing in it has a use for the key.
    public func onKey(
        _ key: KeyPress, perform action: @escaping @MainActor () -> Void
    ) -> some View {
        KeyHandler(content: self) { pressed in
            guard pressed == key else { return false }
            action()
            return true
        }
    }

    /// The same for all keys. The action returns whether it had a use for the key.
    public func onKey(perform action: @escaping @MainActor (KeyPress) -> Bool) -> some View {
        KeyHandler(content: self, action: action)
    }
}

/// A view around another one.
package class WrapperNode: ViewNode {
    /// Several views in it are below each other.
    final var content: [ViewNode] { children.flatMap(\.layoutNodes) }

    final func contentSize(_ proposal: Proposal) -> Size {
        let content = content
        return content.count == 1
            ? content[0].size(for: proposal) : StackLayout.vertical.size(of: content, proposal)
    }

    final func placeContent(in frame: Rect) {
        let content = content
        if content.count == 1 {
            content[0].place(in: frame)
        } else {
            StackLayout.vertical.place(content, in: frame)
        }
    }

    package override func sizeThatFits(_ proposal: Proposal) -> Size { contentSize(proposal) }

    package override func place(in frame: Rect) {
        super.place(in: frame)
        placeContent(in: frame)
    }
}

/// A modifier that has no place of its own: several views in it stay several.
package class TransparentNode: ViewNode {
    package override var isTransparent: Bool { true }
}

// MARK: What is inherited

private struct InheritedChange<Content: View, Value>: PrimitiveView {
    let content: Content
    let value: Value
    let change: @MainActor (inout EnvironmentValues, Value) -> Void

    func makeNode(_ context: ViewContext) -> InheritedChangeNode { InheritedChangeNode(context) }

    func update(_ node: InheritedChangeNode, _ context: ViewContext) {
        node.update(content, value, context.environment, change)
    }
}

private final class InheritedChangeNode: TransparentNode {
    /// What was changed last, and into what: as long as both stay, what is below inherits the same.
    private var last: (from: EnvironmentValues, value: Any, into: EnvironmentValues)?

    func update<Value>(
        _ content: some View, _ value: Value, _ inherited: EnvironmentValues,
        _ change: (inout EnvironmentValues, Value) -> Void
    ) {
        if let last, last.from === inherited, isSame(last.value, value) {
            environment = last.into
        } else {
            var values = inherited
            change(&values, value)
            last = (inherited, value, values)
            environment = values
        }
        setContent(content)
    }
}

// MARK: Size

private struct Padding<Content: View>: PrimitiveView {
    let content: Content
    let horizontal: Int
    let vertical: Int

    func makeNode(_ context: ViewContext) -> PaddingNode { PaddingNode(context) }

    func update(_ node: PaddingNode, _ context: ViewContext) {
        node.sides = (max(horizontal, 0), max(vertical, 0))
        node.setContent(content)
    }
}

private final class PaddingNode: WrapperNode {
    var sides = (horizontal: 0, vertical: 0) {
        didSet { if sides != oldValue { invalidateLayout() } }
    }

    private var horizontal: Int { sides.horizontal }
    private var vertical: Int { sides.vertical }

    override func sizeThatFits(_ proposal: Proposal) -> Size {
        let inner = contentSize(
            Proposal(
                width: proposal.width.map { max($0 - 2 * horizontal, 0) },
                height: proposal.height.map { max($0 - 2 * vertical, 0) }))
        return Size(width: inner.width + 2 * horizontal, height: inner.height + 2 * vertical)
    }

    override func place(in frame: Rect) {
        self.frame = frame
        placeContent(
            in: Rect(
                origin: Position(
                    column: frame.origin.column + horizontal, row: frame.origin.row + vertical),
                size: Size(
                    width: max(frame.size.width - 2 * horizontal, 0),
                    height: max(frame.size.height - 2 * vertical, 0))))
    }
}

private struct FrameView<Content: View>: PrimitiveView {
    let content: Content
    let limits: FrameNode.Limits

    func makeNode(_ context: ViewContext) -> FrameNode { FrameNode(context) }

    func update(_ node: FrameNode, _ context: ViewContext) {
        node.limits = limits
        node.setContent(content)
    }
}

private final class FrameNode: WrapperNode {
    struct Limits: Equatable {
        var width: Int?
        var height: Int?
        var maxWidth: Int?
        var maxHeight: Int?
        var alignment = Alignment.center
    }

    var limits = Limits() {
        didSet { if limits != oldValue { invalidateLayout() } }
    }

    override func sizeThatFits(_ proposal: Proposal) -> Size {
        func room(_ own: Int?, _ most: Int?, _ offered: Int?) -> Int? {
            if let own { return max(own, 0) }
            if let most, let offered { return max(min(most, offered), 0) }
            return offered
        }
        let offer = Proposal(
            width: room(limits.width, limits.maxWidth, proposal.width),
            height: room(limits.height, limits.maxHeight, proposal.height))
        let inner = contentSize(offer)
        return Size(
            width: limits.width ?? (limits.maxWidth == nil ? inner.width : offer.width)
                ?? inner.width,
            height: limits.height ?? (limits.maxHeight == nil ? inner.height : offer.height)
                ?? inner.height)
    }

    override func place(in frame: Rect) {
        self.frame = frame
        let inner = contentSize(Proposal(frame.size))
        placeContent(in: limits.alignment.place(inner, in: frame))
    }

    override func draw(into buffer: inout CellBuffer, clip: Rect) {
        super.draw(into: &buffer, clip: clip.intersection(frame))
    }

    override func hit(_ position: Position) -> ViewNode? {
        frame.contains(position) ? super.hit(position) : nil
    }
}

// MARK: Life and keys

private struct Lifetime<Content: View>: PrimitiveView {
    let content: Content
    let appeared: (@MainActor () -> Void)?
    let task: (@MainActor () async -> Void)?

    func makeNode(_ context: ViewContext) -> LifetimeNode { LifetimeNode(context) }

    func update(_ node: LifetimeNode, _ context: ViewContext) {
        node.setContent(content)
        node.begin(appeared, task)
    }
}

private final class LifetimeNode: TransparentNode {
    private var hasBegun = false
    private var task: Task<Void, Never>?

    func begin(
        _ appeared: (@MainActor () -> Void)?, _ task: (@MainActor () async -> Void)?
    ) {
        if hasBegun { return }
        hasBegun = true
        graph.afterFrame { [weak self] in
            guard let self, isMounted else { return }
            connectViews()
            appeared?()
            guard let task else { return }
            self.task = Task { [weak self] in
                self?.connectViews()
                await task()
            }
        }
    }

    override func unmount() {
        task?.cancel()
        super.unmount()
    }
}

private struct FocusWish<Content: View>: PrimitiveView {
    let content: Content

    func makeNode(_ context: ViewContext) -> TransparentNode {
        let node = TransparentNode(context)
        context.graph.focus.want(for: node)
        return node
    }

    func update(_ node: TransparentNode, _ context: ViewContext) { node.setContent(content) }
}

private struct KeyHandler<Content: View>: PrimitiveView {
    let content: Content
    let action: @MainActor (KeyPress) -> Bool

    func makeNode(_ context: ViewContext) -> KeyHandlerNode { KeyHandlerNode(context) }

    func update(_ node: KeyHandlerNode, _ context: ViewContext) {
        node.action = action
        node.setContent(content)
    }
}

private final class KeyHandlerNode: TransparentNode {
    var action: @MainActor (KeyPress) -> Bool = { _ in false }

    override func handle(_ key: KeyPress) -> Bool { action(key) }
}
