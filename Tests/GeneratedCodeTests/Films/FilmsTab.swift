import Relay

private let query = graphql(
    """
    query FilmsTabQuery { ...FilmsList_films }
    """)

/// Opens the list of all films.
struct FilmsTab {
    let environment: Environment

    func open() async throws -> FilmsList? {
        try await environment.fetch(FilmsTabQuery()).data.map {
            FilmsList(films: $0.asFragment(), environment: environment)
        }
    }
}
