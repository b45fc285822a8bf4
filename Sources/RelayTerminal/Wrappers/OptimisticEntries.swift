public import Relay
package import TerminalUI

/// The changes that the server has not confirmed, in a view: mutations without an answer, whichever view has begun them,
/// and those that an earlier run of the program has left. The view is evaluated again when they are others.
///
///     @OptimisticEntries var entries
///     …
///     let isWaiting = entries.contains { $0.records.contains(DataID(todo.id)) }
@propertyWrapper @MainActor
public struct OptimisticEntries: ViewProperty {
    private final class Box {
        var storage: OptimisticEntryStorage?
    }

    private let box = Box()

    /// Those of the view's environment.
    public init() {}

    /// Oldest first; none where there is no environment.
    public var wrappedValue: [OptimisticEntry] { box.storage?.entries ?? [] }

    package func attach(to node: ViewNode, _ storage: AnyObject?) -> AnyObject? {
        let storage = storage as? OptimisticEntryStorage ?? OptimisticEntryStorage(node)
        storage.follow(node.environment.relayEnvironment)
        box.storage = storage
        return storage
    }

    package func isSame(as other: any ViewProperty) -> Bool { other is OptimisticEntries }
}

/// What a view keeps of the entries that it shows.
@MainActor
final class OptimisticEntryStorage: ViewStorage {
    private weak var node: ViewNode?
    private var environment: Environment?
    private var watch: StoreWatch?
    private(set) var entries: [OptimisticEntry] = []

    init(_ node: ViewNode) { self.node = node }

    func follow(_ environment: Environment?) {
        guard environment !== self.environment, let node else { return }
        end()
        self.environment = environment
        guard let environment else { return }
        let watch = StoreWatch.of(environment.store, in: node.graph)
        self.watch = watch
        // Before they are read, so that it hears of all that comes later.
        watch.followCommits(self) { [weak self] in self?.show() }
        entries = environment.optimisticEntries
    }

    private func show() {
        guard let environment else { return }
        let new = environment.optimisticEntries(knowing: entries)
        if new == entries { return }
        entries = new
        if let node { node.graph.invalidate(node) }
    }

    func end() {
        watch?.endFollowing(self)
        (watch, environment, entries) = (nil, nil, [])
    }
}
