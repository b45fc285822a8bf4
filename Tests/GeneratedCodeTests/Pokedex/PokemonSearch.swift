import Relay

private let query = graphql(
    """
    query PokemonSearchQuery($name: String) { ...PokemonSearch_query @arguments(name: $name) }
    """)

private let queryFragment = graphql(
    """
    fragment PokemonSearch_query on Query
      @argumentDefinitions(name: {type: "String"})
      @refetchable(queryName: "PokemonSearchRefetchQuery") {
      pokemon(name: $name) { id name ...PokemonTypes_pokemon }
    }
    """)

/// Finds a Pokémon by its name, and then another.
struct PokemonSearch {
    let found: PokemonSearch_query
    let environment: Environment

    var id: String? { environment.lookup(found).data?.pokemon?.id }

    var types: PokemonTypes_pokemon.Data? {
        environment.lookup(found).data?.pokemon.flatMap { environment.lookup($0.asFragment()).data }
    }

    /// The search for another name, once it has been fetched.
    func again(_ name: String) async throws -> PokemonSearch? {
        try await environment.refetch(found, variables: ["name": name])
        let query = PokemonSearchRefetchQuery(name: name).createDescriptor()
        return environment.lookup(selector: query.fragment, as: PokemonSearchRefetchQuery.Data.self)
            .data.map { PokemonSearch(found: $0.asFragment(), environment: environment) }
    }
}
