public import RelayArtifacts

/// Data that is read straight from the store's records; generated from selection sets.
///
///     struct Data: ReadableRecord {
///         var id: String
///         var text: String
///
///         init(_ record: inout RecordReader) throws {
///             id = try record.string("id")
///             text = try record.string("text")
///         }
///     }
public protocol ReadableRecord: Sendable {
    /// - Throws: a ``ReadError`` if the record lacks something that the data requires.
    init(_ record: inout RecordReader) throws
}

/// A leaf value: what the fields of scalar and enum types are read as.
public protocol ReadableScalar {
    /// - Returns: nil for a value of another kind.
    init?(scalar value: VariableValue)
}

extension VariableValue: ReadableScalar {
    /// Any value; null too.
    public init?(scalar value: VariableValue) { self = value }
}

extension String: ReadableScalar {
    /// A whole number too, because servers may send an `ID` that way.
    public init?(scalar value: VariableValue) {
        switch value {
        case .string(let text): self = text
        case .int(let number): self = String(number)
        default: return nil
        }
    }
}

extension Int: ReadableScalar {
    /// A number without fraction.
    public init?(scalar value: VariableValue) {
        switch value {
        case .int(let number): self = number
        case .float(let number): self.init(exactly: number)
        default: return nil
        }
    }
}

extension Double: ReadableScalar {
    /// A number, whole or not.
    public init?(scalar value: VariableValue) {
        switch value {
        case .int(let number): self = Double(number)
        case .float(let number): self = number
        default: return nil
        }
    }
}

extension Bool: ReadableScalar {
    /// A boolean.
    public init?(scalar value: VariableValue) {
        guard case .bool(let value) = value else { return nil }
        self = value
    }
}

extension ReadableScalar where Self: RawRepresentable, RawValue == String {
    /// The case with this text; nil if no case has it.
    public init?(scalar value: VariableValue) {
        guard case .string(let text) = value else { return nil }
        self.init(rawValue: text)
    }
}

extension Optional: ReadableScalar where Wrapped: ReadableScalar {
    /// The value; null is nil.
    public init?(scalar value: VariableValue) {
        guard value != .null else {
            self = Optional<Wrapped>.none as Self
            return
        }
        guard let wrapped = Wrapped(scalar: value) else { return nil }
        self = Optional<Wrapped>.some(wrapped) as Self
    }
}

extension Array: ReadableScalar where Element: ReadableScalar {
    /// A list in which every element fits.
    public init?(scalar value: VariableValue) {
        guard case .array(let values) = value else { return nil }
        self = []
        for value in values {
            guard let element = Element(scalar: value) else { return nil }
            append(element)
        }
    }
}

extension Dictionary: ReadableScalar where Key == String, Value: ReadableScalar {
    /// An object in which every value fits.
    public init?(scalar value: VariableValue) {
        guard case .object(let fields) = value else { return nil }
        self = [:]
        for (name, value) in fields.sorted {
            guard let value = Value(scalar: value) else { return nil }
            self[name] = value
        }
    }
}
