import Relay

private let mutation = graphql(
    """
    mutation RateFilmMutation($input: RateFilmInput!) { rateFilm(input: $input) { film { id stars } } }
    """)

extension Mutation.Mutator where Operation == RateFilmMutation {
    /// Shows the stars at once; they go again if the server refuses them.
    func commit(
        id: String, stars: Int,
        completion: @escaping (Result<RateFilmMutation.Data?, any Error>) -> Void
    ) {
        commit(
            variables: .init(input: .init(id: id, stars: stars)),
            optimisticResponse: .init(rateFilm: .init(film: .init(id: id, stars: stars))),
            completion: completion)
    }
}
