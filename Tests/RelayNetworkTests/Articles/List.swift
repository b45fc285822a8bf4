import Relay

private let query = graphql(
    """
    query ListQuery($id: ID = "me") @relay_test_operation { user(id: $id) { id ...List_user } }
    """)

private let fragment = graphql(
    """
    fragment List_user on User
      @refetchable(queryName: "ListPaginationQuery")
      @argumentDefinitions(count: {type: "Int", defaultValue: 10}, cursor: {type: "String"}) {
      todos(first: $count, after: $cursor) @connection(key: "List_todos") {
        __id
        edges { node { id ...Item_todo } }
      }
    }
    """)
