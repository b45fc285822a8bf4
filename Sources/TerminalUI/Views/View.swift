/// A part of the screen, as in SwiftUI: a value that says what is to be seen, made anew whenever that changes.
///
/// Views are made of others in ``body``. The list of those that draw themselves is closed: ``Text``, stacks, ``List``,
/// ``ScrollView``, controls, and modifiers.
@MainActor @preconcurrency
public protocol View {
    /// The type of ``body``: Swift finds it out.
    associatedtype Body: View

    /// What the view consists of.
    @ViewBuilder var body: Body { get }

    /// Makes the node that keeps the view, or gives an old one the new view. Only this package implements it.
    func _reconcile(_ old: ViewNode?, _ context: ViewContext) -> ViewNode
}

extension View {
    public func _reconcile(_ old: ViewNode?, _ context: ViewContext) -> ViewNode {
        if let old = old as? CompositeNode<Self> {
            old.update(self, context)
            return old
        }
        return CompositeNode(self, context)
    }
}

/// A view that draws itself, or arranges others.
@MainActor
package protocol PrimitiveView: View where Body == Never {
    associatedtype Node: ViewNode
    func makeNode(_ context: ViewContext) -> Node
    /// Gives the node the view; also right after it was made.
    func update(_ node: Node, _ context: ViewContext)
}

extension PrimitiveView {
    public var body: Never { preconditionFailure("\(Self.self) has no body.") }

    public func _reconcile(_ old: ViewNode?, _ context: ViewContext) -> ViewNode {
        let node: Node
        if let old = old as? Node {
            node = old
            node.environment = context.environment
        } else {
            node = makeNode(context)
        }
        update(node, context)
        return node
    }
}

extension Never: View {
    public var body: Never { preconditionFailure("Never has no body.") }
}

/// Where a view is placed: below which node, and what it inherits.
@MainActor
public struct ViewContext {
    package let graph: ViewGraph
    package var environment: EnvironmentValues
    package weak var parent: ViewNode?
    /// Whether rows are made when they are asked for.
    package var isLazy = false

    package init(graph: ViewGraph, environment: EnvironmentValues, parent: ViewNode?) {
        self.graph = graph
        self.environment = environment
        self.parent = parent
    }
}

/// Collects the views between braces.
@resultBuilder @MainActor
public enum ViewBuilder {
    /// No view.
    public static func buildBlock() -> EmptyView { EmptyView() }

    /// One view.
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }

    /// Several views.
    public static func buildBlock<each Content: View>(
        _ content: repeat each Content
    ) -> TupleView<repeat each Content> {
        TupleView(repeat each content)
    }

    /// An `if` without `else`.
    public static func buildIf<Content: View>(_ content: Content?) -> OptionalView<Content> {
        OptionalView(content: content)
    }

    /// The first branch of an `if` or a `switch`.
    public static func buildEither<First: View, Second: View>(
        first: First
    ) -> ConditionalView<First, Second> {
        .first(first)
    }

    /// The other branch.
    public static func buildEither<First: View, Second: View>(
        second: Second
    ) -> ConditionalView<First, Second> {
        .second(second)
    }
}
