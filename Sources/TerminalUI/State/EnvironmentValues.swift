/// A value that views hand down to those below them.
public protocol EnvironmentKey {
    /// What is handed down.
    associatedtype Value
    /// What a view has if none above it has set the value.
    @MainActor static var defaultValue: Value { get }
}

/// What a view inherits from those above it.
@MainActor
public struct EnvironmentValues {
    private final class Storage {
        var values: [ObjectIdentifier: Any]
        init(_ values: [ObjectIdentifier: Any]) { self.values = values }
    }

    private var storage = Storage([:])

    package init() {}

    /// The value of a key, for a computed property by which views name it:
    ///
    ///     extension EnvironmentValues {
    ///         private enum NameKey: EnvironmentKey { static var defaultValue: String { "nobody" } }
    ///         var userName: String {
    ///             get { self[NameKey.self] }
    ///             set { self[NameKey.self] = newValue }
    ///         }
    ///     }
    public subscript<Key: EnvironmentKey>(key: Key.Type) -> Key.Value {
        get { storage.values[ObjectIdentifier(key)] as? Key.Value ?? key.defaultValue }
        set {
            if let known = storage.values[ObjectIdentifier(key)], isSame(known, newValue) { return }
            var values = storage.values
            values[ObjectIdentifier(key)] = newValue
            storage = Storage(values)
        }
    }

    /// Whether both are the same object, so that nothing in them differs.
    package static func === (one: EnvironmentValues, other: EnvironmentValues) -> Bool {
        one.storage === other.storage
    }

    // MARK: What all views know

    private enum EnabledKey: EnvironmentKey {
        static var defaultValue: Bool { true }
    }

    private enum StyleKey: EnvironmentKey {
        static var defaultValue: Style { .plain }
    }

    /// Whether controls can be used.
    public internal(set) var isEnabled: Bool {
        get { self[EnabledKey.self] }
        set { self[EnabledKey.self] = newValue }
    }

    /// How text looks.
    package var style: Style {
        get { self[StyleKey.self] }
        set { self[StyleKey.self] = newValue }
    }
}

/// Reads what the views above have set. (`@Environment` in SwiftUI; that name is Relay's.)
@propertyWrapper @MainActor
public struct EnvironmentValue<Value>: ViewProperty {
    private final class Box {
        weak var node: ViewNode?
    }

    private let box = Box()
    private let path: KeyPath<EnvironmentValues, Value>

    /// - Parameter path: the value, as `\.leave`.
    public init(_ path: KeyPath<EnvironmentValues, Value>) { self.path = path }

    /// What the nearest view above has set, or the key's default value.
    public var wrappedValue: Value {
        (box.node?.environment ?? EnvironmentValues())[keyPath: path]
    }

    package func attach(to node: ViewNode, _ storage: AnyObject?) -> AnyObject? {
        box.node = node
        return nil
    }

    package func isSame(as other: any ViewProperty) -> Bool {
        (other as? EnvironmentValue<Value>)?.path == path
    }
}
