package import RelayJSON

/// The value of a variable, an argument or a part of one (GraphQL §2.9), after all types are known.
///
/// Enum values are strings, as they are in JSON.
public enum VariableValue: Hashable, Sendable {
    /// An explicit null; absence is nil.
    case null
    /// A string, an id or an enum value.
    case string(String)
    /// A whole number.
    case int(Int)
    /// A boolean.
    case bool(Bool)
    /// A number with a fraction, or of a `Float` argument.
    case float(Double)
    /// An input object, or a custom scalar that is an object.
    case object(VariableData)
    /// A list.
    case array([VariableValue])
}

extension VariableValue {
    /// Texts are equal if their bytes are, so "é" as one Unicode scalar and as two are different values. NaN equals
    /// NaN: values are keys of tables, and a key that does not equal itself is never found again.
    public static func == (left: VariableValue, right: VariableValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.string(let left), .string(let right)): left.isSame(as: right)
        case (.int(let left), .int(let right)): left == right
        case (.bool(let left), .bool(let right)): left == right
        case (.float(let left), .float(let right)): left == right || left.isNaN && right.isNaN
        case (.object(let left), .object(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(case: 0, 0)
        case .string(let text): hasher.combine(case: 1, ExactText(text))
        case .int(let number): hasher.combine(case: 2, number)
        case .bool(let value): hasher.combine(case: 3, value)
        case .float(let number): hasher.combine(case: 4, number.isNaN ? .nan : number)
        case .object(let data): hasher.combine(case: 5, data)
        case .array(let values): hasher.combine(case: 6, values)
        }
    }
}

extension VariableValue: Encodable {
    public func encode(to encoder: any Encoder) throws {
        if case .object(let data) = self { return try data.encode(to: encoder) }
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .string(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .bool(let value): try container.encode(value)
        case .float(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object: break
        }
    }
}

extension VariableValue: CustomStringConvertible {
    /// As in a GraphQL document, the fields of objects sorted: `{complete:true,id:"a"}`.
    public var description: String {
        switch self {
        case .null: "null"
        case .string(let value): JSONValue.string(value).text
        case .int(let value): "\(value)"
        case .bool(let value): "\(value)"
        case .float(let value): "\(value)"
        case .object(let data): data.description
        case .array(let values): "[\(values.map(\.description).joined(separator: ","))]"
        }
    }
}

extension VariableValue: ExpressibleByNilLiteral, ExpressibleByStringLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByFloatLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .int(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(floatLiteral value: Double) { self = .float(value) }
    public init(arrayLiteral elements: VariableValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, VariableValue)...) {
        self = .object(VariableData(values: elements))
    }
}

extension VariableValue {
    /// The value of a JSON value. Whole numbers are `.int` and all others `.float`.
    package init(_ json: JSONValue) {
        self =
            switch json {
            case .null: .null
            case .bool(let value): .bool(value)
            case .int(let value): .int(Int(value))
            case .double(let value): .float(value)
            case .string(let value): .string(value)
            case .array(let values): .array(values.map(VariableValue.init))
            case .object(let object): .object(VariableData(object))
            }
    }

    package var json: JSONValue {
        switch self {
        case .null: .null
        case .string(let value): .string(value)
        case .int(let value): .int(Int64(value))
        case .bool(let value): .bool(value)
        case .float(let value): .double(value)
        case .object(let data): .object(data.json)
        case .array(let values): .array(values.map(\.json))
        }
    }

    /// Appends the value in the form of a storage key: JSON as `JSON.stringify` writes it, with the
    /// members of objects sorted. A whole `.float` is written without a fraction, so that one value of
    /// a `Float` argument has one storage key, whatever its origin.
    package func writeStorageKey(to key: inout String) {
        switch self {
        case .null: key += "null"
        case .string(let value): key += JSONValue.string(value).text
        case .int(let value): key += "\(value)"
        case .bool(let value): key += value ? "true" : "false"
        case .float(let value):
            if let whole = Int(exactly: value) { key += "\(whole)" } else { key += "\(value)" }
        case .array(let values):
            key += "["
            for (index, value) in values.enumerated() {
                if index > 0 { key += "," }
                value.writeStorageKey(to: &key)
            }
            key += "]"
        case .object(let data):
            key += "{"
            for (index, member) in data.sorted.enumerated() {
                if index > 0 { key += "," }
                key += JSONValue.string(member.key).text + ":"
                member.value.writeStorageKey(to: &key)
            }
            key += "}"
        }
    }
}
