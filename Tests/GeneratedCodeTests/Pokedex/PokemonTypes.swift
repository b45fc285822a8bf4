import Relay

private let pokemonFragment = graphql(
    """
    fragment PokemonTypes_pokemon on Pokemon { types resistances weaknesses }
    """)
