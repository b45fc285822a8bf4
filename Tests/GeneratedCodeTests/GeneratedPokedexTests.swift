import BoundedTesting
import Foundation
import Relay
import Testing

/// The generated Pokédex client, at work: lists of scalars, objects without ids, the same object at several depths, and
/// fragments with arguments.
@Suite(.bounded, .timeLimit(.minutes(10))) struct GeneratedPokedexTests {
    private let environment = MockEnvironment()

    private static let sprout =
        #""__typename": "Pokemon", "id": "a", "name": "Sprout", "number": "001""#
    private static let bush =
        #""__typename": "Pokemon", "id": "b", "name": "Bush", "number": "002""#
    private static let forest =
        #""__typename": "Pokemon", "id": "c", "name": "Forest", "number": null"#

    // MARK: The list

    @Test func theListIsReadThroughItsRows() async throws {
        environment.mockResponse(
            PokemonListQuery(),
            #"{"data": {"pokemons": [{\#(Self.sprout)}, null, {\#(Self.forest)}]}}"#)
        let data = try #require(try await environment.fetch(PokemonListQuery()).data?.pokemons)
        #expect(data.map { $0?.id } == ["a", nil, "c"] && data[0]?.__typename == "Pokemon")
        #expect(data[2]?.name == "Forest")
        let rows = try await PokemonList(environment: environment).open()
        #expect(rows.map { $0?.text } == ["001 Sprout", nil, "??? Forest"])
    }

    /// A query may be a field of itself.
    @Test func theQueryIsReadInItself() async throws {
        let query = try await whole()
        let pokemons = (query.pokemons ?? []).compactMap(\.self)
        #expect(pokemons.map(\.id) == ["b", "c"] && query.again?.__typename == "Query")
        #expect(environment.lookup(PokemonListRow_pokemon(key: pokemons[0])).data?.number == "002")
    }

    private func whole() async throws -> PokemonWholeQuery.Data.Query_query {
        let rest = #""evolutionCost": null, "evolutions""#
        environment.mockResponse(
            PokemonWholeQuery(first: 2),
            """
            {"data": {"query": {"again": {"__typename": "Query"}, "pokemons": [
              {\(Self.bush), \(rest): [{\(Self.forest), "evolutions": null}]}, {\(Self.forest), \(rest): null}]}}}
            """)
        return try #require(try await environment.fetch(PokemonWholeQuery(first: 2)).data?.query)
    }

    // MARK: The detail

    /// The detail of Sprout, which becomes Bush and then Forest.
    private func detail(
        pictures: Bool? = nil
    ) async throws -> PokemonDetailQuery.Data.Pokemon_pokemon {
        let query = PokemonDetailQuery(id: "a", pictures: pictures)
        let picture = { (name: String) in
            pictures == true ? #", "picture": "\#(name).png""# : ""
        }
        environment.mockResponse(
            query,
            """
            {"data": {"pokemon": {
              \(Self.sprout), "classification": "Seedling", "fleeRate": 0.1, "maxHP": 1071,
              "weight": {"minimum": "6.04kg", "maximum": "7.76kg"}, "height": {"minimum": "0.61m", "maximum": null},
              "types": ["Grass", "Poison"], "resistances": ["Water", null], "weaknesses": null,
              "attacks": {
                "fast": [{"name": "Whip", "type": "Grass", "damage": 7}, {"name": "Tackle", "type": null, "damage": null}],
                "special": [{"name": "Bloom", "type": "Grass", "damage": 65}, null]},
              "evolutionCost": {"name": "Seeds", "amount": 25},
              "evolutions": [
                {\(Self.bush)\(picture("b")), "evolutions": [{\(Self.forest)\(picture("c")), "evolutions": null}]},
                {\(Self.forest)\(picture("c")), "evolutions": null}]
            }}}
            """)
        return try #require(try await environment.fetch(query).data?.pokemon)
    }

    @Test func objectsWithoutIDsAreReadInTheirPlaces() async throws {
        let pokemon = try await detail()
        let info = try #require(environment.lookup(PokemonInfo_pokemon(key: pokemon)).data)
        #expect(pokemon.id == "a" && info.name == "Sprout" && info.number == "001")
        #expect(info.classification == "Seedling" && info.fleeRate == 0.1 && info.maxHP == 1071)
        #expect(info.weight?.minimum == "6.04kg" && info.weight?.maximum == "7.76kg")
        #expect(info.height?.minimum == "0.61m" && info.height?.maximum == nil)
    }

    @Test func listsOfScalarsMayHaveNulls() async throws {
        let key = PokemonTypes_pokemon(key: try await detail())
        let types = try #require(environment.lookup(key).data)
        #expect(types.types == ["Grass", "Poison"] && types.resistances == ["Water", nil])
        #expect(types.weaknesses == nil)
    }

    @Test func aPluralFragmentIsReadFromEachElement() async throws {
        let attacks = PokemonAttacks(
            pokemon: try await detail().asFragment(), environment: environment)
        #expect(attacks.fast == ["Whip (Grass) 7", "Tackle (?) –"])
        #expect(attacks.special == ["Bloom (Grass) 65"])
    }

    @Test func whatAnObjectBecomesIsReadAtEveryDepth() async throws {
        let key = PokemonEvolutions_pokemon(key: try await detail())
        let data = try #require(environment.lookup(key).data)
        #expect(data.evolutionCost?.name == "Seeds" && data.evolutionCost?.amount == 25)
        let next = (data.evolutions ?? []).compactMap(\.self)
        #expect(next.map(\.name) == ["Bush", "Forest"] && next.map(\.id) == ["b", "c"])
        let last = try #require(next[0].evolutions?.first ?? nil)
        #expect(environment.lookup(last.asFragment()).data?.name == "Forest")
        #expect(last.id == "c" && last.evolutions == nil && next[1].evolutions == nil)
        // The query's default is not to have them.
        #expect(next[0].picture == nil && last.picture == nil)
    }

    @Test func anArgumentSaysWhatAFragmentIncludes() async throws {
        let key = PokemonEvolutions_pokemon(key: try await detail(pictures: true))
        let next = try #require(environment.lookup(key).data?.evolutions)
        #expect(next.map { $0?.picture } == ["b.png", "c.png"])
        #expect(next[0]?.evolutions?.map { $0?.picture } == ["c.png"])
        let without = PokemonEvolutions_pokemon(key: try await detail(pictures: false))
        #expect(environment.lookup(without).data?.evolutions?.map { $0?.picture } == [nil, nil])
        // So is the fragment's, where a spread says nothing. The store still has the picture.
        let bush = try #require(try await whole().pokemons?.first ?? nil)
        let evolutions = environment.lookup(PokemonEvolutions_pokemon(key: bush)).data?.evolutions
        #expect(evolutions?.map { $0?.name } == ["Forest"])
        #expect(evolutions?.map { $0?.picture } == [nil])
    }

    // MARK: The search

    @Test func aSearchIsRepeatedForAnotherName() async throws {
        environment.mockResponse(
            PokemonSearchQuery(name: "Sprout"),
            """
            {"data": {"pokemon": {\(Self.sprout), "types": ["Grass"], "resistances": [], "weaknesses": ["Fire"]}}}
            """)
        environment.mockResponse(
            PokemonSearchRefetchQuery(name: "Bush"),
            """
            {"data": {"pokemon": {\(Self.bush), "types": ["Wood"], "resistances": null, "weaknesses": null}}}
            """)
        let data = try #require(
            try await environment.fetch(PokemonSearchQuery(name: "Sprout")).data)
        let first = PokemonSearch(found: data.asFragment(), environment: environment)
        #expect(first.id == "a" && first.types?.weaknesses == ["Fire"])
        #expect(first.types?.resistances == [])
        let second = try #require(try await first.again("Bush"))
        #expect(second.id == "b" && second.types?.types == ["Wood"])
        #expect(first.id == "a" && first.types?.types == ["Grass"])
    }
}
