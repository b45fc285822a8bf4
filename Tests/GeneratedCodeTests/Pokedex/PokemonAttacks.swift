import Relay

private let pokemonFragment = graphql(
    """
    fragment PokemonAttacks_pokemon on Pokemon {
      attacks { fast { ...PokemonAttacks_attacks } special { ...PokemonAttacks_attacks } }
    }
    """)

private let attacksFragment = graphql(
    """
    fragment PokemonAttacks_attacks on Attack @relay(plural: true) { name type damage }
    """)

/// What a Pokémon can do to others.
struct PokemonAttacks {
    let pokemon: PokemonAttacks_pokemon
    let environment: Environment

    var fast: [String] {
        let attacks = environment.lookup(pokemon).data?.attacks?.fast ?? []
        return text(attacks.compactMap(\.self).asFragments())
    }

    var special: [String] {
        let attacks = environment.lookup(pokemon).data?.attacks?.special ?? []
        return text(attacks.compactMap(\.self).asFragments())
    }

    private func text(_ attacks: [PokemonAttacks_attacks]) -> [String] {
        attacks.compactMap { environment.lookup($0).data }.map { attack in
            "\(attack.name ?? "?") (\(attack.type ?? "?")) \(attack.damage.map(String.init) ?? "–")"
        }
    }
}
