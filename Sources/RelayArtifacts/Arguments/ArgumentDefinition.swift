/// A variable that an operation or a fragment declares.
public enum ArgumentDefinition: Hashable, Sendable {
    /// Declared here: a variable of the operation, or an entry of a fragment's `@argumentDefinitions`.
    /// Not given, it has its default value if it has one.
    case local(name: String, defaultValue: VariableValue? = nil)
    /// Used by a fragment and declared by whichever operation includes it.
    case root(name: String)

    public var name: String {
        switch self {
        case .local(let name, _), .root(let name): name
        }
    }
}

extension Sequence<ArgumentDefinition> {
    /// The variables of an operation: what was given, and defaults for what was not.
    package func operationVariables(given: VariableData) -> VariableData {
        var variables = given
        for case .local(let name, let defaultValue?) in self where variables[name] == nil {
            variables[name] = defaultValue
        }
        return variables
    }

    /// The variables inside a fragment that is spread with `arguments` where `variables` hold.
    package func fragmentVariables(
        _ arguments: [any Argument], in variables: VariableData
    ) -> VariableData {
        var inner = variables
        for definition in self {
            guard case .local(let name, let defaultValue) = definition else { continue }
            let argument = arguments.first { $0.name == name }
            inner[name] = argument?.value(from: variables) ?? defaultValue
        }
        return inner
    }
}
