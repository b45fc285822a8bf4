import Relay

private let filmFragment = graphql(
    """
    fragment FilmsListRow_film on Film { id number title director released }
    """)

/// A film in a list.
struct FilmsListRow {
    let film: FilmsListRow_film
    let environment: Environment

    var text: String? {
        environment.lookup(film).data.map { film in
            let number = film.number.map { "\($0). " } ?? ""
            let year = film.released?.prefix(4) ?? "?"
            return "\(number)\(film.title ?? "Untitled"), \(film.director ?? "?"), \(year)"
        }
    }
}
