import GraphQLLanguage
import RelayJSON

/// Values written in a document, as JSON of their type. The document is valid, so literals fit their
/// types (GraphQL §5.6.1). A variable may still be null or absent where there must be a value: one with a
/// default may stand there (§5.8.5).
enum Literal {
    /// There is no value inside a list or an input object where its type requires one.
    struct MissingValue: Error {}

    /// A value without variables.
    static func constant(_ value: Value, _ type: WrappedType, in schema: Schema) -> JSONValue {
        (try? coerce(value, type, .none, in: schema)) ?? .null
    }

    /// A value with its variables filled in; nil if it is a variable without a value.
    ///
    /// A variable that is null where its own type allows it is returned: what is around it decides.
    static func coerce(
        _ value: Value, _ type: WrappedType, _ variables: CoercedVariables, in schema: Schema
    ) throws(MissingValue) -> JSONValue? {
        if case .variable(let name) = value.kind { return variables.values[name] }
        if case .null = value.kind { return .null }
        switch type {
        case .nonNull(let inner):
            return try coerce(value, inner, variables, in: schema)
        case .list(let item):
            guard case .list(let elements) = value.kind else {
                return .array([try part(value, item, variables, in: schema) ?? .null])
            }
            var values: [JSONValue] = []
            values.reserveCapacity(elements.count)
            for element in elements {
                let value = try part(element, item, variables, in: schema)
                if value == nil, item.isNonNull { throw MissingValue() }
                values.append(value ?? .null)
            }
            return .array(values)
        case .named(let id):
            let type = schema[id]
            guard type.kind == .inputObject, case .object(let fields) = value.kind else {
                return scalar(value, type, variables)
            }
            var object = JSONObject()
            for field in type.inputFields {
                let given = fields.first { $0.name.value == field.name }
                var coerced: JSONValue?
                if let given {
                    coerced = try part(given.value, field.type, variables, in: schema)
                }
                if let coerced {
                    object[field.name] = coerced
                } else if let fallback = field.defaultValue {
                    object[field.name] = constant(fallback, field.type, in: schema)
                } else if field.type.isNonNull {
                    throw MissingValue()
                }
            }
            return .object(object)
        }
    }

    /// A value inside another.
    private static func part(
        _ value: Value, _ type: WrappedType, _ variables: CoercedVariables, in schema: Schema
    ) throws(MissingValue) -> JSONValue? {
        let coerced = try coerce(value, type, variables, in: schema)
        if coerced == .null, type.isNonNull { throw MissingValue() }
        return coerced
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
