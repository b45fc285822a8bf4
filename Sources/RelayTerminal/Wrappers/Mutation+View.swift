package import Relay
package import TerminalUI

// A view's `@Mutation` is that of Relay: what a program has written for its `Mutator` is there for views, too. In a view
// it uses the view's environment, keeps what is in flight from one of the view's values to the next, and has the view
// evaluated again when that changes, if it has read it. A mutation goes on when its view is gone.

extension Mutation: @MainActor ViewProperty {
    package func attach(to node: ViewNode, _ storage: AnyObject?) -> AnyObject? {
        let storage = storage as? MutationStorage ?? MutationStorage(inFlight, node)
        storage.inFlight.use(node.environment.relayEnvironment)
        inFlight = storage.inFlight
        return storage
    }

    package func isSame(as other: any ViewProperty) -> Bool { other is Mutation<Operation> }
}

/// What a view keeps of its mutations.
@MainActor
final class MutationStorage: ViewStorage, MailSource {
    let inFlight: MutationsInFlight
    private weak var node: ViewNode?

    init(_ inFlight: MutationsInFlight, _ node: ViewNode) {
        self.inFlight = inFlight
        self.node = node
        let mail = node.graph.mail
        inFlight.follow { [weak self] in
            if let self { mail.post(self) }
        }
    }

    func receive() {
        if let node, inFlight.isOutdated { node.graph.invalidate(node) }
    }

    func end() { inFlight.follow(nil) }
}
