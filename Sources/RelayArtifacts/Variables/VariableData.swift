package import RelayJSON

/// The variables of an operation, or the fields of an input object, by name.
///
/// It can be embedded directly in an `Encodable` request body:
///
///     struct RequestPayload: Encodable {
///         var query: String
///         var operationName: String
///         var variables: VariableData
///     }
///
/// A Swift optional that is nil is *absent*: the operation's default value applies, and an update
/// leaves the field as it is. An explicit null is ``VariableValue/null``.
@dynamicMemberLookup
public struct VariableData: Hashable, Sendable {
    /// By the bytes of their names: a JSON scalar may have any names, even two that Unicode calls equivalent.
    private var values: [ExactText: VariableValue]

    /// No variables.
    public init() { values = [:] }

    /// The given variables; those that are nil are omitted.
    public init(_ data: [String: any VariableValueConvertible]) {
        self.init()
        for (name, value) in data { self[name] = value.presentVariableValue }
    }

    /// The given variables, and an explicit null for those of the names that are nil.
    public init(_ data: [String: any VariableValueConvertible], null names: some Sequence<String>) {
        self.init(data)
        for name in names where self[name] == nil { self[name] = VariableValue.null }
    }

    init(values: some Sequence<(String, VariableValue)>) {
        self.init()
        for (name, value) in values { self[name] = value }
    }

    /// Whether there are no variables.
    public var isEmpty: Bool { values.isEmpty }

    /// The value of the variable with this name; nil if it is absent.
    public subscript(dynamicMember name: String) -> VariableValue? { self[name] }

    /// The value of the variable with this name; nil if it is absent.
    public subscript(_ name: String) -> VariableValue? {
        get { values[ExactText(name)] }
        set { values[ExactText(name)] = newValue }
    }

    /// Adopts all of the other's variables; if both have one, the other's wins.
    public mutating func merge(_ other: any VariableDataConvertible) {
        values.merge(other.variableData.values) { _, new in new }
    }

    /// Name and value, sorted by the bytes of the names.
    package var sorted: [(key: String, value: VariableValue)] {
        values.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value) }
    }
}

extension VariableData: ExpressibleByDictionaryLiteral {
    /// The name of a variable.
    public typealias Key = String
    /// Anything that can be the value of a variable; nil is absent.
    public typealias Value = any VariableValueConvertible

    public init(dictionaryLiteral elements: (String, any VariableValueConvertible)...) {
        self.init()
        for (name, value) in elements { self[name] = value.presentVariableValue }
    }
}

extension VariableData: CustomStringConvertible {
    /// Sorted by name: `{complete:true,id:"a"}`.
    public var description: String {
        "{\(sorted.map { "\($0.key):\($0.value)" }.joined(separator: ","))}"
    }
}

extension VariableData: Encodable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for (name, value) in sorted { try container.encode(value, forKey: Name(stringValue: name)) }
    }
}

extension VariableData {
    package init(_ json: JSONObject) {
        self.init(values: json.members.lazy.map { ($0.key, VariableValue($0.value)) })
    }

    /// The variables as a JSON object, sorted by name.
    package var json: JSONObject { JSONObject(sorted.lazy.map { ($0.key, $0.value.json) }) }
}
