package import GraphQLLanguage
package import RelayJSON

/// The values of an operation's variables, coerced to their types; a variable without a value or a default
/// is absent.
package struct CoercedVariables: Sendable, Hashable {
    package let values: JSONObject

    package static let none = CoercedVariables(values: [:])
}

/// One variable of an operation, with its default already coerced.
package struct PlannedVariable: Sendable {
    package let name: String
    let type: WrappedType
    let defaultValue: JSONValue?
    let location: SourceLocation
}

extension CoercedVariables {
    /// How many errors are reported, as in graphql-js, before a note that there are more.
    private static let errorLimit = 50
    /// Total size of error texts after which no more are reported. Each may repeat the whole input.
    private static let errorBytes = 64 << 10
    private static let tooMany =
        "Too many errors processing variables, error limit reached. Execution aborted."

    /// CoerceVariableValues (GraphQL §6.1.2); the texts are graphql-js's.
    package init(
        _ given: JSONObject, for variables: [PlannedVariable], in schema: Schema
    ) throws(ExecutionErrors) {
        var values = JSONObject()
        var errors: [ExecutionError] = []
        var errorBytes = 0
        func add(
            _ message: String, about variable: PlannedVariable
        ) throws(ExecutionErrors) {
            var message = message
            let isTooMany = errors.count >= Self.errorLimit || errorBytes >= Self.errorBytes
            if isTooMany { message = Self.tooMany }
            errorBytes += message.utf8.count
            errors.append(
                ExecutionError(message, code: .badUserInput, locations: [variable.location]))
            if isTooMany { throw ExecutionErrors(errors: errors) }
        }
        for variable in variables {
            guard let value = given[variable.name] else {
                if let fallback = variable.defaultValue {
                    values[variable.name] = fallback
                } else if variable.type.isNonNull {
                    try add(
                        """
                        Variable "$\(variable.name)" of required type \
                        "\(schema.print(variable.type))" was not provided.
                        """, about: variable)
                }
                continue
            }
            if value == .null, variable.type.isNonNull {
                try add(
                    """
                    Variable "$\(variable.name)" of non-null type \
                    "\(schema.print(variable.type))" must not be null.
                    """, about: variable)
                continue
            }
            var coercion = InputCoercion(schema: schema, failureLimit: Self.errorLimit + 1)
            values[variable.name] = coercion.coerce(value, variable.type)
            for failure in coercion.failures {
                let place =
                    failure.path.isEmpty
                    ? "" : " at \"\(variable.name)\(failure.path.joined())\""
                try add(
                    """
                    Variable "$\(variable.name)" got invalid value \
                    \(failure.value.described)\(place); \(failure.message)
                    """, about: variable)
            }
        }
        guard errors.isEmpty else { throw ExecutionErrors(errors: errors) }
        self.init(values: values)
    }
}

/// Several errors at once: what is wrong before anything is executed.
package struct ExecutionErrors: Error, Hashable, Sendable {
    package let errors: [ExecutionError]

    package init(errors: [ExecutionError]) { self.errors = errors }
}

/// Coerces JSON to input types (GraphQL §3.5 to §3.12, input coercion), collecting errors up to a limit.
struct InputCoercion {
    struct Failure {
        /// `.name` and `[index]`, from the outside in.
        let path: [String]
        let value: JSONValue
        let message: String
    }

    let schema: Schema
    let failureLimit: Int
    private(set) var failures: [Failure] = []
    private var path: [String] = []

    init(schema: Schema, failureLimit: Int) {
        self.schema = schema
        self.failureLimit = failureLimit
    }

    /// Nothing more is checked.
    private var isOver: Bool { failures.count >= failureLimit }

    /// The coerced value; meaningless once there are failures.
    mutating func coerce(_ value: JSONValue, _ type: WrappedType) -> JSONValue {
        switch type {
        case .nonNull(let inner):
            if value == .null {
                fail(value, "Expected non-nullable type \"\(schema.print(type))\" not to be null.")
                return .null
            }
            return coerce(value, inner)
        case _ where value == .null:
            return .null
        case .list(let item):
            guard case .array(let elements) = value else {
                return .array([coerce(value, item)])  // one value becomes a list of one
            }
            var coerced: [JSONValue] = []
            for (index, element) in elements.enumerated() {
                if isOver { break }
                path.append("[\(index)]")
                coerced.append(coerce(element, item))
                path.removeLast()
            }
            return .array(coerced)
        case .named(let id):
            let type = schema[id]
            switch type.kind {
            case .inputObject: return coerceObject(value, type)
            case .enum: return coerceEnum(value, type)
            default: return coerceScalar(value, type)
            }
        }
    }

    private mutating func coerceObject(_ value: JSONValue, _ type: NamedType) -> JSONValue {
        guard case .object(let object) = value else {
            fail(value, "Expected type \"\(type.name)\" to be an object.")
            return .null
        }
        var coerced = JSONObject()
        for field in type.inputFields {
            if isOver { return .null }
            guard let given = object[field.name] else {
                if let fallback = field.defaultValue {
                    coerced[field.name] = Literal.constant(fallback, field.type, in: schema)
                } else if field.type.isNonNull {
                    fail(
                        value,
                        """
                        Field "\(field.name)" of required type "\(schema.print(field.type))" was \
                        not provided.
                        """)
                }
                continue
            }
            path.append(".\(field.name)")
            coerced[field.name] = coerce(given, field.type)
            path.removeLast()
        }
        for (key, _) in object where type.inputField(key) == nil {
            if isOver { return .null }
            let near = didYouMean(suggestions(for: key, among: type.inputFields.map(\.name)))
            fail(
                value, "Field \"\(key.shortened)\" is not defined by type \"\(type.name)\".\(near)")
        }
        if type.isOneOf {
            if object.count != 1 {
                fail(
                    value, "Exactly one key must be specified for OneOf type \"\(type.name)\".")
            } else if let (key, only) = object.members.first, only == .null {
                path.append(".\(key)")
                fail(only, "Field \"\(key.shortened)\" must be non-null.")
                path.removeLast()
            }
        }
        return .object(coerced)
    }

    private mutating func coerceEnum(_ value: JSONValue, _ type: NamedType) -> JSONValue {
        guard case .string(let name) = value else {
            fail(
                value,
                "Enum \"\(type.name)\" cannot represent non-string value: \(value.described).")
            return .null
        }
        guard type.value(name) != nil else {
            let near = didYouMean(
                suggestions(for: name, among: type.values.map(\.name)), "the enum value")
            fail(
                value, "Value \"\(name.shortened)\" does not exist in \"\(type.name)\" enum.\(near)"
            )
            return .null
        }
        return value
    }

    private mutating func coerceScalar(_ value: JSONValue, _ type: NamedType) -> JSONValue {
        switch Scalars.coerceInput(value, type.name) {
        case .success(let coerced): return coerced
        case .failure(let mismatch):
            fail(value, mismatch.message)
            return .null
        }
    }

    private mutating func fail(_ value: JSONValue, _ message: String) {
        failures.append(Failure(path: path, value: value, message: message))
    }
}
