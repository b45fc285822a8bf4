package import Relay
package import TerminalUI
import Threads

// A view's `@Mutation` is that of Relay: what a program has written for its `Mutator` is there for views, too. In a view
// it uses the view's environment, keeps what is in flight from one of the view's values to the next, and has the view
// evaluated again when that changes, if it has read it. A mutation goes on when its view is gone, and its completion is
// called on the main actor all the same.

extension Mutation: @MainActor ViewProperty {
    package func attach(to node: ViewNode, _ storage: AnyObject?) -> AnyObject? {
        let storage = storage as? MutationStorage ?? MutationStorage(makeInFlight(), node)
        storage.inFlight.use(node.environment.relayEnvironment)
        inFlight = storage.inFlight
        return storage
    }

    package func isSame(as other: any ViewProperty) -> Bool { other is Mutation<Operation> }
}

/// What a view keeps of its mutations.
@MainActor
final class MutationStorage: MailSource {
    let inFlight: MutationsInFlight
    private weak var node: ViewNode?

    init(_ inFlight: MutationsInFlight, _ node: ViewNode) {
        self.inFlight = inFlight
        self.node = node
        let mail = node.graph.mail
        let ends = MutationEnds(mail)
        inFlight.follow(
            MutationsInFlight.Follower(
                changed: { [weak self] in
                    if let self { mail.post(self) }
                },
                end: { ends.add($0) }))
    }

    func receive() {
        if let node, inFlight.isOutdated() { node.graph.invalidate(node) }
    }
}

/// Completions on their way to the main actor, which calls them between two frames: what they do is seen together with
/// the end of the mutation. There are no more of them than the mutations that have ended since the last frame.
private final class MutationEnds: MailSource {
    private let ends = Lock<[MutationEnd]>([])
    private let mail: ViewMail

    init(_ mail: ViewMail) { self.mail = mail }

    func add(_ end: MutationEnd) {
        ends.withLock { $0.append(end) }
        // Those that nobody shows any more are called as well.
        if !mail.post(self) { Task { @MainActor in receive() } }
    }

    @MainActor func receive() {
        let ends = ends.withLock { ends in
            defer { ends = [] }
            return ends
        }
        for end in ends { end() }
    }
}
