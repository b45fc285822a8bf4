import GraphQLLanguage
import RelayJSON

/// The arguments of one field of a document, to be coerced with the variables of an execution.
struct ArgumentList: Sendable {
    let definitions: [SchemaInputValue]
    let given: [Argument]
    let schema: Schema

    /// Whether it uses variables.
    var usesVariables: Bool { given.contains { Literal.usesVariables($0.value) } }

    /// CoerceArgumentValues (GraphQL §6.4.1). Absent arguments without default stay absent.
    func coerce(_ variables: CoercedVariables) throws(ExecutionError) -> JSONObject {
        var values = JSONObject()
        for definition in definitions {
            let argument = given.first { $0.name.value == definition.name }
            var value: JSONValue?
            if let argument {
                do throws(Literal.MissingValue) {
                    value = try Literal.coerce(
                        argument.value, definition.type, variables, in: schema)
                } catch {
                    throw ExecutionError(
                        """
                        Argument "\(definition.name)" has invalid value \
                        \(argument.value.printed().shortened).
                        """, code: .badUserInput)
                }
            }
            if let value {
                if value == .null, definition.type.isNonNull {
                    throw ExecutionError(
                        """
                        Argument "\(definition.name)" of non-null type \
                        "\(schema.print(definition.type))" must not be null.
                        """, code: .badUserInput)
                }
                values[definition.name] = value
            } else if let fallback = definition.defaultValue {
                values[definition.name] = Literal.constant(fallback, definition.type, in: schema)
            } else if definition.type.isNonNull {
                throw ExecutionError(
                    """
                    Argument "\(definition.name)" of required type \
                    "\(schema.print(definition.type))" was not provided.
                    """, code: .badUserInput)
            }
        }
        return values
    }
}
