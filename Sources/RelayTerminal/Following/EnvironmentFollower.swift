import Relay
import RelayStore
import TerminalUI

/// What a view keeps of something that its environment says, and that may be another after every commit.
@MainActor
final class EnvironmentFollower<Value: Equatable & Sendable>: ViewStorage {
    /// Reads the value; it may use what is known.
    typealias Read = @MainActor (Environment, _ known: Value) -> Value
    /// Has `tell` called when the value may be another without a commit.
    typealias Observe =
        @MainActor (Environment, _ tell: @escaping @Sendable () -> Void) -> Retention?

    private weak var node: ViewNode?
    private var environment: Environment?
    private var watch: StoreWatch?
    private var observation: Retention?
    private let none: Value
    private let read: Read
    private let observe: Observe
    /// `none` where there is no environment.
    private(set) var value: Value

    init(
        _ node: ViewNode, _ none: Value, read: @escaping Read,
        observe: @escaping Observe = { _, _ in nil }
    ) {
        self.node = node
        self.none = none
        value = none
        self.read = read
        self.observe = observe
    }

    func follow(_ environment: Environment?) {
        guard environment !== self.environment, let node else { return }
        end()
        self.environment = environment
        guard let environment else { return }
        let watch = StoreWatch.of(environment.store, in: node.graph)
        self.watch = watch
        // Before it is read, so that it hears of all that comes later.
        watch.followCommits(self) { [weak self] in self?.show() }
        observation = observe(environment) { [weak self, weak watch] in
            guard let self else { return }
            watch?.note(self) { [weak self] in self?.show() }
        }
        value = read(environment, none)
    }

    private func show() {
        guard let environment else { return }
        let new = read(environment, value)
        if new == value { return }
        value = new
        if let node { node.graph.invalidate(node) }
    }

    func end() {
        observation?.cancel()
        watch?.endFollowing(self)
        (watch, environment, observation, value) = (nil, nil, nil, none)
    }
}
