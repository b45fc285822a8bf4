// The client runtime. Nodes, variables, record proxies and the store are in rooms below; a file that imports
// Relay also sees what is public in them.

@_exported public import RelayArtifacts
@_exported public import RelayStore

/// Marks a GraphQL document in Swift sources for the compiler, which generates types from it.
///
///     private let mutation = graphql("""
///     mutation ChangeTodoStatusMutation($input: ChangeTodoStatusInput!) {
///       changeTodoStatus(input: $input) { todo { id complete } }
///     }
///     """)
///
/// At run time it does nothing.
public func graphql(_ query: String) -> TaggedGraphQLQuery { TaggedGraphQLQuery() }

/// The result of ``graphql(_:)``: a mark without a value.
public struct TaggedGraphQLQuery: Sendable {
    init() {}
}
