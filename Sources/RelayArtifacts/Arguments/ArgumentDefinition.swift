/// A variable that an operation or a fragment declares.
public enum ArgumentDefinition: Hashable, Sendable {
    /// Declared here: a variable of the operation, or an entry of a fragment's `@argumentDefinitions`.
    /// If it is not given, its default value applies, if any.
    case local(name: String, defaultValue: VariableValue? = nil)
    /// Used by a fragment and declared by whichever operation includes it.
    case root(name: String)

    /// The name of the variable, without `$`.
    package var name: String {
        switch self {
        case .local(let name, _), .root(let name): name
        }
    }
}

extension Sequence<ArgumentDefinition> {
    /// The variables of an operation: the given ones, and defaults for the others.
    package func operationVariables(given: VariableData) -> VariableData {
        var variables = given
        for case .local(let name, let defaultValue?) in self where variables[name] == nil {
            variables[name] = defaultValue
        }
        return variables
    }

    /// The variables inside a fragment that is spread with `arguments`, given those of the operation.
    package func fragmentVariables(
        given arguments: SpreadArguments, in variables: VariableData
    ) -> VariableData {
        var inner = variables
        for case .local(let name, let defaultValue) in self {
            inner[name] = arguments.value(of: name, default: defaultValue)
        }
        return inner
    }
}

extension Sequence<any Argument> {
    /// The values by name; those not given are omitted.
    package func values(from variables: VariableData) -> VariableData {
        var values = VariableData()
        for argument in self { values[argument.name] = argument.value(from: variables) }
        return values
    }
}
