import Relay
import RelayStore
import TerminalUI
import Threads

/// Collects what a store tells the views of one screen, so that they get all of a commit, or none of it.
///
/// A store tells its subscriptions one after the other, on the thread that commits. The main actor may draw meanwhile:
/// what it was told of that commit waits until all were told.
final class StoreWatch: MailSource {
    typealias Change = @MainActor @Sendable () -> Void

    private struct State {
        /// What each of them was told last; there are no more than views have properties.
        var changes: [ObjectIdentifier: Change] = [:]
        /// Those that look at every commit.
        var followers: [ObjectIdentifier: Change] = [:]
        var isTelling = false
    }

    private let store: Store
    private let mail: ViewMail
    private let state = Lock(State())
    private let observation = Lock<Retention?>(nil)

    private init(_ store: Store, _ mail: ViewMail) {
        self.store = store
        self.mail = mail
    }

    /// That of a store, for all views of a screen.
    @MainActor static func of(_ store: Store, in graph: ViewGraph) -> StoreWatch {
        graph.shared(store) {
            let watch = StoreWatch(store, graph.mail)
            let observation = store.observe { [weak watch] in watch?.take($0) }
            watch.observation.withLock { $0 = observation }
            return watch
        }
    }

    private func take(_ event: StoreEvent) {
        let isNew = state.withLock { state in
            switch event {
            case .notifyStarted: state.isTelling = true
            // Where events were dropped, the end may be among them.
            case .notifyCompleted, .dropped:
                state.isTelling = false
                state.changes.merge(state.followers) { $1 }
            default: return false
            }
            return !state.isTelling && !state.changes.isEmpty
        }
        if isNew { mail.post(self) }
    }

    /// The store has told a reader something.
    /// - Parameter change: shows it.
    func note(_ reader: AnyObject, _ change: @escaping Change) {
        let isAlone = state.withLock { state in
            state.changes[ObjectIdentifier(reader)] = change
            return !state.isTelling
        }
        if isAlone { mail.post(self) }
    }

    /// Has `look` called after every commit, together with what the others were told of it.
    @MainActor func followCommits(_ follower: AnyObject, _ look: @escaping Change) {
        state.withLock { $0.followers[ObjectIdentifier(follower)] = look }
    }

    @MainActor func endFollowing(_ follower: AnyObject) {
        state.withLock { $0.followers[ObjectIdentifier(follower)] = nil }
    }

    @MainActor func receive() {
        // All at once: a moment later some of them may have been told of the next commit.
        let changes = state.withLock { state -> [Change] in
            if state.isTelling { return [] }
            defer { state.changes = [:] }
            return Array(state.changes.values)
        }
        for change in changes { change() }
    }
}
