import Publishing
import Relay
import TerminalUI

/// What a selector reads, as a view shows it: another snapshot only ever comes between two frames.
@MainActor
final class RecordFollower<Data: ReadableRecord> {
    /// What the views show.
    private(set) var snapshot: Snapshot<Data>
    private let watch: StoreWatch
    private let changed: @MainActor () -> Void
    private var subscription: AnyCancellable?

    /// - Parameter changed: called when there is another snapshot.
    init(
        _ selector: SingularReaderSelector, in environment: Environment, _ graph: ViewGraph,
        _ changed: @escaping @MainActor () -> Void
    ) {
        snapshot = environment.lookup(selector: selector)
        // Before the subscription, so that it hears of every commit that the subscription does.
        watch = StoreWatch.of(environment.store, in: graph)
        self.changed = changed
        subscription = environment.subscribe(snapshot: snapshot).sink { [weak self, watch] new in
            guard let self else { return }
            watch.note(self) { [weak self] in self?.show(new) }
        }
    }

    private func show(_ new: Snapshot<Data>) {
        guard subscription != nil, new != snapshot else { return }
        snapshot = new
        changed()
    }

    func end() {
        subscription?.cancel()
        subscription = nil
    }
}
