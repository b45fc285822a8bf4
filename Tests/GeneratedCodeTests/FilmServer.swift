import Foundation
import Relay

/// Plays the server of the films: five films, and seven people in each of them.
enum FilmServer {
    /// An environment of which only mutations wait for an answer.
    static func environment() -> MockEnvironment {
        let environment = MockEnvironment()
        environment.answer { operation in
            answer(
                to: operation.request.node.params.name, Arguments(operation.request.variables)
            ).map { Data($0.utf8) }
        }
        return environment
    }

    /// The variables that the queries have.
    private struct Arguments {
        let id: String
        let count: Int?
        let start: Int

        init(_ variables: VariableData) {
            id = variables["id"]?.stringValue ?? ""
            count = variables["count"]?.intValue
            start = variables["cursor"]?.stringValue.flatMap { Int($0) } ?? 0
        }
    }

    private static func answer(to operation: String, _ arguments: Arguments) -> String? {
        let (id, count, start) = (arguments.id, arguments.count, arguments.start)
        switch operation {
        case "FilmsTabQuery":
            return #"{"data": {"allFilms": \#(films(3, after: 0))}}"#
        case "FilmsListPaginationQuery", "FilmsShelfQuery", "FilmsShelfPaginationQuery":
            return #"{"data": {"allFilms": \#(films(count ?? 0, after: start))}}"#
        case "FilmDetailQuery":
            return #"{"data": {"film": \#(film(id, cast: people(2, of: id, after: 0)))}}"#
        case "FilmNodeQuery" where id.hasPrefix("p"):
            return #"{"data": {"node": {"__typename": "Person", "id": "\#(id)"}}}"#
        case "FilmNodeQuery":
            return #"{"data": {"node": \#(film(id, cast: people(3, of: id, after: 0)))}}"#
        case "FilmCastPaginationQuery":
            let cast = people(count ?? 0, of: id, after: start)
            return #"{"data": {"node": \#(film(id, cast: cast))}}"#
        case "FilmInfoRefetchQuery":
            return #"{"data": {"node": \#(film(id, stars: "5", cast: "null"))}}"#
        case "RateFilmMutation": return nil
        default: return #"{"errors": [{"message": "The server does not know \#(operation)."}]}"#
        }
    }

    // MARK: What it knows

    private static func films(_ count: Int, after start: Int) -> String {
        page(count, of: 5, after: start) { film("f\($0)", cast: "null") }
    }

    /// Every other one is of a planet and a species.
    private static func people(_ count: Int, of film: String, after start: Int) -> String {
        page(count, of: 7, after: start) { number in
            let home = number % 2 == 1 ? #"{"id": "l1", "name": "Lagoon"}"# : "null"
            let species = number % 2 == 1 ? #"{"id": "s1", "name": "Otter"}"# : "null"
            return """
                {"__typename": "Person", "id": "p\(number)\(film)", "name": "Person \(number)", "height": \(150 + number),
                 "homeworld": \(home), "species": \(species)}
                """
        }
    }

    private static func film(_ id: String, stars: String = "null", cast: String) -> String {
        let number = id.dropFirst()
        return """
            {"__typename": "Film", "id": "\(id)", "number": \(number), "title": "Film \(number)",
             "director": \(number == "2" ? "null" : "\"D. Rector\""), "producers": ["A", null, "B"],
             "released": "197\(number)-05-25", "stars": \(stars), "characters": \(cast),
             "planets": {"totalCount": 2, "planets": [
               {"id": "l1", "name": "Lagoon", "climates": ["wet", "warm"], "population": 2.5e3}, null]},
             "species": {"edges": [
               {"node": {"id": "s1", "name": "Otter", "homeworld": {"id": "l1", "name": "Lagoon"}}}, {"node": null}]}}
            """
    }

    /// The cursor of what is numbered 3 is 3.
    private static func page(
        _ count: Int, of all: Int, after start: Int, _ node: (Int) -> String
    ) -> String {
        let end = min(start + count, all)
        let edges = (start..<end).map { #"{"cursor": "\#($0 + 1)", "node": \#(node($0 + 1))}"# }
        return """
            {"totalCount": \(all), "edges": [\(edges.joined(separator: ", "))],
             "pageInfo": {"endCursor": "\(end)", "hasNextPage": \(end < all)}}
            """
    }
}
