import GeneratedModules
import RelayArtifacts
import RelayIR
import Testing

/// The example apps of Relay.swift (RelayTodo, RelayStarWars, RelayPokedex, and the two of RelayTestHelpers) have 29
/// documents. Here each has one of its shape, written by us; `Generated…Tests` read data with them.
///
/// Six of theirs are second operations of a file. Ours are in TodoApp.graphql: in a Swift file there is room for one
/// query and one mutation, which are called by the file.
@Suite struct ExampleShapesTests {
    private typealias Shape = (theirs: String, ours: String)

    private static let todo: [Shape] = [
        // A query with a literal argument; a list that is not paged; an item; a second query in an item's file.
        ("RelayTodo/CurrentUserToDoListQuery", "MyTodosQuery"),
        ("RelayTodo/ToDoList_user", "MyTodos_user"),
        ("RelayTodo/ToDoItem_todo", "TodoLine_todo"),
        ("RelayTodo/ToDoItemPreviewQuery", "TodoLinePreviewQuery"),
        ("RelayTodo/ChangeTodoStatusMutation", "CompleteTodoMutation"),
        // A paged list whose id the declarative directives take.
        ("RelayTestHelpers/CurrentUserToDoListQuery", "ShelfQuery"),
        ("RelayTestHelpers/ToDoList_user", "Shelf_user"),
        ("RelayTestHelpers/ToDoItem_todo", "Book_todo"),
        ("RelayTestHelpers/ChangeTodoStatusMutation", "ChangeTodoStatusMutation"),
        ("RelayTestHelpers/AddTodoAppendEdgeMutation", "AddTodoMutation"),
        ("RelayTestHelpers/AddTodoPrependEdgeMutation", "PrependTodoEdgeMutation"),
        ("RelayTestHelpers/AddTodoAppendNodeMutation", "AppendTodoNodeMutation"),
        ("RelayTestHelpers/AddTodoPrependNodeMutation", "PrependTodoNodeMutation"),
        ("RelayTestHelpers/RemoveTodoMutation", "RemoveTodoMutation"),
        ("RelayTestHelpers/RemoveTodoEdgeMutation", "RemoveTodoEdgeMutation"),
    ]

    private static let films: [Shape] = [
        // A query of nothing but a fragment on the query type, whose connection is paged.
        ("RelayStarWars/MoviesTabQuery", "FilmsShelfQuery"),
        ("RelayStarWars/MoviesList_films", "FilmsShelf_films"),
        ("RelayStarWars/MoviesListRow_film", "FilmsShelf_film"),
        // The same, and its id.
        ("RelayTestHelpers/MoviesTabQuery", "FilmsTabQuery"),
        ("RelayTestHelpers/MoviesList_films", "FilmsList_films"),
        ("RelayTestHelpers/MoviesListRow_film", "FilmsListRow_film"),
        // A detail that is fetched again as a node; a node, narrowed to its type, with a connection that is not paged.
        ("RelayTestHelpers/MovieDetailQuery", "FilmDetailQuery"),
        ("RelayTestHelpers/MovieInfoSection_film", "FilmInfo_film"),
        ("RelayTestHelpers/MovieDetailNodeQuery", "FilmNodeQuery"),
    ]

    private static let pokedex: [Shape] = [
        // A plain list with the name of its type; a detail of several fragments; objects without ids; lists of scalars.
        ("RelayPokedex/PokemonListQuery", "PokemonListQuery"),
        ("RelayPokedex/PokemonListRow_pokemon", "PokemonListRow_pokemon"),
        ("RelayPokedex/PokemonDetailQuery", "PokemonDetailQuery"),
        ("RelayPokedex/PokemonDetailInfoSection_pokemon", "PokemonInfo_pokemon"),
        ("RelayPokedex/PokemonDetailTypesSection_pokemon", "PokemonTypes_pokemon"),
    ]

    @Test func everyDocumentOfTheExamplesHasOneOfItsShape() throws {
        let modules: [(GeneratedModule, [Shape])] = [
            (.todoApp, Self.todo), (.films, Self.films), (.pokedex, Self.pokedex),
        ]
        for (module, shapes) in modules {
            let documents = try module.documents()
            for (theirs, ours) in shapes {
                let isThere = documents.operation(ours) != nil || documents.fragment(ours) != nil
                #expect(isThere, "\(theirs) should have the shape of \(ours).")
            }
        }
        let all = modules.flatMap(\.1)
        #expect(Set(all.map(\.theirs)).count == 29 && Set(all.map(\.ours)).count == 29)
    }

    /// What the examples' documents come to, beyond those that were written.
    @Test func theQueriesOfRefetchableFragmentsAreGenerated() throws {
        let films = try GeneratedModule.films.documents()
        for name in [
            "FilmsListPaginationQuery", "FilmsShelfPaginationQuery", "FilmInfoRefetchQuery",
            "FilmCastPaginationQuery",
        ] {
            #expect(films.operation(name)?.request.params.operationKind == .query, "\(name)")
        }
        let search = try GeneratedModule.pokedex.documents().operation("PokemonSearchRefetchQuery")
        #expect(search?.request.operation.argumentDefinitions.map(\.name) == ["name"])
    }
}
