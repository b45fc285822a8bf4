import Relay

private let query = graphql(
    """
    query PokemonDetailQuery($id: String, $pictures: Boolean! = false) {
      pokemon(id: $id) {
        id
        ...PokemonInfo_pokemon
        ...PokemonTypes_pokemon
        ...PokemonAttacks_pokemon
        ...PokemonEvolutions_pokemon @arguments(pictures: $pictures)
      }
    }
    """)
