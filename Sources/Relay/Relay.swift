// The client runtime. Nodes, variables, record proxies and the store are of rooms below; a file that imports
// Relay sees what is public of them too.

@_exported public import RelayArtifacts
@_exported public import RelayStore

/// Marks a GraphQL document in Swift sources for the compiler, which makes types of it.
///
///     private let mutation = graphql("""
///     mutation ChangeTodoStatusMutation($input: ChangeTodoStatusInput!) {
///       changeTodoStatus(input: $input) { todo { id complete } }
///     }
///     """)
///
/// At run time it does nothing.
public func graphql(_ query: String) -> TaggedGraphQLQuery { TaggedGraphQLQuery() }

/// What ``graphql(_:)`` gives: a mark, and no value.
public struct TaggedGraphQLQuery: Sendable {
    init() {}
}
