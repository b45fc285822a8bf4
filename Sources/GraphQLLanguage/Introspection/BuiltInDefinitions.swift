/// What every schema has implicitly: the scalars of GraphQL §3.5, the directives of §3.13 and the
/// introspection types of §4.2, written as documents.
enum BuiltInDefinitions {
    static let scalarNames: Set = ["String", "Int", "Float", "Boolean", "ID"]

    /// Not a type of any schema: holds the meta-fields of GraphQL §4.1 and §4.3.
    static let metaFieldsTypeName = "__MetaFields"

    static let text = #"""
        "Text, as a sequence of Unicode scalar values."
        scalar String
        "A signed 32-bit whole number."
        scalar Int
        "A finite IEEE 754 double-precision number."
        scalar Float
        "true or false."
        scalar Boolean
        "A unique identifier of an object. It is sent as text, and not meant for people to read."
        scalar ID

        "Skips this field or fragment when `if` is true."
        directive @skip("Whether to skip." if: Boolean!) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT
        "Includes this field or fragment only when `if` is true."
        directive @include("Whether to include." if: Boolean!) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT
        "Marks something that still exists but should no longer be used."
        directive @deprecated(
          "Why, and what to use instead, in Markdown."
          reason: String! = "No longer supported"
        ) on FIELD_DEFINITION | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION | ENUM_VALUE
        "Names the document that specifies the format of this scalar."
        directive @specifiedBy("The URL of that document." url: String!) on SCALAR
        "Requires exactly one field of this input object to be given, and not null."
        directive @oneOf on INPUT_OBJECT

        "What a server offers: its types, directives and root operation types."
        type __Schema {
          description: String
          "All types of the server."
          types: [__Type!]!
          "Where queries start."
          queryType: __Type!
          "Where mutations start, if there are any."
          mutationType: __Type
          "Where subscriptions start, if there are any."
          subscriptionType: __Type
          "All directives that the server supports."
          directives: [__Directive!]!
        }

        "A type of any kind; `kind` says which of the fields are not null."
        type __Type {
          kind: __TypeKind!
          name: String
          description: String
          specifiedByURL: String
          fields(includeDeprecated: Boolean! = false): [__Field!]
          interfaces: [__Type!]
          possibleTypes: [__Type!]
          enumValues(includeDeprecated: Boolean! = false): [__EnumValue!]
          inputFields(includeDeprecated: Boolean! = false): [__InputValue!]
          ofType: __Type
          isOneOf: Boolean
        }

        "The kinds of type."
        enum __TypeKind {
          "A leaf value."
          SCALAR
          "`fields` and `interfaces` say more."
          OBJECT
          "`fields`, `interfaces` and `possibleTypes` say more."
          INTERFACE
          "`possibleTypes` says more."
          UNION
          "`enumValues` says more."
          ENUM
          "`inputFields` says more."
          INPUT_OBJECT
          "`ofType` says what it is a list of."
          LIST
          "`ofType` says what is never null."
          NON_NULL
        }

        "A field of an object or interface type."
        type __Field {
          name: String!
          description: String
          args(includeDeprecated: Boolean! = false): [__InputValue!]!
          type: __Type!
          isDeprecated: Boolean!
          deprecationReason: String
        }

        "An argument of a field or directive, or a field of an input object."
        type __InputValue {
          name: String!
          description: String
          type: __Type!
          "The value used if none is given, written as in a document."
          defaultValue: String
          isDeprecated: Boolean!
          deprecationReason: String
        }

        "One value of an enum."
        type __EnumValue {
          name: String!
          description: String
          isDeprecated: Boolean!
          deprecationReason: String
        }

        "A directive and where it is allowed."
        type __Directive {
          name: String!
          description: String
          isRepeatable: Boolean!
          locations: [__DirectiveLocation!]!
          args(includeDeprecated: Boolean! = false): [__InputValue!]!
        }

        "The places where a directive is allowed."
        enum __DirectiveLocation {
          "On a query."
          QUERY
          "On a mutation."
          MUTATION
          "On a subscription."
          SUBSCRIPTION
          "On a field of a selection set."
          FIELD
          "On the definition of a fragment."
          FRAGMENT_DEFINITION
          "On the spread of a fragment."
          FRAGMENT_SPREAD
          "On an inline fragment."
          INLINE_FRAGMENT
          "On the definition of a variable."
          VARIABLE_DEFINITION
          "On the schema."
          SCHEMA
          "On a scalar."
          SCALAR
          "On an object type."
          OBJECT
          "On a field of an object or interface type."
          FIELD_DEFINITION
          "On an argument of a field or directive."
          ARGUMENT_DEFINITION
          "On an interface."
          INTERFACE
          "On a union."
          UNION
          "On an enum."
          ENUM
          "On a value of an enum."
          ENUM_VALUE
          "On an input object."
          INPUT_OBJECT
          "On a field of an input object."
          INPUT_FIELD_DEFINITION
        }

        type __MetaFields {
          "The name of the object's type."
          __typename: String!
          "The schema of this server."
          __schema: __Schema!
          "The type with this name."
          __type(name: String!): __Type
        }
        """#
}

extension BuiltInDefinitions {
    /// The definitions, parsed once for all schemas.
    static let document: Document = {
        do {
            return try Document(parsing: Source(text, name: "built-in definitions"))
        } catch {
            preconditionFailure("The built-in definitions do not parse: \(error)")
        }
    }()

    static let metaFields: TypeSystemDocument.Definition<TypeDefinition> = {
        for case .type(let type) in document.definitions
        where type.name.value == metaFieldsTypeName {
            return .init(node: type, origin: .builtIn)
        }
        preconditionFailure("The built-in definitions lack \(metaFieldsTypeName).")
    }()
}
