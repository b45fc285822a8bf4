import GraphQLLanguage
import RelayArtifacts

/// Turns values in documents into argument nodes and defaults.
///
/// Values are converted to the type of their place, so that a literal and a variable of equal value
/// give the same storage key: an `ID` is always a string, a `Float` is never an integer.
struct ArgumentBuilder {
    let schema: Schema

    init(_ documents: DocumentSet) {
        schema = documents.schema
    }

    /// Variables with their defaults.
    func definitions(_ variables: [VariableDefinition]) -> [ArgumentDefinition] {
        variables.map { variable in
            .local(
                name: variable.name.value,
                defaultValue: variable.defaultValue.map {
                    constant($0, schema.resolve(variable.type))
                })
        }
    }

    func arguments(_ arguments: [GraphQLLanguage.Argument], of field: SchemaField)
        -> [any RelayArtifacts.Argument]
    {
        arguments.map {
            let type = field.argument($0.name.value)?.type
            return argument(
                $0.name.value, $0.value, type,
                distinguishesNull: type?.isNonNull != true
                    && schema.nullArguments.contains($0.name.value))
        }
    }

    func arguments(
        _ arguments: [GraphQLLanguage.Argument], ofType type: (_ name: String) -> WrappedType?
    ) -> [any RelayArtifacts.Argument] {
        arguments.map { argument($0.name.value, $0.value, type($0.name.value)) }
    }

    /// The arguments of a directive, whose types are not needed.
    func untyped(_ arguments: [GraphQLLanguage.Argument]) -> [any RelayArtifacts.Argument] {
        arguments.map { self.argument($0.name.value, $0.value, nil) }
    }

    private func argument(
        _ name: String, _ value: Value, _ type: WrappedType?, distinguishesNull: Bool = false
    ) -> any RelayArtifacts.Argument {
        if let variable = value.variable {
            return VariableArgument(
                name: name, variableName: variable, distinguishesNull: distinguishesNull)
        }
        if value.variables.isEmpty {
            let value = constant(value, type)
            return LiteralArgument(
                name: name, value: value, distinguishesNull: distinguishesNull && value == .null)
        }
        switch value.kind {
        case .list(let items):
            return ListValueArgument(
                name: name, items: items.map { argument("", $0, type?.listItem) })
        case _ where type?.listItem != nil:
            // One value becomes a list of one, as in a constant.
            return ListValueArgument(name: name, items: [argument("", value, type?.listItem)])
        case .object(let fields):
            return ObjectValueArgument(
                name: name,
                fields: fields.map {
                    argument($0.name.value, $0.value, inputField($0.name.value, of: type))
                })
        default:
            return LiteralArgument(name: name, value: constant(value, type))
        }
    }

    /// The value of a literal; without a known type it is kept as written.
    func constant(_ value: Value, _ type: WrappedType?) -> VariableValue {
        if let item = type?.listItem {
            switch value.kind {
            case .list(let items): return .array(items.map { constant($0, item) })
            case .null, .variable: return .null
            // One value becomes a list of one (GraphQL §3.11).
            default: return .array([constant(value, item)])
            }
        }
        switch value.kind {
        case .null, .variable: return .null
        case .boolean(let value): return .bool(value)
        case .string(let text, _), .enum(let text): return .string(text)
        case .float(let text): return .float(Double(text) ?? 0)
        case .int(let text):
            switch type.map({ schema[$0.namedType].name }) {
            case "ID": return .string(text)
            case "Float": return .float(Double(text) ?? 0)
            default: return Int(text).map { .int($0) } ?? .float(Double(text) ?? 0)
            }
        case .list(let items): return .array(items.map { constant($0, nil) })
        case .object(let fields):
            var data = VariableData()
            for field in fields {
                data[field.name.value] = constant(
                    field.value, inputField(field.name.value, of: type))
            }
            return .object(data)
        }
    }

    private func inputField(_ name: String, of type: WrappedType?) -> WrappedType? {
        type.flatMap { schema[$0.namedType].inputField(name)?.type }
    }
}
