// Looking into variables whose types are only known at run time: in handlers and shared mutations, for
// example.

extension VariableValue {
    /// A field of an input object; nil if it is absent, or if the value is not an object.
    ///
    ///     variables.input?["text"]?.stringValue
    public subscript(_ name: String) -> VariableValue? {
        if case .object(let data) = self { data[name] } else { nil }
    }

    /// A string, an id or an enum value.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// A whole number.
    public var intValue: Int? {
        if case .int(let value) = self { value } else { nil }
    }

    /// A number with or without a fraction.
    public var doubleValue: Double? {
        switch self {
        case .float(let value): value
        case .int(let value): Double(value)
        default: nil
        }
    }

    /// A boolean.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements of a list.
    public var arrayValue: [VariableValue]? {
        if case .array(let values) = self { values } else { nil }
    }
}
