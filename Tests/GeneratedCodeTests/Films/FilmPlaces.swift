import Relay

private let filmFragment = graphql(
    """
    fragment FilmPlaces_film on Film @argumentDefinitions(most: {type: "Int", defaultValue: 10}) {
      planets(first: $most) { totalCount planets { id name climates population } }
      species(first: $most) { edges { node { name homeworld { id name } } } }
    }
    """)
