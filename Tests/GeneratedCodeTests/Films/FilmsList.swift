import Relay

private let filmsFragment = graphql(
    """
    fragment FilmsList_films on Root
      @argumentDefinitions(count: {type: "Int", defaultValue: 3}, cursor: {type: "String"})
      @refetchable(queryName: "FilmsListPaginationQuery") {
      allFilms(first: $count, after: $cursor) @connection(key: "FilmsList_allFilms") {
        __id
        edges { node { id ...FilmsListRow_film } }
      }
    }
    """)

/// A list that is loaded page by page.
struct FilmsList {
    let films: FilmsList_films
    let environment: Environment

    var connectionID: String? { environment.lookup(films).data?.allFilms?.__id }

    var rows: [FilmsListRow] {
        (environment.lookup(films).data?.allFilms?.edges ?? []).compactMap { $0?.node }.map {
            FilmsListRow(film: $0.asFragment(), environment: environment)
        }
    }
}
