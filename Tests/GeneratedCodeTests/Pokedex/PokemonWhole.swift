import Relay

private let query = graphql(
    """
    query PokemonWholeQuery($first: Int!) {
      query {
        pokemons(first: $first) { id ...PokemonListRow_pokemon ...PokemonEvolutions_pokemon }
        again: query { __typename }
      }
    }
    """)
