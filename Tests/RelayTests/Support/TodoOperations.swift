import Relay

// What the compiler makes of `TodoDocuments`, written by hand.

struct UserQuery: Relay.Operation {
    static let node = TodoDocuments.request("UserQuery")
    var variables: Variables

    init(variables: Variables) { self.variables = variables }
    init(id: String? = nil) { variables = Variables(id: id) }

    struct Variables: VariableDataConvertible {
        var id: String?
        var variableData: VariableData { ["id": id] }
    }

    struct Data: ReadableRecord {
        var user: User_user?

        init(_ record: inout RecordReader) throws { user = try record.optionalLinked("user") }

        struct User_user: ReadableRecord, Identifiable, List_user_Key {
            var id: String
            var userId: String
            var totalCount: Int
            var fragment_List_user: FragmentPointer

            init(_ record: inout RecordReader) throws {
                id = try record.string("id")
                userId = try record.string("userId")
                totalCount = try record.int("totalCount")
                fragment_List_user = record.fragment("List_user")
            }
        }
    }
}

struct List_user: PaginationFragment {
    static let node = TodoDocuments.fragment("List_user")
    static let metadata = RefetchMetadata(
        path: ["node"], identifierField: "id", operation: ListPaginationQuery.self,
        connection: ConnectionMetadata(
            path: ["todos"], forward: ConnectionVariableConfig(count: "count", cursor: "cursor")))
    typealias Operation = ListPaginationQuery
    var fragmentPointer: FragmentPointer

    init(key: any List_user_Key) { fragmentPointer = key.fragment_List_user }

    struct Data: ReadableRecord {
        var todos: TodoConnection_todos?

        init(_ record: inout RecordReader) throws { todos = try record.optionalLinked("todos") }

        struct TodoConnection_todos: ReadableRecord {
            var __id: String
            var edges: [TodoEdge_edges?]?

            init(_ record: inout RecordReader) throws {
                __id = try record.string("__id")
                edges = try record.optionalList("edges")
            }

            struct TodoEdge_edges: ReadableRecord {
                var node: Todo_node?

                init(_ record: inout RecordReader) throws {
                    node = try record.optionalLinked("node")
                }

                struct Todo_node: ReadableRecord, Identifiable, Item_todo_Key {
                    var id: String
                    var fragment_Item_todo: FragmentPointer

                    init(_ record: inout RecordReader) throws {
                        id = try record.string("id")
                        fragment_Item_todo = record.fragment("Item_todo")
                    }
                }
            }
        }
    }
}

protocol List_user_Key { var fragment_List_user: FragmentPointer { get } }

struct Item_todo: Relay.Fragment {
    static let node = TodoDocuments.fragment("Item_todo")
    var fragmentPointer: FragmentPointer

    init(key: any Item_todo_Key) { fragmentPointer = key.fragment_Item_todo }

    struct Data: ReadableRecord, Equatable {
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

protocol Item_todo_Key { var fragment_Item_todo: FragmentPointer { get } }

struct ListPaginationQuery: Relay.Operation {
    static let node = TodoDocuments.request("ListPaginationQuery")
    var variables: Variables

    init(variables: Variables) { self.variables = variables }

    struct Variables: VariableDataConvertible {
        var count: Int?
        var cursor: String?
        var id: String
        var variableData: VariableData { ["count": count, "cursor": cursor, "id": id] }
    }

    struct Data: ReadableRecord {
        var node: Node_node?

        init(_ record: inout RecordReader) throws { node = try record.optionalLinked("node") }

        struct Node_node: ReadableRecord, List_user_Key {
            var fragment_List_user: FragmentPointer

            init(_ record: inout RecordReader) throws {
                fragment_List_user = record.fragment("List_user")
            }
        }
    }
}

struct TodoQuery: Relay.Operation {
    static let node = TodoDocuments.request("TodoQuery")
    var variables: Variables

    init(variables: Variables) { self.variables = variables }
    init(id: String) { variables = Variables(id: id) }

    struct Variables: VariableDataConvertible {
        var id: String
        var variableData: VariableData { ["id": id] }
    }

    struct Data: ReadableRecord {
        var node: Item_todo.Data?

        init(_ record: inout RecordReader) throws { node = try record.optionalLinked("node") }
    }
}

struct ChangeTodoStatusMutation: Relay.Operation {
    static let node = TodoDocuments.request("ChangeTodoStatusMutation")
    var variables: Variables

    init(variables: Variables) { self.variables = variables }

    struct Variables: VariableDataConvertible {
        var input: ChangeTodoStatusInput
        var variableData: VariableData { ["input": input] }
    }

    struct Data: ReadableRecord {
        var changeTodoStatus: ChangeTodoStatusPayload_changeTodoStatus?

        init(_ record: inout RecordReader) throws {
            changeTodoStatus = try record.optionalLinked("changeTodoStatus")
        }

        struct ChangeTodoStatusPayload_changeTodoStatus: ReadableRecord {
            var todo: Todo_todo

            init(_ record: inout RecordReader) throws { todo = try record.linked("todo") }

            struct Todo_todo: ReadableRecord, Identifiable {
                var id: String
                var complete: Bool

                init(_ record: inout RecordReader) throws {
                    id = try record.string("id")
                    complete = try record.bool("complete")
                }
            }
        }
    }
}

struct ChangeTodoStatusInput: VariableDataConvertible {
    var complete: Bool
    var id: String
    var userId: String = "me"
    var clientMutationId: String?

    var variableData: VariableData {
        [
            "complete": complete, "id": id, "userId": userId,
            "clientMutationId": clientMutationId,
        ]
    }
}

struct AddTodoMutation: Relay.Operation {
    static let node = TodoDocuments.request("AddTodoMutation")
    var variables: Variables

    init(variables: Variables) { self.variables = variables }

    struct Variables: VariableDataConvertible {
        var text: String
        var connections: [String]
        var variableData: VariableData {
            ["input": ["text": text], "connections": connections]
        }
    }

    struct Data: ReadableRecord {
        init(_ record: inout RecordReader) throws {}
    }
}

struct TodoAddedSubscription: Relay.Operation {
    static let node = TodoDocuments.request("TodoAddedSubscription")
    var variables: EmptyVariables

    init(variables: EmptyVariables) { self.variables = variables }

    struct Data: ReadableRecord {
        var todoAdded: AddTodoPayload_todoAdded?

        init(_ record: inout RecordReader) throws {
            todoAdded = try record.optionalLinked("todoAdded")
        }

        struct AddTodoPayload_todoAdded: ReadableRecord {
            var todo: Item_todo.Data

            init(_ record: inout RecordReader) throws { todo = try record.linked("todo") }
        }
    }
}
