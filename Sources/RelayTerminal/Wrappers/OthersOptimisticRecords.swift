public import Relay
package import TerminalUI

/// The records that live results show as mutations of others are expected to leave them, in a view
/// (`Environment.othersOptimisticRecords`). The view is evaluated again when they are others, as a rule in the frame that
/// shows the result.
///
///     @OthersOptimisticRecords var others
///     …
///     Text(todo.text).foregroundColor(others.contains(DataID(todo.id)) ? .secondary : .primary)
@propertyWrapper @MainActor
public struct OthersOptimisticRecords: ViewProperty {
    private final class Box {
        var follower: EnvironmentFollower<Set<DataID>>?
    }

    private let box = Box()

    /// Those of the view's environment.
    public init() {}

    /// None where there is no environment.
    public var wrappedValue: Set<DataID> { box.follower?.value ?? [] }

    package func attach(to node: ViewNode, _ storage: AnyObject?) -> AnyObject? {
        let follower =
            storage as? EnvironmentFollower<Set<DataID>>
            ?? EnvironmentFollower(
                node, [], read: { environment, _ in environment.othersOptimisticRecords },
                observe: { $0.observeOthersRecords($1) })
        follower.follow(node.environment.relayEnvironment)
        box.follower = follower
        return follower
    }

    package func isSame(as other: any ViewProperty) -> Bool { other is OthersOptimisticRecords }
}
