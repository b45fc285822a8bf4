/// What can be given as a variable: strings, numbers, booleans, enums with string values, and optionals,
/// arrays and dictionaries of them; input objects through ``VariableDataConvertible``.
public protocol VariableValueConvertible {
    var variableValue: VariableValue { get }
    /// nil for an optional that is nil, which as a variable or a field counts as not given.
    var presentVariableValue: VariableValue? { get }
}

extension VariableValueConvertible {
    public var presentVariableValue: VariableValue? { variableValue }
}

/// What can be given as all variables of an operation: generated `Variables` and input objects.
public protocol VariableDataConvertible: VariableValueConvertible {
    var variableData: VariableData { get }
}

extension VariableDataConvertible {
    public var variableValue: VariableValue { .object(variableData) }
}

/// The variables of an operation that has none.
public struct EmptyVariables: VariableDataConvertible, Hashable, Sendable {
    public init() {}

    public var variableData: VariableData { VariableData() }
}

extension VariableData: VariableDataConvertible {
    public var variableData: VariableData { self }
}

extension VariableValue: VariableValueConvertible {
    public var variableValue: VariableValue { self }
}

extension String: VariableValueConvertible {
    public var variableValue: VariableValue { .string(self) }
}

extension Int: VariableValueConvertible {
    public var variableValue: VariableValue { .int(self) }
}

extension Bool: VariableValueConvertible {
    public var variableValue: VariableValue { .bool(self) }
}

extension Double: VariableValueConvertible {
    public var variableValue: VariableValue { .float(self) }
}

extension VariableValueConvertible where Self: RawRepresentable, RawValue == String {
    public var variableValue: VariableValue { .string(rawValue) }
}

extension Optional: VariableValueConvertible where Wrapped: VariableValueConvertible {
    public var variableValue: VariableValue { self?.variableValue ?? .null }
    public var presentVariableValue: VariableValue? { self?.presentVariableValue }
}

extension Array: VariableValueConvertible where Element: VariableValueConvertible {
    public var variableValue: VariableValue { .array(map(\.variableValue)) }
}

extension Dictionary: VariableValueConvertible, VariableDataConvertible
where Key == String, Value: VariableValueConvertible {
    public var variableData: VariableData {
        VariableData(values: compactMapValues(\.presentVariableValue).map { ($0.key, $0.value) })
    }
}
