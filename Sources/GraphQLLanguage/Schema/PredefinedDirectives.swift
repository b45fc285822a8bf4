/// The directives of the schema service, which a schema file uses without defining them. The service gives them their
/// meaning; the compiler reads the same files.
///
/// The text is that of docs/examples/directives.graphql; a test ensures that they match.
package enum PredefinedDirectives {
    package static let source = Source(text, name: "directives.graphql")

    package static let text = """
        # What the schema service predefines. A schema file uses these without defining them.
        scalar Constant # any constant literal
        enum Moment { CREATE UPDATE }
        enum AccessDefault { OPEN CLOSED }
        directive @unique on FIELD_DEFINITION
        directive @lookup on FIELD_DEFINITION
        directive @list(type: String!) on FIELD_DEFINITION
        directive @count(field: String!, where: Constant) on FIELD_DEFINITION
        directive @create(type: String!, into: String, parent: String) on FIELD_DEFINITION
        directive @update(type: String!, parent: String) on FIELD_DEFINITION
        directive @delete(type: String!, from: String, parent: String) on FIELD_DEFINITION
        directive @link(field: String!, parent: String!, child: String!) on FIELD_DEFINITION
        directive @unlink(field: String!, parent: String!, child: String!) on FIELD_DEFINITION
        directive @move(field: String!, parent: String!, child: String!, after: String!) on FIELD_DEFINITION
        directive @now(on: Moment! = CREATE) on FIELD_DEFINITION
        directive @on(mutations: [String!]!) on FIELD_DEFINITION
        directive @live on FIELD_DEFINITION | QUERY
        directive @access(read: Constant, create: Constant, update: Constant, delete: Constant, if: Constant, default: AccessDefault) on OBJECT | FIELD_DEFINITION | SCHEMA

        """
}
