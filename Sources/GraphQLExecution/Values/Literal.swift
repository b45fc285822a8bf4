import GraphQLLanguage
import RelayJSON

/// Values written in a document, as JSON of their type. The document is valid, so literals fit their
/// types (GraphQL §5.6.1); only the values of variables can still be wrong.
enum Literal {
    /// A value without variables.
    static func constant(_ value: Value, _ type: WrappedType, in schema: Schema) -> JSONValue {
        coerce(value, type, .none, in: schema) ?? .null
    }

    /// A value with its variables filled in; nil if it is a variable without a value.
    static func coerce(
        _ value: Value, _ type: WrappedType, _ variables: CoercedVariables, in schema: Schema
    ) -> JSONValue? {
        if case .variable(let name) = value.kind { return variables.values[name] }
        if case .null = value.kind { return .null }
        switch type {
        case .nonNull(let inner):
            return coerce(value, inner, variables, in: schema)
        case .list(let item):
            guard case .list(let elements) = value.kind else {
                return coerce(value, item, variables, in: schema).map { .array([$0]) }
            }
            return .array(elements.map { coerce($0, item, variables, in: schema) ?? .null })
        case .named(let id):
            let type = schema[id]
            guard type.kind == .inputObject, case .object(let fields) = value.kind else {
                return scalar(value, type, variables)
            }
            var object = JSONObject()
            for field in type.inputFields {
                let given = fields.first { $0.name.value == field.name }
                let coerced = given.flatMap {
                    coerce($0.value, field.type, variables, in: schema)
                }
                if let coerced {
                    object[field.name] = coerced
                } else if let fallback = field.defaultValue {
                    object[field.name] = constant(fallback, field.type, in: schema)
                }
            }
            return .object(object)
        }
    }

    /// Whether a value contains a variable.
    static func usesVariables(_ value: Value) -> Bool {
        switch value.kind {
        case .variable: true
        case .list(let elements): elements.contains(where: usesVariables)
        case .object(let fields): fields.contains { usesVariables($0.value) }
        default: false
        }
    }

    private static func scalar(
        _ value: Value, _ type: NamedType, _ variables: CoercedVariables
    ) -> JSONValue {
        let untyped = untyped(value, variables)
        guard case .success(let coerced) = Scalars.coerceInput(untyped, type.name) else {
            return .null
        }
        return coerced
    }

    /// A literal as JSON, by its own form alone: what a custom scalar gets.
    static func untyped(_ value: Value, _ variables: CoercedVariables) -> JSONValue {
        switch value.kind {
        case .variable(let name): return variables.values[name] ?? .null
        case .int(let digits):
            return Int64(digits).map(JSONValue.int) ?? Double(digits).map(JSONValue.double) ?? .null
        case .float(let digits): return Double(digits).map(JSONValue.double) ?? .null
        case .string(let text, _), .enum(let text): return .string(text)
        case .boolean(let value): return .bool(value)
        case .null: return .null
        case .list(let elements): return .array(elements.map { untyped($0, variables) })
        case .object(let fields):
            return .object(
                JSONObject(fields.map { ($0.name.value, untyped($0.value, variables)) }))
        }
    }
}
