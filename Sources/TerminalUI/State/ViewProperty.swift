/// A property of a view that is more than a value: it keeps something from one view to the next, or reads what is above.
@MainActor
package protocol ViewProperty {
    /// Connects it with its node.
    /// - Parameter storage: what it returned for the view before; nil for the first one.
    /// - Returns: what it wants to have again; nil if nothing.
    func attach(to node: ViewNode, _ storage: AnyObject?) -> AnyObject?

    /// Whether a view with another property of this type shows the same, as far as it depends on this.
    func isSame(as other: any ViewProperty) -> Bool
}

/// What a property keeps, if it has to know when the view is gone.
@MainActor
package protocol ViewStorage: AnyObject {
    func end()
}

/// A value that belongs to a view. When it is set, the view is evaluated again.
@propertyWrapper @MainActor
public struct State<Value>: ViewProperty {
    private final class Box {
        let initial: Value
        var storage: Storage?
        init(_ initial: Value) { self.initial = initial }
    }

    @MainActor
    private final class Storage {
        var value: Value
        weak var node: ViewNode?

        init(_ value: Value, _ node: ViewNode) {
            self.value = value
            self.node = node
        }

        func set(_ value: Value) {
            let isSame = TerminalUI.isSame(self.value, value)
            self.value = value
            if !isSame, let node { node.graph.invalidate(node) }
        }
    }

    private let box: Box

    /// - Parameter wrappedValue: the value when the view comes.
    public init(wrappedValue: Value) { box = Box(wrappedValue) }

    /// The value as it is now.
    public var wrappedValue: Value {
        get { box.storage?.value ?? box.initial }
        nonmutating set { box.storage?.set(newValue) }
    }

    /// Reads and sets the value from another view.
    public var projectedValue: Binding<Value> {
        let (storage, initial) = (box.storage, box.initial)
        return Binding(
            get: { storage?.value ?? initial }, set: { storage?.set($0) }, source: storage ?? box)
    }

    package func attach(to node: ViewNode, _ storage: AnyObject?) -> AnyObject? {
        let storage = storage as? Storage ?? Storage(box.initial, node)
        box.storage = storage
        return storage
    }

    package func isSame(as other: any ViewProperty) -> Bool { other is State<Value> }
}

/// A value that belongs to somebody else, to read and set.
@propertyWrapper @MainActor
public struct Binding<Value>: ViewProperty {
    private let get: @MainActor () -> Value
    private let set: @MainActor (Value) -> Void
    private let source: AnyObject?
    /// The value when it was made: a view with a binding to another value is another view.
    private let seen: Value

    /// - Parameters:
    ///   - get: reads the value.
    ///   - set: sets it.
    public init(get: @escaping @MainActor () -> Value, set: @escaping @MainActor (Value) -> Void) {
        self.init(get: get, set: set, source: nil)
    }

    init(
        get: @escaping @MainActor () -> Value, set: @escaping @MainActor (Value) -> Void,
        source: AnyObject?
    ) {
        self.get = get
        self.set = set
        self.source = source
        seen = get()
    }

    /// The value as it is now.
    public var wrappedValue: Value {
        get { get() }
        nonmutating set { set(newValue) }
    }

    /// Itself, to hand on.
    public var projectedValue: Binding<Value> { self }

    /// A value that never changes, for previews.
    public static func constant(_ value: Value) -> Binding<Value> {
        Binding(get: { value }, set: { _ in })
    }

    package func attach(to node: ViewNode, _ storage: AnyObject?) -> AnyObject? { nil }

    package func isSame(as other: any ViewProperty) -> Bool {
        guard let other = other as? Binding<Value>, let source else { return false }
        return source === other.source && TerminalUI.isSame(seen, other.seen)
    }
}

/// Whether two values are known to be the same; closures never are. What is large or deep, and not Equatable, is not
/// looked at.
@MainActor
package func isSame(_ one: Any, _ other: Any) -> Bool { isSame(one, other, depth: 0) }

@MainActor
private func isSame(_ one: Any, _ other: Any, depth: Int) -> Bool {
    guard depth < 16 else { return false }
    if let one = one as? any ViewProperty, let other = other as? any ViewProperty {
        return one.isSame(as: other)
    }
    if let one = one as? any Equatable { return isEqual(one, other) }
    let (first, second) = (Mirror(reflecting: one), Mirror(reflecting: other))
    guard first.subjectType == second.subjectType else { return false }
    switch first.displayStyle {
    case .class: return one as AnyObject === other as AnyObject
    case .struct, .tuple, .optional, .enum, .collection:
        let count = first.children.count
        guard count == second.children.count, count <= 64 else { return false }
        // An enum's case without a value has no children, and its name is nowhere else.
        if first.displayStyle == .enum, first.children.isEmpty {
            return String(describing: one) == String(describing: other)
        }
        return zip(first.children, second.children).allSatisfy {
            $0.label == $1.label && isSame($0.value, $1.value, depth: depth + 1)
        }
    default: return false
    }
}

private func isEqual<T: Equatable>(_ one: T, _ other: Any) -> Bool { other as? T == one }
