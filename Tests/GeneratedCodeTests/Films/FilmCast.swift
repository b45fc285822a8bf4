import Relay

private let filmFragment = graphql(
    """
    fragment FilmCast_film on Film
      @argumentDefinitions(count: {type: "Int", defaultValue: 5}, cursor: {type: "String"})
      @refetchable(queryName: "FilmCastPaginationQuery") {
      characters(first: $count, after: $cursor) @connection(key: "FilmCast_characters") {
        totalCount
        edges { node { id ...FilmCast_person } }
      }
    }
    """)

private let personFragment = graphql(
    """
    fragment FilmCast_person on Person { name height homeworld { name } species { name } }
    """)

/// Who plays a part in a film, as far as they are loaded.
struct FilmCast {
    let film: FilmCast_film
    let environment: Environment

    /// How many there are, loaded or not.
    var count: Int? { environment.lookup(film).data?.characters?.totalCount }

    var people: [FilmCast_person.Data] {
        (environment.lookup(film).data?.characters?.edges ?? []).compactMap { $0?.node }
            .compactMap { environment.lookup($0.asFragment()).data }
    }
}
