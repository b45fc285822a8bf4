import Relay

private let query = graphql(
    """
    query FilmDetailQuery($id: ID!, $places: Int = 10) {
      film(id: $id) {
        ...FilmInfo_film
        ...FilmCast_film @arguments(count: 2)
        ...FilmPlaces_film @arguments(most: $places)
      }
    }
    """)
