import Relay

private let query = graphql(
    """
    query ShelfQuery($id: ID = "me") { user(id: $id) { id ...Shelf_user } }
    """)

private let fragment = graphql(
    """
    fragment Shelf_user on User
      @refetchable(queryName: "ShelfPaginationQuery")
      @argumentDefinitions(count: {type: "Int", defaultValue: 1}, cursor: {type: "String"}) {
      todos(first: $count, after: $cursor) @connection(key: "Shelf_todos") {
        edges { node { id text } }
      }
    }
    """)
