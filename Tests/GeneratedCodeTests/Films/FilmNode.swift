import Relay

private let query = graphql(
    """
    query FilmNodeQuery($id: ID!) {
      node(id: $id) {
        id
        ... on Film {
          number
          title
          director
          released
          characters(first: 3) { edges { node { id name } } }
        }
      }
    }
    """)
