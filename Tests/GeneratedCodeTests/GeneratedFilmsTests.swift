import BoundedTesting
import Foundation
import Relay
import Testing

/// The generated films client, at work: lists of the query type itself, of a node in a detail, and a mutation.
@Suite(.bounded, .timeLimit(.minutes(10))) struct GeneratedFilmsTests {
    private let environment = FilmServer.environment()

    private func ids(_ list: FilmsList) -> [String?] {
        (environment.lookup(list.films).data?.allFilms?.edges ?? []).map { $0?.node?.id }
    }

    // MARK: Lists

    @Test func aListIsReadThroughItsFragments() async throws {
        let list = try #require(try await FilmsTab(environment: environment).open())
        #expect(
            list.rows.map(\.text) == [
                "1. Film 1, D. Rector, 1971", "2. Film 2, ?, 1972", "3. Film 3, D. Rector, 1973",
            ])
        #expect(list.connectionID == "client:root:__FilmsList_allFilms_connection")
        let row = try #require(list.rows.last)
        let film = try #require(environment.lookup(row.film).data)
        #expect(film.id == "f3" && film.number == 3 && film.released == "1973-05-25")
    }

    @Test func theNextPagesAreAddedToTheList() async throws {
        let list = try #require(try await FilmsTab(environment: environment).open())
        let pages = PaginationResource(list.films, environment: environment)
        #expect(FilmsList_films.metadata.path.isEmpty && pages.hasNext)
        try await pages.loadNext(1)
        #expect(ids(list) == ["f1", "f2", "f3", "f4"] && pages.hasNext)
        try await pages.loadNext(3)
        #expect(ids(list) == ["f1", "f2", "f3", "f4", "f5"] && !pages.hasNext)
        #expect(list.rows.last?.text == "5. Film 5, D. Rector, 1975")
        try await pages.refetch(variables: ["count": 2])
        #expect(ids(list) == ["f1", "f2"] && pages.hasNext)
    }

    @Test func aSecondListOfTheSameFieldIsPagedOnItsOwn() async throws {
        let list = try #require(try await FilmsTab(environment: environment).open())
        for count in [nil, 4] {
            let data = try #require(try await environment.fetch(FilmsShelfQuery(count: count)).data)
            let shelf = FilmsShelf(films: data.asFragment(), environment: environment)
            #expect(shelf.titles == (1...(count ?? 2)).map { "Film \($0)" })
            let pages = PaginationResource(shelf.films, environment: environment)
            try await pages.loadNext(1)
            #expect(shelf.titles == (1...(count ?? 2) + 1).map { "Film \($0)" })
            #expect(pages.hasNext == (count == nil))
        }
        #expect(ids(list) == ["f1", "f2", "f3"])
    }

    @Test func argumentsOfFragmentsAreInTheText() throws {
        let list = try #require(FilmsTabQuery.node.params.text)
        #expect(list.contains("allFilms(first: 3) {"))
        let shelf = try #require(FilmsShelfQuery.node.params.text)
        #expect(shelf.contains("allFilms(first: $count) {"))
        let detail = try #require(FilmDetailQuery.node.params.text)
        #expect(detail.contains("characters(first: 2) {"))
        #expect(detail.contains("planets(first: $places) {"))
    }

    // MARK: One film

    private func detail(_ id: String) async throws -> FilmDetailQuery.Data.Film_film {
        try #require(try await environment.fetch(FilmDetailQuery(id: id, places: 5)).data?.film)
    }

    @Test func aFragmentIsFetchedAgain() async throws {
        let info = FilmInfo_film(key: try await detail("f2"))
        let first = try #require(environment.lookup(info).data)
        #expect(first.id == "f2" && first.number == 2 && first.title == "Film 2")
        #expect(first.director == nil && first.stars == nil && first.producers == ["A", nil, "B"])
        #expect(FilmInfo_film.metadata.path == ["node"] && first.released == "1972-05-25")
        #expect(try await environment.refetch(info).isEmpty)
        #expect(environment.lookup(info).data?.stars == 5)
    }

    @Test func theCastOfAFilmIsPaged() async throws {
        let film = try await detail("f1")
        let cast = FilmCast(film: film.asFragment(), environment: environment)
        #expect(cast.count == 7 && cast.people.map(\.name) == ["Person 1", "Person 2"])
        #expect(cast.people[0].homeworld?.name == "Lagoon" && cast.people[0].height == 151)
        #expect(cast.people[0].species?.name == "Otter")
        #expect(cast.people[1].homeworld == nil && cast.people[1].species == nil)
        let pages = PaginationResource(cast.film, environment: environment)
        try await pages.loadNext(3)
        #expect(cast.people.count == 5 && cast.people.last?.name == "Person 5" && pages.hasNext)
        while pages.hasNext { try await pages.loadNext(3) }
        #expect(cast.count == 7 && cast.people.map(\.height) == (151...157).map { $0 })
        // The cast of another film is another list.
        let other = FilmCast(film: try await detail("f3").asFragment(), environment: environment)
        #expect(other.people.count == 2 && cast.people.count == 7)
    }

    @Test func connectionsThatAreNotPagedAreReadAsTheyAre() async throws {
        let film = FilmPlaces_film(key: try await detail("f1"))
        let data = try #require(environment.lookup(film).data)
        let planets = try #require(data.planets?.planets)
        #expect(data.planets?.totalCount == 2 && planets.count == 2)
        #expect(planets[0]?.name == "Lagoon" && planets[0]?.climates == ["wet", "warm"])
        #expect(planets[0]?.population == 2500 && planets[1] == nil)
        let species = try #require(data.species?.edges)
        #expect(species.count == 2 && species[0]?.node?.homeworld?.id == "l1")
        #expect(species[0]?.node?.name == "Otter" && species[1]?.node == nil)
    }

    @Test func aNodeHasWhatItsTypeHas() async throws {
        let node = try #require(try await environment.fetch(FilmNodeQuery(id: "f4")).data?.node)
        let film = try #require(node.asFilm)
        #expect(film.id == "f4" && film.title == "Film 4" && film.number == 4)
        let cast = (film.characters?.edges ?? []).compactMap { $0?.node }
        #expect(cast.map(\.id) == ["p1f4", "p2f4", "p3f4"] && cast[2].name == "Person 3")
        guard
            case .other(let person)? = try await environment.fetch(FilmNodeQuery(id: "p1")).data?
                .node
        else {
            Issue.record("A person was read as a film.")
            return
        }
        #expect(person.id == "p1")
    }

    // MARK: A mutation

    @Test func starsAreShownBeforeTheServerKnowsThem() async throws {
        let info = FilmInfo_film(key: try await detail("f1"))
        let rate = Mutation<RateFilmMutation>(environment: environment).wrappedValue
        var ends: [Result<RateFilmMutation.Data?, any Error>] = []

        rate.commit(id: "f1", stars: 4) { ends.append($0) }
        #expect(environment.lookup(info).data?.stars == 4 && rate.isInFlight)
        #expect(environment.mostRecent?.variables.description == #"{input:{id:"f1",stars:4}}"#)
        let answer = #"{"data": {"rateFilm": {"film": {"id": "f1", "stars": 3}}}}"#
        environment.mostRecent?.resolve(Data(answer.utf8))
        #expect(environment.lookup(info).data?.stars == 3 && !rate.isInFlight)
        #expect(try ends.first?.get()?.rateFilm?.film.stars == 3)

        rate.commit(id: "f1", stars: 5) { ends.append($0) }
        #expect(environment.lookup(info).data?.stars == 5)
        environment.mostRecent?.reject(URLError(.timedOut))
        #expect(environment.lookup(info).data?.stars == 3 && ends.count == 2)
        #expect(throws: URLError.self) { try ends.last?.get() }
    }
}
