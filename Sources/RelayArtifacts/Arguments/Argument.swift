/// An argument of a field, a fragment spread or a handle: a name, and where its value comes from.
public protocol Argument: Sendable {
    /// The argument's name.
    var name: String { get }
    /// The value with these variables; nil if it is a variable without a value, so that the
    /// argument counts as not written (GraphQL §6.4.1).
    func value(from variables: VariableData) -> VariableValue?
    /// Whether the value is the same with all variables.
    var isConstant: Bool { get }
    /// Whether the field with null for it is another than the field without it. It is for arguments of a name for which
    /// the schema has a default anywhere: one rule for all fields, since a field of an interface is one with that of
    /// its objects, and updaters name fields without knowing types.
    var distinguishesNull: Bool { get }
}

extension Argument {
    /// Without a default, null and absent mean the same.
    public var distinguishesNull: Bool { false }
}

/// `name: 20`
public struct LiteralArgument: Argument, Hashable {
    /// The argument's name.
    public let name: String
    /// Its value, the same with all variables.
    package let value: VariableValue
    /// See ``Argument/distinguishesNull``.
    public let distinguishesNull: Bool

    /// A literal argument, as the compiler writes it.
    /// - Parameters:
    ///   - name: the argument's name.
    ///   - value: its value, the same with all variables.
    ///   - distinguishesNull: see ``Argument/distinguishesNull``.
    public init(
        name: String, value: any VariableValueConvertible, distinguishesNull: Bool = false
    ) {
        self.name = name
        self.value = value.variableValue
        self.distinguishesNull = distinguishesNull
    }

    /// The value with these variables; see ``Argument/value(from:)``.
    public func value(from variables: VariableData) -> VariableValue? { value }
    /// Whether no variable is part of the value.
    public var isConstant: Bool { true }
}

/// `name: $variableName`
public struct VariableArgument: Argument, Hashable {
    /// The argument's name.
    public let name: String
    /// The name of the variable that gives the value, without `$`.
    package let variableName: String
    /// See ``Argument/distinguishesNull``.
    public let distinguishesNull: Bool

    /// A variable argument, as the compiler writes it.
    /// - Parameters:
    ///   - name: the argument's name.
    ///   - variableName: the name of the variable that gives the value, without `$`.
    ///   - distinguishesNull: see ``Argument/distinguishesNull``.
    public init(name: String, variableName: String, distinguishesNull: Bool = false) {
        self.name = name
        self.variableName = variableName
        self.distinguishesNull = distinguishesNull
    }

    /// The value with these variables; see ``Argument/value(from:)``.
    public func value(from variables: VariableData) -> VariableValue? { variables[variableName] }
    /// Whether no variable is part of the value.
    public var isConstant: Bool { false }
}

/// `name: [1, $second]`. The items' names are ignored; an item without a value is null.
public struct ListValueArgument: Argument {
    /// The argument's name.
    public let name: String
    /// The elements, in order.
    package let items: [any Argument]

    /// A list value argument, as the compiler writes it.
    /// - Parameters:
    ///   - name: the argument's name.
    ///   - items: the elements, in order.
    public init(name: String, items: [any Argument]) {
        self.name = name
        self.items = items
    }

    /// The value with these variables; see ``Argument/value(from:)``.
    public func value(from variables: VariableData) -> VariableValue? {
        .array(items.map { $0.value(from: variables) ?? .null })
    }
    /// Whether no variable is part of the value.
    public var isConstant: Bool { items.allSatisfy(\.isConstant) }
}

/// `name: {field: 1, other: $second}`. A field without a value is omitted.
public struct ObjectValueArgument: Argument {
    /// The argument's name.
    public let name: String
    /// The fields of the input object.
    package let fields: [any Argument]

    /// An object value argument, as the compiler writes it.
    /// - Parameters:
    ///   - name: the argument's name.
    ///   - fields: the fields of the input object.
    public init(name: String, fields: [any Argument]) {
        self.name = name
        self.fields = fields
    }

    /// The value with these variables; see ``Argument/value(from:)``.
    public func value(from variables: VariableData) -> VariableValue? {
        .object(fields.values(from: variables))
    }
    /// Whether no variable is part of the value.
    public var isConstant: Bool { fields.allSatisfy(\.isConstant) }
}
