import Relay

private let pokemonFragment = graphql(
    """
    fragment PokemonEvolutions_pokemon on Pokemon
      @argumentDefinitions(pictures: {type: "Boolean!", defaultValue: false}) {
      evolutionCost { name amount }
      evolutions {
        id
        name
        picture @include(if: $pictures)
        evolutions { id ...PokemonListRow_pokemon picture @include(if: $pictures) evolutions { id } }
      }
    }
    """)
