/// The value of an introspection field (GraphQL §4): a leaf, a list, or an object whose fields can
/// be queried in turn.
///
/// An executor starts with `Schema.introspect(type:)` or `.object(.schema)` for the meta-fields
/// `__type` and `__schema`, and continues with `Schema.introspect(_:of:includeDeprecated:)` for the
/// selections below. An object's `__typename` is its `typeName`.
package enum IntrospectionValue: Sendable {
    case null
    case boolean(Bool)
    /// A String, or a value of an enum.
    case string(String)
    case list([IntrospectionObject])
    /// A list of enum values.
    case names([String])
    case object(IntrospectionObject)
}

/// An object of the introspection system.
package enum IntrospectionObject: Sendable {
    case schema
    case type(WrappedType)
    case field(SchemaField)
    case inputValue(SchemaInputValue)
    case enumValue(SchemaEnumValue)
    case directive(SchemaDirective)

    /// The name of its type.
    package var typeName: String {
        switch self {
        case .schema: "__Schema"
        case .type: "__Type"
        case .field: "__Field"
        case .inputValue: "__InputValue"
        case .enumValue: "__EnumValue"
        case .directive: "__Directive"
        }
    }
}

extension Schema {
    /// The value of the meta-field `__type(name:)`; null for an unknown or hidden type.
    package func introspect(type name: String) -> IntrospectionValue {
        guard let type = type(named: name), !isHidden(type.id) else { return .null }
        return .object(.type(.named(type.id)))
    }

    /// The value of a field of an introspection object.
    ///
    /// - Parameter includeDeprecated: the argument of that name, if the field has it.
    /// - Returns: null also for a name that is not a field of the object.
    package func introspect(
        _ field: String, of object: IntrospectionObject, includeDeprecated: Bool = false
    ) -> IntrospectionValue {
        switch object {
        case .schema: introspectSchema(field)
        case .type(.named(let id)): introspect(field, of: self[id], includeDeprecated)
        case .type(.list(let inner)): introspectWrapper(field, "LIST", inner)
        case .type(.nonNull(let inner)): introspectWrapper(field, "NON_NULL", inner)
        case .field(let definition): introspect(field, of: definition, includeDeprecated)
        case .inputValue(let definition): introspect(field, of: definition)
        case .enumValue(let definition): introspect(field, of: definition)
        case .directive(let definition): introspect(field, of: definition, includeDeprecated)
        }
    }

    // MARK: __Schema and __Directive

    private func introspectSchema(_ field: String) -> IntrospectionValue {
        switch field {
        case "description": .init(description)
        case "types": .init(types: types.filter { !isHidden($0.id) }.map(\.id))
        case "queryType": .init(type: queryType)
        case "mutationType": .init(type: mutationType)
        case "subscriptionType": .init(type: subscriptionType)
        case "directives":
            .list(directiveDefinitions.filter { !$0.isHidden }.map { .directive($0) })
        default: .null
        }
    }

    private func introspect(
        _ field: String, of directive: SchemaDirective, _ includeDeprecated: Bool
    ) -> IntrospectionValue {
        switch field {
        case "name": .string(directive.name)
        case "description": .init(directive.description)
        case "isRepeatable": .boolean(directive.isRepeatable)
        case "locations": .names(directive.locations.map(\.rawValue))
        case "args": .init(directive.arguments, includeDeprecated)
        default: .null
        }
    }

    // MARK: __Type

    private func introspect(
        _ field: String, of type: NamedType, _ includeDeprecated: Bool
    ) -> IntrospectionValue {
        switch (field, type.kind) {
        case ("kind", _): .string(type.kind.rawValue)
        case ("name", _): .string(type.name)
        case ("description", _): .init(type.description)
        case ("specifiedByURL", .scalar): .init(type.specifiedByURL)
        case ("fields", .object), ("fields", .interface):
            .list(
                type.fields.filter { includeDeprecated || $0.deprecationReason == nil }
                    .map { .field($0) })
        case ("interfaces", .object), ("interfaces", .interface): .init(types: type.interfaces)
        case ("possibleTypes", .interface), ("possibleTypes", .union):
            .init(types: possibleTypes(of: type.id))
        case ("enumValues", .enum):
            .list(
                type.values.filter { includeDeprecated || $0.deprecationReason == nil }
                    .map { .enumValue($0) })
        case ("inputFields", .inputObject): .init(type.inputFields, includeDeprecated)
        case ("isOneOf", .inputObject): .boolean(type.isOneOf)
        default: .null
        }
    }

    private func introspectWrapper(
        _ field: String, _ kind: String, _ inner: WrappedType
    ) -> IntrospectionValue {
        switch field {
        case "kind": .string(kind)
        case "ofType": .object(.type(inner))
        default: .null
        }
    }

    // MARK: Members of types

    private func introspect(
        _ field: String, of definition: SchemaField, _ includeDeprecated: Bool
    ) -> IntrospectionValue {
        switch field {
        case "name": .string(definition.name)
        case "description": .init(definition.description)
        case "args": .init(definition.arguments, includeDeprecated)
        case "type": .object(.type(definition.type))
        case "isDeprecated": .boolean(definition.deprecationReason != nil)
        case "deprecationReason": .init(definition.deprecationReason)
        default: .null
        }
    }

    private func introspect(
        _ field: String, of definition: SchemaInputValue
    ) -> IntrospectionValue {
        switch field {
        case "name": .string(definition.name)
        case "description": .init(definition.description)
        case "type": .object(.type(definition.type))
        case "defaultValue": .init(definition.defaultValue?.printed())
        case "isDeprecated": .boolean(definition.deprecationReason != nil)
        case "deprecationReason": .init(definition.deprecationReason)
        default: .null
        }
    }

    private func introspect(
        _ field: String, of definition: SchemaEnumValue
    ) -> IntrospectionValue {
        switch field {
        case "name": .string(definition.name)
        case "description": .init(definition.description)
        case "isDeprecated": .boolean(definition.deprecationReason != nil)
        case "deprecationReason": .init(definition.deprecationReason)
        default: .null
        }
    }
}

extension IntrospectionValue {
    fileprivate init(_ text: String?) {
        self = text.map { .string($0) } ?? .null
    }

    fileprivate init(type: TypeID?) {
        self = type.map { .object(.type(.named($0))) } ?? .null
    }

    fileprivate init(types: [TypeID]) {
        self = .list(types.map { .type(.named($0)) })
    }

    fileprivate init(_ inputs: [SchemaInputValue], _ includeDeprecated: Bool) {
        self = .list(
            inputs.filter { includeDeprecated || $0.deprecationReason == nil }
                .map { .inputValue($0) })
    }
}
