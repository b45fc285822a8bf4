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
        var follower: EnvironmentFollower<[OptimisticEntry]>?
    }

    private let box = Box()

    /// Those of the view's environment.
    public init() {}

    /// Oldest first; none where there is no environment.
    public var wrappedValue: [OptimisticEntry] { box.follower?.value ?? [] }

    package func attach(to node: ViewNode, _ storage: AnyObject?) -> AnyObject? {
        let follower =
            storage as? EnvironmentFollower<[OptimisticEntry]>
            ?? EnvironmentFollower(node, [], read: { $0.optimisticEntries(knowing: $1) })
        follower.follow(node.environment.relayEnvironment)
        box.follower = follower
        return follower
    }

    package func isSame(as other: any ViewProperty) -> Bool { other is OptimisticEntries }
}
