import Relay

private let pokemonFragment = graphql(
    """
    fragment PokemonListRow_pokemon on Pokemon { name number }
    """)

/// A Pokémon in a list.
struct PokemonListRow {
    let pokemon: PokemonListRow_pokemon
    let environment: Environment

    var text: String? {
        environment.lookup(pokemon).data.map { "\($0.number ?? "???") \($0.name ?? "Unknown")" }
    }
}
