import GraphQLLanguage
import RelayJSON

// The schema as data (GraphQL §4).

extension Execution {
    /// Writes a field of an introspection object, or of the root: `__schema`, `__type`.
    mutating func writeIntrospection(
        of object: ObjectValue, _ field: FieldPlan, _ arguments: JSONObject, _ shape: OutputShape
    ) -> Outcome {
        let schema = schema.schema
        let value: IntrospectionValue
        switch object {
        case .introspection(let object):
            value = schema.introspect(
                field.name, of: object,
                includeDeprecated: arguments["includeDeprecated"] == true)
        default:
            value =
                field.name == schema.schemaField.name
                ? .object(.schema) : schema.introspect(type: arguments["name"]?.string ?? "")
        }
        return write(value, shape, field)
    }

    private mutating func write(
        _ value: IntrospectionValue, _ shape: OutputShape, _ field: FieldPlan
    ) -> Outcome {
        if case .nonNull(let inner) = shape { return require(write(value, inner, field), field) }
        switch value {
        case .null:
            return .null
        case .boolean(let value):
            writer.write(value)
            return .written
        case .string(let value):
            writer.write(value)
            return .written
        case .names(let names):
            return writeJSON(.array(names.map(JSONValue.string)), shape, field)
        case .object(let object):
            return writeObjectValue(.introspection(object), shape, field)
        case .list(let objects):
            guard case .list(let element) = shape else { return .null }
            return writeList(objects, element, field) { execution, object, shape in
                execution.writeObjectValue(.introspection(object), shape, field)
            }
        }
    }
}
