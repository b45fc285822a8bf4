// The syntax tree of type-system documents (GraphQL §3).
//
// A definition and its extension have the same parts, so one node represents both and `isExtension`
// distinguishes them.

/// `schema @directive { query: Query }` or `extend schema …` (GraphQL §3.3).
package final class SchemaDefinition: Sendable {
    package let isExtension: Bool
    package let description: StringLiteral?
    package let directives: [Directive]
    package let operationTypes: [OperationTypeDefinition]
    package let location: Int

    init(
        isExtension: Bool, description: StringLiteral?, directives: [Directive],
        operationTypes: [OperationTypeDefinition], location: Int
    ) {
        self.isExtension = isExtension
        self.description = description
        self.directives = directives
        self.operationTypes = operationTypes
        self.location = location
    }
}

/// `query: Query` in a schema definition.
package struct OperationTypeDefinition: Sendable {
    package let operation: OperationType
    package let type: Name
    package let location: Int
}

/// A type of any kind, or an extension of one (GraphQL §3.4).
package final class TypeDefinition: Sendable {
    package let isExtension: Bool
    package let description: StringLiteral?
    package let name: Name
    package let directives: [Directive]
    package let body: Body
    package let location: Int

    /// What the kinds of types do not share.
    package enum Body: Sendable {
        case scalar
        case object(interfaces: [Name], fields: [FieldDefinition])
        case interface(interfaces: [Name], fields: [FieldDefinition])
        case union(members: [Name])
        case `enum`(values: [EnumValueDefinition])
        case inputObject(fields: [InputValueDefinition])
    }

    init(
        isExtension: Bool, description: StringLiteral?, name: Name, directives: [Directive],
        body: Body, location: Int
    ) {
        self.isExtension = isExtension
        self.description = description
        self.name = name
        self.directives = directives
        self.body = body
        self.location = location
    }
}

/// `name(argument: Type): Type @directive` (GraphQL §3.6).
package struct FieldDefinition: Sendable {
    package let description: StringLiteral?
    package let name: Name
    package let arguments: [InputValueDefinition]
    package let type: TypeReference
    package let directives: [Directive]
    package let location: Int
}

/// An argument or an input field: `name: Type = default @directive` (GraphQL §3.6.1).
package struct InputValueDefinition: Sendable {
    package let description: StringLiteral?
    package let name: Name
    package let type: TypeReference
    package let defaultValue: Value?
    package let directives: [Directive]
    package let location: Int
}

/// One value of an enum (GraphQL §3.9).
package struct EnumValueDefinition: Sendable {
    package let description: StringLiteral?
    package let name: Name
    package let directives: [Directive]
    package let location: Int
}

/// `directive @name(argument: Type) repeatable on FIELD | QUERY` (GraphQL §3.13).
package final class DirectiveDefinition: Sendable {
    package let description: StringLiteral?
    package let name: Name
    package let arguments: [InputValueDefinition]
    package let isRepeatable: Bool
    package let locations: [DirectiveLocation]
    package let location: Int

    init(
        description: StringLiteral?, name: Name, arguments: [InputValueDefinition],
        isRepeatable: Bool, locations: [DirectiveLocation], location: Int
    ) {
        self.description = description
        self.name = name
        self.arguments = arguments
        self.isRepeatable = isRepeatable
        self.locations = locations
        self.location = location
    }
}

/// Where a directive is allowed (GraphQL §3.13).
package enum DirectiveLocation: String, Sendable, CaseIterable {
    case query = "QUERY"
    case mutation = "MUTATION"
    case subscription = "SUBSCRIPTION"
    case field = "FIELD"
    case fragmentDefinition = "FRAGMENT_DEFINITION"
    case fragmentSpread = "FRAGMENT_SPREAD"
    case inlineFragment = "INLINE_FRAGMENT"
    case variableDefinition = "VARIABLE_DEFINITION"
    case schema = "SCHEMA"
    case scalar = "SCALAR"
    case object = "OBJECT"
    case fieldDefinition = "FIELD_DEFINITION"
    case argumentDefinition = "ARGUMENT_DEFINITION"
    case interface = "INTERFACE"
    case union = "UNION"
    case `enum` = "ENUM"
    case enumValue = "ENUM_VALUE"
    case inputObject = "INPUT_OBJECT"
    case inputFieldDefinition = "INPUT_FIELD_DEFINITION"
}
