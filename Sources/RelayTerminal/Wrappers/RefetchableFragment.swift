public import Relay
package import TerminalUI

/// A fragment with `@refetchable` in a view, as ``Fragment``: it can be fetched again, also with other variables.
///
///     @RefetchableFragment<Profile_user> var user
///     …
///     Button("More") { Task { await user?.refetch(["photoSize": 200]) } }
@propertyWrapper @MainActor
public struct RefetchableFragment<F: RefetchFragment>: ViewProperty {
    private final class Box {
        var storage: RefetchStorage<F>?
    }

    private let box = Box()
    private let pointer: FragmentPointer?

    /// A view without data.
    public init() { pointer = nil }

    /// - Parameter key: the data in which the fragment is spread.
    public init(_ key: F.Key) { self.init(F(key: key)) }

    /// - Parameter fragment: the fragment, as `asFragment()` gives it.
    public init(_ fragment: F) { pointer = fragment.fragmentPointer }

    /// The data of the fragment, with what can be done with it.
    @dynamicMemberLookup @MainActor
    public struct Wrapper {
        /// The data of the fragment.
        public let data: F.Data
        fileprivate let storage: RefetchStorage<F>

        /// A field of the data.
        public subscript<Value>(dynamicMember path: KeyPath<F.Data, Value>) -> Value {
            data[keyPath: path]
        }

        /// Fetches the fragment again. Until there is an answer, the view shows what it has.
        /// - Parameter variables: those that differ from the ones that the fragment was fetched with. The view shows the
        ///   fragment with them from then on, until it is given another one.
        /// - Returns: why it failed; nil: it did not. A later call cancels it: a `CancellationError`.
        @discardableResult
        public func refetch(_ variables: VariableData = [:]) async -> (any Error)? {
            await storage.refetch(variables)
        }
    }

    /// nil if there is no data; see ``Fragment/wrappedValue``.
    public var wrappedValue: Wrapper? {
        guard let storage = box.storage, let data = storage.data else { return nil }
        return Wrapper(data: data, storage: storage)
    }

    package func attach(to node: ViewNode, _ storage: AnyObject?) -> AnyObject? {
        let storage = storage as? RefetchStorage<F> ?? RefetchStorage(node)
        storage.show(pointer, in: node.environment.relayEnvironment)
        box.storage = storage
        return storage
    }

    package func isSame(as other: any ViewProperty) -> Bool {
        (other as? RefetchableFragment<F>)?.pointer == pointer
    }
}
