import Relay

private let filmFragment = graphql(
    """
    fragment FilmInfo_film on Film @refetchable(queryName: "FilmInfoRefetchQuery") {
      id
      number
      title
      director
      producers
      released
      stars
    }
    """)
