/// An argument of a field, a fragment spread or a handle: a name, and where its value comes from.
public protocol Argument: Sendable {
    var name: String { get }
    /// The value under these variables; nil where it is a variable that was not given, so that the
    /// argument counts as not written (GraphQL §6.4.1).
    func value(from variables: VariableData) -> VariableValue?
    /// Whether the value is the same under all variables.
    var isConstant: Bool { get }
}

/// `name: 20`
public struct LiteralArgument: Argument, Hashable {
    public let name: String
    public let value: VariableValue

    public init(name: String, value: any VariableValueConvertible) {
        self.name = name
        self.value = value.variableValue
    }

    public func value(from variables: VariableData) -> VariableValue? { value }
    public var isConstant: Bool { true }
}

/// `name: $variableName`
public struct VariableArgument: Argument, Hashable {
    public let name: String
    public let variableName: String

    public init(name: String, variableName: String) {
        self.name = name
        self.variableName = variableName
    }

    public func value(from variables: VariableData) -> VariableValue? { variables[variableName] }
    public var isConstant: Bool { false }
}

/// `name: [1, $second]`. The names of the items mean nothing; an item that is not given is null.
public struct ListValueArgument: Argument {
    public let name: String
    public let items: [any Argument]

    public init(name: String, items: [any Argument]) {
        self.name = name
        self.items = items
    }

    public func value(from variables: VariableData) -> VariableValue? {
        .array(items.map { $0.value(from: variables) ?? .null })
    }
    public var isConstant: Bool { items.allSatisfy(\.isConstant) }
}

/// `name: {field: 1, other: $second}`. A field that is not given is left out.
public struct ObjectValueArgument: Argument {
    public let name: String
    public let fields: [any Argument]

    public init(name: String, fields: [any Argument]) {
        self.name = name
        self.fields = fields
    }

    public func value(from variables: VariableData) -> VariableValue? {
        var data = VariableData()
        for field in fields { data[field.name] = field.value(from: variables) }
        return .object(data)
    }
    public var isConstant: Bool { fields.allSatisfy(\.isConstant) }
}
