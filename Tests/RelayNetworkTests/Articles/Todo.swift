import Relay

private let query = graphql(
    """
    query TodoQuery($id: ID!) { node(id: $id) { ... on Todo { id text complete } } }
    """)
