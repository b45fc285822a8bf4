import GraphQLLanguage

/// Relay's own directives: they control compilation and are not sent to the server.
enum RelayDirectives {
    static let arguments = "arguments"
    static let argumentDefinitions = "argumentDefinitions"
    /// Keeps the types of leaves with the operation, for mocks.
    static let testOperation = "relay_test_operation"
    /// Asks for a type of expected answers, which every mutation has.
    static let rawResponseType = "raw_response_type"

    /// Those that pass a field of a payload to a handler.
    static let handles: Set<String> = [
        "appendNode", "prependNode", "appendEdge", "prependEdge", "deleteEdge", "deleteRecord",
    ]

    static let names: Set<String> = handles.union([
        arguments, argumentDefinitions, rawResponseType, testOperation, "alias", "catch",
        "connection", "inline", "refetchable", "relay", "required", "throwOnFieldError",
    ])

    /// The id of a record as the client knows it: can be selected anywhere, read only.
    static let recordIDField = "__id"

    /// `@arguments` and `@argumentDefinitions` have the arguments that fragments declare.
    static let definitions = Source(
        """
        directive @arguments on FRAGMENT_SPREAD
        directive @argumentDefinitions on FRAGMENT_DEFINITION

        directive @connection(key: String!, filters: [String!]) on FIELD
        directive @refetchable(queryName: String!) on FRAGMENT_DEFINITION
        directive @appendNode(connections: [ID!]!, edgeTypeName: String!) on FIELD
        directive @prependNode(connections: [ID!]!, edgeTypeName: String!) on FIELD
        directive @appendEdge(connections: [ID!]!) on FIELD
        directive @prependEdge(connections: [ID!]!) on FIELD
        directive @deleteEdge(connections: [ID!]!) on FIELD
        directive @deleteRecord on FIELD

        enum RequiredFieldAction { NONE LOG THROW }
        directive @required(action: RequiredFieldAction!) on FIELD
        enum CatchFieldTo { RESULT NULL }
        directive @catch(to: CatchFieldTo! = RESULT) on FIELD | FRAGMENT_DEFINITION | QUERY | MUTATION | SUBSCRIPTION
        directive @throwOnFieldError on FRAGMENT_DEFINITION | QUERY | MUTATION | SUBSCRIPTION

        directive @alias(as: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
        directive @inline on FRAGMENT_DEFINITION
        directive @relay(plural: Boolean! = false, mask: Boolean! = true) on FRAGMENT_DEFINITION | FRAGMENT_SPREAD
        directive @raw_response_type on QUERY | MUTATION | SUBSCRIPTION
        directive @relay_test_operation on QUERY | MUTATION | SUBSCRIPTION
        """, name: "Relay's directives")
}
