import Relay

private let query = graphql(
    """
    query PokemonListQuery {
      pokemons(first: 50) { __typename id name ...PokemonListRow_pokemon }
    }
    """)

/// Everything that the Pokédex has.
struct PokemonList {
    let environment: Environment

    /// nil for what the server has lost.
    func open() async throws -> [PokemonListRow?] {
        (try await environment.fetch(PokemonListQuery()).data?.pokemons ?? []).map { pokemon in
            pokemon.map { PokemonListRow(pokemon: $0.asFragment(), environment: environment) }
        }
    }
}
