// A list with pages, and a mutation that adds to it, from the parts that the article OperationsByHand.md describes.

import Combine
import Relay
import RelayNetwork

struct Row_todo: Relay.Fragment {
    static let node = ReaderFragment(
        name: "Row_todo", type: "Todo",
        selections: [
            .field(ReaderScalarField(name: "id")),
            .field(ReaderScalarField(name: "text")),
            .field(ReaderScalarField(name: "complete")),
        ])

    /// The same for writing; every operation that spreads the fragment has them.
    static let written: [NormalizationSelection] = [
        .field(NormalizationScalarField(name: "id")),
        .field(NormalizationScalarField(name: "text")),
        .field(NormalizationScalarField(name: "complete")),
        .field(NormalizationScalarField(name: "__typename")),
    ]

    let fragmentPointer: FragmentPointer

    init(key: any Row_todo_Key) { fragmentPointer = key.fragment_Row_todo }

    struct Data: ReadableRecord, Identifiable {
        var id: String
        var text: String
        var complete: Bool

        init(_ record: inout RecordReader) throws {
            id = try record.string("id")
            text = try record.string("text")
            complete = try record.bool("complete")
        }
    }
}

protocol Row_todo_Key { var fragment_Row_todo: FragmentPointer { get } }

struct Todos_user: PaginationFragment {
    static let node = ReaderFragment(
        name: "Todos_user", type: "User",
        argumentDefinitions: [.root(name: "count"), .root(name: "cursor")],
        selections: [
            .field(
                ReaderLinkedField(
                    name: "__Todos_todos_connection", alias: "todos",
                    concreteType: "TodoConnection", selections: [.field(edges), .field(pageInfo)]))
        ])
    private static let edges = ReaderLinkedField(
        name: "edges", concreteType: "TodoEdge", plural: true,
        selections: [
            .field(
                ReaderLinkedField(
                    name: "node", concreteType: "Todo",
                    selections: [.fragmentSpread(ReaderFragmentSpread(name: "Row_todo"))]))
        ])
    private static let pageInfo = ReaderLinkedField(
        name: "pageInfo", concreteType: "PageInfo",
        selections: [
            .field(ReaderScalarField(name: "endCursor")),
            .field(ReaderScalarField(name: "hasNextPage")),
        ])

    static let metadata = RefetchMetadata(
        path: ["user"], identifierField: "id", operation: TodosQuery.self,
        connection: ConnectionMetadata(
            path: ["todos"], forward: ConnectionVariableConfig(count: "count", cursor: "cursor")))
    typealias Operation = TodosQuery

    let fragmentPointer: FragmentPointer

    init(key: any Todos_user_Key) { fragmentPointer = key.fragment_Todos_user }

    struct Data: ReadableRecord {
        var todos: Connection?

        init(_ record: inout RecordReader) throws { todos = try record.optionalLinked("todos") }
    }

    struct Connection: ReadableRecord {
        var id: DataID
        var edges: [Edge?]?

        init(_ record: inout RecordReader) throws {
            id = record.dataID
            edges = try record.optionalList("edges")
        }
    }

    struct Edge: ReadableRecord {
        var node: Node?

        init(_ record: inout RecordReader) throws { node = try record.optionalLinked("node") }
    }

    struct Node: ReadableRecord, Row_todo_Key {
        var fragment_Row_todo: FragmentPointer

        init(_ record: inout RecordReader) throws {
            fragment_Row_todo = record.fragment("Row_todo")
        }
    }
}

protocol Todos_user_Key { var fragment_Todos_user: FragmentPointer { get } }

struct TodosQuery: Relay.Operation {
    static let node = ConcreteRequest(
        fragment: ReaderFragment(
            name: "TodosQuery", type: "Query", argumentDefinitions: definitions,
            selections: [
                .field(
                    ReaderLinkedField(
                        name: "user", args: user, concreteType: "User",
                        selections: [
                            .field(ReaderScalarField(name: "id")),
                            .fragmentSpread(ReaderFragmentSpread(name: "Todos_user")),
                        ]))
            ]),
        operation: NormalizationOperation(
            name: "TodosQuery", argumentDefinitions: definitions,
            selections: [
                .field(
                    NormalizationLinkedField(
                        name: "user", args: user, concreteType: "User",
                        selections: [
                            .field(NormalizationScalarField(name: "id")),
                            .field(todos),
                            .handle(
                                NormalizationHandle(
                                    kind: .linked, name: "todos", args: page, handle: "connection",
                                    key: "Todos_todos")),
                        ]))
            ]),
        params: RequestParameters(
            name: "TodosQuery", operationKind: .query,
            text: """
                query TodosQuery($id: ID!, $count: Int!, $cursor: String) {
                  user(id: $id) {
                    id
                    todos(first: $count, after: $cursor) {
                      edges { cursor node { id text complete __typename } }
                      pageInfo { endCursor hasNextPage }
                    }
                  }
                }
                """))
    private static let definitions: [ArgumentDefinition] = [
        .local(name: "id"), .local(name: "count"), .local(name: "cursor"),
    ]
    private static let user = [VariableArgument(name: "id", variableName: "id")]
    private static let page = [
        VariableArgument(name: "first", variableName: "count"),
        VariableArgument(name: "after", variableName: "cursor"),
    ]
    private static let todos = NormalizationLinkedField(
        name: "todos", args: page, concreteType: "TodoConnection",
        selections: [
            .field(
                NormalizationLinkedField(
                    name: "edges", concreteType: "TodoEdge", plural: true,
                    selections: [
                        .field(NormalizationScalarField(name: "cursor")),
                        .field(
                            NormalizationLinkedField(
                                name: "node", concreteType: "Todo", selections: Row_todo.written)),
                    ])),
            .field(
                NormalizationLinkedField(
                    name: "pageInfo", concreteType: "PageInfo",
                    selections: [
                        .field(NormalizationScalarField(name: "endCursor")),
                        .field(NormalizationScalarField(name: "hasNextPage")),
                    ])),
        ])

