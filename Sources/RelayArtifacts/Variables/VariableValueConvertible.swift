/// What can be passed as a variable: strings, numbers, booleans, enums with string values, and
/// optionals, arrays and dictionaries of them; input objects through ``VariableDataConvertible``.
public protocol VariableValueConvertible {
    /// The value as that of a variable.
    var variableValue: VariableValue { get }
    /// nil for an optional that is nil, which as a variable or a field counts as not given.
    var presentVariableValue: VariableValue? { get }
}

extension VariableValueConvertible {
    /// The value; nil if it is absent.
    public var presentVariableValue: VariableValue? { variableValue }
}

/// What can be passed as all variables of an operation: generated `Variables` and input objects.
public protocol VariableDataConvertible: VariableValueConvertible {
    /// The variables, or the fields of the input object, by name.
    var variableData: VariableData { get }
}

extension VariableDataConvertible {
    /// The value as that of a variable.
    public var variableValue: VariableValue { .object(variableData) }
}

/// The variables of an operation without variables.
public struct EmptyVariables: VariableDataConvertible, Hashable, Sendable {
    /// No variables.
    public init() {}

    /// The variables, or the fields of the input object, by name.
    public var variableData: VariableData { VariableData() }
}

extension VariableData: VariableDataConvertible {
    /// The variables, or the fields of the input object, by name.
    public var variableData: VariableData { self }
}

extension VariableValue: VariableValueConvertible {
    /// The value as that of a variable.
    public var variableValue: VariableValue { self }
}

extension String: VariableValueConvertible {
    /// The value as that of a variable.
    public var variableValue: VariableValue { .string(self) }
}

extension Int: VariableValueConvertible {
    /// The value as that of a variable.
    public var variableValue: VariableValue { .int(self) }
}

extension Bool: VariableValueConvertible {
    /// The value as that of a variable.
    public var variableValue: VariableValue { .bool(self) }
}

extension Double: VariableValueConvertible {
    /// The value as that of a variable.
    public var variableValue: VariableValue { .float(self) }
}

extension VariableValueConvertible where Self: RawRepresentable, RawValue == String {
    /// The value as that of a variable.
    public var variableValue: VariableValue { .string(rawValue) }
}

extension Optional: VariableValueConvertible where Wrapped: VariableValueConvertible {
    /// The value as that of a variable.
    public var variableValue: VariableValue { self?.variableValue ?? .null }
    /// The value; nil if it is absent.
    public var presentVariableValue: VariableValue? { self?.presentVariableValue }
}

extension Array: VariableValueConvertible where Element: VariableValueConvertible {
    /// The value as that of a variable.
    public var variableValue: VariableValue { .array(map(\.variableValue)) }
}

extension Dictionary: VariableValueConvertible, VariableDataConvertible
where Key == String, Value: VariableValueConvertible {
    /// The variables, or the fields of the input object, by name.
    public var variableData: VariableData {
        VariableData(values: compactMapValues(\.presentVariableValue).map { ($0.key, $0.value) })
    }
}
