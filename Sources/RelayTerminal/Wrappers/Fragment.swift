public import Relay
package import TerminalUI

/// The data of a fragment in a view. The view is evaluated again when a field that the fragment selects has changed,
/// and at no other time.
///
///     struct ToDoItem: View {
///         @Fragment<ToDoItem_item> var item
///         var body: some View { if let item { Text(item.text) } }
///     }
///     …
///     ToDoItem(item: .init(todo))
@propertyWrapper @MainActor
public struct Fragment<F: Relay.Fragment>: ViewProperty {
    private final class Box {
        var storage: FragmentStorage<F.Data>?
    }

    private let box = Box()
    private let pointer: FragmentPointer?

    /// A view without data.
    public init() { pointer = nil }

    /// - Parameter key: the data in which the fragment is spread.
    public init(_ key: F.Key) { self.init(F(key: key)) }

    /// - Parameter fragment: the fragment, as `asFragment()` gives it.
    public init(_ fragment: F) { pointer = fragment.fragmentPointer }

    /// nil if the record does not exist, or lacks what the data's type requires.
    public var wrappedValue: F.Data? { box.storage?.snapshot?.data }

    /// The same with why there is no data, and the errors of fields.
    public var projectedValue: Snapshot<F.Data>? { box.storage?.snapshot }

    package func attach(to node: ViewNode, _ storage: AnyObject?) -> AnyObject? {
        let storage = storage as? FragmentStorage<F.Data> ?? FragmentStorage(node)
        let selector = pointer.map { SingularReaderSelector(fragment: F.node, pointer: $0) }
        storage.show(selector, in: node.environment.relayEnvironment)
        box.storage = storage
        return storage
    }

    package func isSame(as other: any ViewProperty) -> Bool {
        (other as? Fragment<F>)?.pointer == pointer
    }
}

/// What a view keeps of a fragment.
@MainActor
final class FragmentStorage<Data: ReadableRecord>: ViewStorage {
    private weak var node: ViewNode?
    private var environment: Environment?
    private var selector: SingularReaderSelector?
    private var follower: RecordFollower<Data>?

    init(_ node: ViewNode) { self.node = node }

    var snapshot: Snapshot<Data>? { follower?.snapshot }

    /// Follows what a selector reads, from here on.
    func show(_ selector: SingularReaderSelector?, in environment: Environment?) {
        if selector == self.selector, environment === self.environment { return }
        self.selector = selector
        self.environment = environment
        let old = follower
        follower = nil
        if let selector, let environment, let node {
            follower = RecordFollower(selector, in: environment, node.graph) { [weak node] in
                if let node { node.graph.invalidate(node) }
            }
        }
        // After the new one has begun: what only views have read is not collected in between.
        old?.end()
    }

    func end() {
        follower?.end()
        follower = nil
    }
}