    var variables: Variables

    struct Variables: VariableDataConvertible {
        var id: String
        var count: Int
        var cursor: String?
        var variableData: VariableData { ["id": id, "count": count, "cursor": cursor] }
    }

    struct Data: ReadableRecord {
        var user: User?

        init(_ record: inout RecordReader) throws { user = try record.optionalLinked("user") }
    }

    struct User: ReadableRecord, Todos_user_Key {
        var id: String
        var fragment_Todos_user: FragmentPointer

        init(_ record: inout RecordReader) throws {
            id = try record.string("id")
            fragment_Todos_user = record.fragment("Todos_user")
        }
    }
}

struct NewTodoMutation: Relay.Operation {
    static let node = ConcreteRequest(
        fragment: ReaderFragment(
            name: "NewTodoMutation", type: "Mutation", argumentDefinitions: definitions,
            selections: [
                .field(
                    ReaderLinkedField(
                        name: "addTodo", args: input, concreteType: "AddTodoPayload",
                        selections: [
                            .field(
                                ReaderLinkedField(
                                    name: "todo", concreteType: "Todo",
                                    selections: [
                                        .fragmentSpread(ReaderFragmentSpread(name: "Row_todo"))
                                    ]))
                        ]))
            ]),
        operation: NormalizationOperation(
            name: "NewTodoMutation", argumentDefinitions: definitions,
            selections: [
                .field(
                    NormalizationLinkedField(
                        name: "addTodo", args: input, concreteType: "AddTodoPayload",
                        selections: [
                            .field(
                                NormalizationLinkedField(
                                    name: "todo", concreteType: "Todo",
                                    selections: Row_todo.written)),
                            .field(
                                NormalizationLinkedField(
                                    name: "todoEdge", concreteType: "TodoEdge",
                                    selections: [
                                        .field(
                                            NormalizationLinkedField(
                                                name: "node", concreteType: "Todo",
                                                selections: Row_todo.written))
                                    ])),
                            .handle(
                                NormalizationHandle(
                                    kind: .linked, name: "todoEdge", handle: "appendEdge",
                                    handleArgs: connections)),
                        ]))
            ]),
        params: RequestParameters(
            name: "NewTodoMutation", operationKind: .mutation,
            text: """
                mutation NewTodoMutation($input: AddTodoInput!) {
                  addTodo(input: $input) {
                    todo { id text complete __typename }
                    todoEdge { node { id text complete __typename } }
                  }
                }
                """))
    private static let definitions: [ArgumentDefinition] = [
        .local(name: "input"), .local(name: "connections"),
    ]
    private static let input = [VariableArgument(name: "input", variableName: "input")]
    private static let connections = [
        VariableArgument(name: "connections", variableName: "connections")
    ]

    var variables: Variables

    struct Variables: VariableDataConvertible {
        var input: Input
        var connections: [String]
        var variableData: VariableData { ["input": input, "connections": connections] }
    }

    struct Input: VariableDataConvertible {
        var text: String
        var variableData: VariableData { ["text": text] }
    }

    struct Data: ReadableRecord {
        var addTodo: Payload?

        init(_ record: inout RecordReader) throws { addTodo = try record.optionalLinked("addTodo") }
    }

    struct Payload: ReadableRecord {
        var todo: Todo

        init(_ record: inout RecordReader) throws { todo = try record.linked("todo") }
    }

    struct Todo: ReadableRecord, Row_todo_Key {
        var fragment_Row_todo: FragmentPointer

        init(_ record: inout RecordReader) throws {
            fragment_Row_todo = record.fragment("Row_todo")
        }
    }
}

enum ListByHand {
    /// - Returns: the text of the todo that was added.
    static func run(
        _ environment: Environment, until isShown: () async -> Void,
        print: @escaping @Sendable ([String]) -> Void
    ) async throws -> String? {
        @Sendable func rows(_ list: Todos_user.Data?) -> [String] {
            (list?.todos?.edges ?? []).compactMap { edge in
                edge?.node.flatMap { environment.lookup(Row_todo(key: $0)).data?.text }
            }
        }

        let query = TodosQuery(variables: .init(id: "me", count: 1))
        guard let user = try await environment.fetch(query).data?.user else { return nil }
        let kept = environment.retain(operation: query.createDescriptor())

        let list = environment.lookup(Todos_user(key: user))
        print(rows(list.data))
        let following = environment.subscribe(snapshot: list).sink { print(rows($0.data)) }

        let pages = PaginationResource(Todos_user(key: user), environment: environment)
        while pages.hasNext { try await pages.loadNext(20) }

        guard let connection = list.data?.todos?.id else { return nil }
        let adding = NewTodoMutation(
            variables: .init(
                input: .init(text: "Buy milk"), connections: [connection.rawValue]))
        let added = try await environment.commit(adding).data?.addTodo?.todo

        await isShown()
        withExtendedLifetime((kept, following)) {}
        return added.flatMap { environment.lookup(Row_todo(key: $0)).data?.text }
    }
}
