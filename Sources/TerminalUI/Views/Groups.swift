/// Nothing.
public struct EmptyView: PrimitiveView {
    /// A view that takes no room.
    public init() {}

    package func makeNode(_ context: ViewContext) -> GroupNode { GroupNode(context) }
    package func update(_ node: GroupNode, _ context: ViewContext) {}
}

/// Several views: what stands between braces.
public struct TupleView<each Content: View>: PrimitiveView {
    private let content: (repeat each Content)

    init(_ content: repeat each Content) { self.content = (repeat each content) }

    package func makeNode(_ context: ViewContext) -> GroupNode { GroupNode(context) }

    package func update(_ node: GroupNode, _ context: ViewContext) {
        var index = 0
        for view in repeat each content {
            node.reconcile(index) { view._reconcile($0, $1) }
            index += 1
        }
    }
}

/// A view that is there under a condition.
public struct OptionalView<Content: View>: PrimitiveView {
    let content: Content?

    package func makeNode(_ context: ViewContext) -> GroupNode { GroupNode(context) }

    package func update(_ node: GroupNode, _ context: ViewContext) {
        if let content {
            node.reconcile(0) { content._reconcile($0, $1) }
        } else {
            node.removeAll()
        }
    }
}

/// One of two views.
public enum ConditionalView<First: View, Second: View>: PrimitiveView {
    /// What is there if the condition is met.
    case first(First)
    /// What is there otherwise.
    case second(Second)

    package func makeNode(_ context: ViewContext) -> GroupNode { GroupNode(context) }

    package func update(_ node: GroupNode, _ context: ViewContext) {
        switch self {
        case .first(let view): node.reconcile(0, branch: 0) { view._reconcile($0, $1) }
        case .second(let view): node.reconcile(0, branch: 1) { view._reconcile($0, $1) }
        }
    }
}

/// Views that belong together; they are laid out as if the group were not there.
public struct Group<Content: View>: PrimitiveView {
    private let content: Content

    /// - Parameter content: the views.
    public init(@ViewBuilder content: () -> Content) { self.content = content() }

    package func makeNode(_ context: ViewContext) -> GroupNode { GroupNode(context) }

    package func update(_ node: GroupNode, _ context: ViewContext) {
        node.reconcile(0) { content._reconcile($0, $1) }
    }
}

/// The node of views that have no place of their own.
package final class GroupNode: ViewNode {
    private var branch = 0

    /// - Parameter branch: which of several views is at the place: another one has a state of its own, also if it is of
    ///   the same type.
    func reconcile(
        _ index: Int, branch: Int = 0, _ make: (ViewNode?, ViewContext) -> ViewNode
    ) {
        let old = index < children.count ? children[index] : nil
        if branch != self.branch, let old {
            self.branch = branch
            old.unmount()
            children[index] = reconciled(nil, make)
            return
        }
        self.branch = branch
        let node = reconciled(old, make)
        if index < children.count { children[index] = node } else { children.append(node) }
    }

    func removeAll() {
        if children.isEmpty { return }
        for child in children { child.unmount() }
        children = []
        invalidateLayout()
    }

    package override var isTransparent: Bool { true }
}
