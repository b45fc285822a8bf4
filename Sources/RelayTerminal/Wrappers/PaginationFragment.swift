public import Relay
package import TerminalUI

/// A fragment with a `@connection` in a view, as ``RefetchableFragment``: its list can be paged.
///
///     @PaginationFragment<TodoList_user> var user
///     …
///     if let user, user.hasNext { Button("More") { user.loadNext(20) } }
@propertyWrapper @MainActor
public struct PaginationFragment<F: Relay.PaginationFragment>: ViewProperty {
    private final class Box {
        var storage: PaginationStorage<F>?
    }

    private let box = Box()
    private let pointer: FragmentPointer?

    /// A view without data.
    public init() { pointer = nil }

    /// - Parameter key: the data in which the fragment is spread.
    public init(_ key: F.Key) { self.init(F(key: key)) }

    /// - Parameter fragment: the fragment, as `asFragment()` gives it.
    public init(_ fragment: F) { pointer = fragment.fragmentPointer }

    /// The data of the fragment, with what can be done with its list.
    @dynamicMemberLookup @MainActor
    public struct Wrapper {
        /// The data of the fragment.
        public let data: F.Data
        fileprivate let storage: PaginationStorage<F>

        /// A field of the data.
        public subscript<Value>(dynamicMember path: KeyPath<F.Data, Value>) -> Value {
            data[keyPath: path]
        }

        /// Whether the server has more after the list's end, as far as is known.
        public var hasNext: Bool { storage.pages?.hasNext ?? false }
        /// Whether the server has more before the list's start, as far as is known.
        public var hasPrevious: Bool { storage.pages?.hasPrevious ?? false }
        /// Whether a page after the end is being fetched.
        public var isLoadingNext: Bool { storage.isLoading(.next) }
        /// Whether a page before the start is being fetched.
        public var isLoadingPrevious: Bool { storage.isLoading(.previous) }

        /// Fetches the page after the list's end. No effect if there is none, or while one is being fetched.
        /// - Parameters:
        ///   - count: the maximum number of rows.
        ///   - completion: told why it failed, or nil; at the end of the view, or if the list is refetched meanwhile, a
        ///     `CancellationError`.
        public func loadNext(
            _ count: Int, completion: (@MainActor ((any Error)?) -> Void)? = nil
        ) {
            storage.load(.next, count, completion)
        }

        /// Fetches the page before the list's start; otherwise as ``loadNext(_:completion:)``.
        public func loadPrevious(
            _ count: Int, completion: (@MainActor ((any Error)?) -> Void)? = nil
        ) {
            storage.load(.previous, count, completion)
        }

        /// Fetches the list from its start again. Until there is an answer, the view shows what it has.
        /// - Parameter variables: those that differ, a filter for example. The view shows the list with them from then
        ///   on, until it is given another one.
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
        let storage = storage as? PaginationStorage<F> ?? PaginationStorage(node)
        storage.show(pointer, in: node.environment.relayEnvironment)
        box.storage = storage
        return storage
    }

    package func isSame(as other: any ViewProperty) -> Bool {
        (other as? PaginationFragment<F>)?.pointer == pointer
    }
}

/// What a view keeps of a list that is paged.
@MainActor
final class PaginationStorage<F: Relay.PaginationFragment>: RefetchStorage<F> {
    enum Direction {
        case next
        case previous
    }

    private(set) var pages: PaginationResource<PointedFragment<F>>?
    /// The pages that are being fetched.
    private var loading: [Direction: Work] = [:]

    func isLoading(_ direction: Direction) -> Bool { loading[direction] != nil }

    override func placeChanged() {
        // They are of the list that was here.
        for page in loading.values { page.cancel() }
        loading = [:]
        pages = pointer.flatMap { pointer in
            environment.map {
                PaginationResource(PointedFragment(key: pointer), environment: $0)
            }
        }
    }

    override var firstVariables: VariableData {
        var first = VariableData()
        let connection = F.metadata.connection
        for config in [connection?.forward, connection?.backward] {
            if let config { first[config.cursor] = .null }
        }
        return first
    }

    func load(
        _ direction: Direction, _ count: Int, _ completion: (@MainActor ((any Error)?) -> Void)?
    ) {
        let hasMore = direction == .next ? pages?.hasNext : pages?.hasPrevious
        guard let pages, hasMore ?? false, !isLoading(direction) else {
            completion?(nil)
            return
        }
        let page = begin {
            switch direction {
            case .next: try await pages.loadNext(count)
            case .previous: try await pages.loadPrevious(count)
            }
        }
        setLoading(direction, page)
        Task {
            let failure = await page.value
            if loading[direction] == page { setLoading(direction, nil) }
            completion?(failure)
        }
    }

    private func setLoading(_ direction: Direction, _ page: Work?) {
        loading[direction] = page
        if let node { node.graph.invalidate(node) }
    }
}
