import Relay

private let query = graphql(
    """
    query FilmsShelfQuery($count: Int = 2) { ...FilmsShelf_films @arguments(count: $count) }
    """)

private let filmsFragment = graphql(
    """
    fragment FilmsShelf_films on Root
      @argumentDefinitions(count: {type: "Int", defaultValue: 3}, cursor: {type: "String"})
      @refetchable(queryName: "FilmsShelfPaginationQuery") {
      allFilms(first: $count, after: $cursor) @connection(key: "FilmsShelf_allFilms") {
        edges { node { id ...FilmsShelf_film } }
      }
    }
    """)

private let filmFragment = graphql(
    """
    fragment FilmsShelf_film on Film { id title stars }
    """)

/// The same films as ``FilmsList`` shows, paged on its own: how many at first is up to the query.
struct FilmsShelf {
    let films: FilmsShelf_films
    let environment: Environment

    var titles: [String?] {
        (environment.lookup(films).data?.allFilms?.edges ?? []).compactMap { $0?.node }.map {
            environment.lookup(FilmsShelf_film(key: $0)).data?.title
        }
    }
}
