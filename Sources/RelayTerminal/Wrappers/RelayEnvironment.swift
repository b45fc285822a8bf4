public import Relay
public import TerminalUI

extension EnvironmentValues {
    private enum RelayEnvironmentKey: EnvironmentKey {
        static var defaultValue: Relay.Environment? { nil }
    }

    /// Whose network and store the views use: the one that a view above has set, or else
    /// `CurrentEnvironment.value`.
    public var relayEnvironment: Relay.Environment? {
        get { self[RelayEnvironmentKey.self] ?? CurrentEnvironment.value }
        set { self[RelayEnvironmentKey.self] = newValue }
    }
}

extension View {
    /// Gives the views in it a network and a store.
    ///
    ///     TodoList().relayEnvironment(environment)
    public func relayEnvironment(_ environment: Relay.Environment?) -> some View {
        environmentValue(\.relayEnvironment, environment)
    }
}

/// The environment that the view has.
@propertyWrapper @MainActor
public struct RelayEnvironment: ViewProperty {
    private final class Box {
        var environment: Relay.Environment?
    }

    private let box = Box()

    /// The environment of the view that has it.
    public init() {}

    /// nil where none is set.
    public var wrappedValue: Relay.Environment? { box.environment ?? CurrentEnvironment.value }

    package func attach(to node: ViewNode, _ storage: AnyObject?) -> AnyObject? {
        box.environment = node.environment.relayEnvironment
        return nil
    }

    package func isSame(as other: any ViewProperty) -> Bool { other is RelayEnvironment }
}
