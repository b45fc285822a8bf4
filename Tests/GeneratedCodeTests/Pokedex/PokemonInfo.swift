import Relay

private let pokemonFragment = graphql(
    """
    fragment PokemonInfo_pokemon on Pokemon {
      name
      number
      classification
      weight { minimum maximum }
      height { minimum maximum }
      fleeRate
      maxHP
    }
    """)
