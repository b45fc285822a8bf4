package import Relay

// What the compiler makes of `TodoDocuments`, written by hand.

package struct UserQuery: Relay.Operation {
    package static let node = TodoDocuments.request("UserQuery")
    package var variables: Variables

    package init(variables: Variables) { self.variables = variables }
    package init(id: String? = nil) { variables = Variables(id: id) }

    package struct Variables: VariableDataConvertible {
        package var id: String?
        package var variableData: VariableData { ["id": id] }

        package init(id: String? = nil) { self.id = id }
    }

    package struct Data: ReadableRecord {
        package var user: User_user?

        package init(_ record: inout RecordReader) throws {
            user = try record.optionalLinked("user")
        }

        package struct User_user: ReadableRecord, Identifiable, List_user_Key {
            package var id: String
            package var userId: String
            package var totalCount: Int
            package var fragment_List_user: FragmentPointer

            package init(_ record: inout RecordReader) throws {
                id = try record.string("id")
                userId = try record.string("userId")
                totalCount = try record.int("totalCount")
                fragment_List_user = record.fragment("List_user")
            }
        }
    }
}

package struct List_user: PaginationFragment {
    package static let node = TodoDocuments.fragment("List_user")
    package static let metadata = RefetchMetadata(
        path: ["node"], identifierField: "id", operation: ListPaginationQuery.self,
        connection: ConnectionMetadata(
            path: ["todos"], forward: ConnectionVariableConfig(count: "count", cursor: "cursor")))
    package typealias Operation = ListPaginationQuery
    package var fragmentPointer: FragmentPointer

    package init(key: any List_user_Key) { fragmentPointer = key.fragment_List_user }

    package struct Data: ReadableRecord {
        package var todos: TodoConnection_todos?

        package init(_ record: inout RecordReader) throws {
            todos = try record.optionalLinked("todos")
        }

        package struct TodoConnection_todos: ReadableRecord {
            package var __id: String
            package var edges: [TodoEdge_edges?]?

            package init(_ record: inout RecordReader) throws {
                __id = try record.string("__id")
                edges = try record.optionalList("edges")
            }

            package struct TodoEdge_edges: ReadableRecord {
                package var node: Todo_node?

                package init(_ record: inout RecordReader) throws {
                    node = try record.optionalLinked("node")
                }

                package struct Todo_node: ReadableRecord, Identifiable, Item_todo_Key {
                    package var id: String
                    package var fragment_Item_todo: FragmentPointer

                    package init(_ record: inout RecordReader) throws {
                        id = try record.string("id")
                        fragment_Item_todo = record.fragment("Item_todo")
                    }
                }
            }
        }
    }
}

package protocol List_user_Key { var fragment_List_user: FragmentPointer { get } }

package struct Item_todo: Relay.Fragment {
    package static let node = TodoDocuments.fragment("Item_todo")
    package var fragmentPointer: FragmentPointer

    package init(key: any Item_todo_Key) { fragmentPointer = key.fragment_Item_todo }

    package struct Data: ReadableRecord, Equatable {
        package var id: String
        package var text: String
        package var complete: Bool

        package init(_ record: inout RecordReader) throws {
            id = try record.string("id")
            text = try record.string("text")
            complete = try record.bool("complete")
        }
    }
}

package protocol Item_todo_Key { var fragment_Item_todo: FragmentPointer { get } }

package struct ListPaginationQuery: Relay.Operation {
    package static let node = TodoDocuments.request("ListPaginationQuery")
    package var variables: Variables

    package init(variables: Variables) { self.variables = variables }

    package struct Variables: VariableDataConvertible {
        package var count: Int?
        package var cursor: String?
        package var id: String
        package var variableData: VariableData { ["count": count, "cursor": cursor, "id": id] }

        package init(count: Int? = nil, cursor: String? = nil, id: String) {
            self.count = count
            self.cursor = cursor
            self.id = id
        }
    }

    package struct Data: ReadableRecord {
        package var node: Node_node?

        package init(_ record: inout RecordReader) throws {
            node = try record.optionalLinked("node")
        }

        package struct Node_node: ReadableRecord, List_user_Key {
            package var fragment_List_user: FragmentPointer

            package init(_ record: inout RecordReader) throws {
                fragment_List_user = record.fragment("List_user")
            }
        }
    }
}

package struct TodoQuery: Relay.Operation {
    package static let node = TodoDocuments.request("TodoQuery")
    package var variables: Variables

    package init(variables: Variables) { self.variables = variables }
    package init(id: String) { variables = Variables(id: id) }

    package struct Variables: VariableDataConvertible {
        package var id: String
        package var variableData: VariableData { ["id": id] }

        package init(id: String) { self.id = id }
    }

    package struct Data: ReadableRecord {
        package var node: Item_todo.Data?

        package init(_ record: inout RecordReader) throws {
            node = try record.optionalLinked("node")
        }
    }
}

package struct ChangeTodoStatusMutation: Relay.Operation {
    package static let node = TodoDocuments.request("ChangeTodoStatusMutation")
    package var variables: Variables

    package init(variables: Variables) { self.variables = variables }

    package struct Variables: VariableDataConvertible {
        package var input: ChangeTodoStatusInput
        package var variableData: VariableData { ["input": input] }

        package init(input: ChangeTodoStatusInput) { self.input = input }
    }

    package struct Data: ReadableRecord {
        package var changeTodoStatus: ChangeTodoStatusPayload_changeTodoStatus?

        package init(_ record: inout RecordReader) throws {
            changeTodoStatus = try record.optionalLinked("changeTodoStatus")
        }

        package struct ChangeTodoStatusPayload_changeTodoStatus: ReadableRecord {
            package var todo: Todo_todo

            package init(_ record: inout RecordReader) throws { todo = try record.linked("todo") }

            package struct Todo_todo: ReadableRecord, Identifiable {
                package var id: String
                package var complete: Bool

                package init(_ record: inout RecordReader) throws {
                    id = try record.string("id")
                    complete = try record.bool("complete")
                }
            }
        }
    }
}

package struct ChangeTodoStatusInput: VariableDataConvertible {
    package var complete: Bool
    package var id: String
    package var userId: String
    package var clientMutationId: String?

    package var variableData: VariableData {
        [
            "complete": complete, "id": id, "userId": userId,
            "clientMutationId": clientMutationId,
        ]
    }

    package init(
        complete: Bool, id: String, userId: String = "me", clientMutationId: String? = nil
    ) {
        self.complete = complete
        self.id = id
        self.userId = userId
        self.clientMutationId = clientMutationId
    }

    /// The required fields, in the order of the schema's other documents.
    package init(id: String, complete: Bool) { self.init(complete: complete, id: id) }
}

package struct AddTodoMutation: Relay.Operation {
    package static let node = TodoDocuments.request("AddTodoMutation")
    package var variables: Variables

    package init(variables: Variables) { self.variables = variables }

    package struct Variables: VariableDataConvertible {
        package var text: String
        package var connections: [String]
        package var variableData: VariableData {
            ["input": ["text": text], "connections": connections]
        }

        package init(text: String, connections: [String]) {
            self.text = text
            self.connections = connections
        }
    }

    package struct Data: ReadableRecord {
        package init(_ record: inout RecordReader) throws {}
    }
}

package struct RemoveTodoMutation: Relay.Operation {
    package static let node = TodoDocuments.request("RemoveTodoMutation")
    package var variables: Variables

    package init(variables: Variables) { self.variables = variables }

    package struct Variables: VariableDataConvertible {
        package var id: String
        package var connections: [String]
        package var variableData: VariableData {
            ["input": ["id": id], "connections": connections]
        }

        package init(id: String, connections: [String]) {
            self.id = id
            self.connections = connections
        }
    }

    package typealias Data = RemoveTodoData
}

package struct DeleteTodoMutation: Relay.Operation {
    package static let node = TodoDocuments.request("DeleteTodoMutation")
    package var variables: Variables

    package init(variables: Variables) { self.variables = variables }

    package struct Variables: VariableDataConvertible {
        package var id: String
        package var variableData: VariableData { ["input": ["id": id]] }

        package init(id: String) { self.id = id }
    }

    package typealias Data = RemoveTodoData
}

package struct RemoveTodoData: ReadableRecord {
    package var removeTodo: RemoveTodoPayload_removeTodo?

    package init(_ record: inout RecordReader) throws {
        removeTodo = try record.optionalLinked("removeTodo")
    }

    package struct RemoveTodoPayload_removeTodo: ReadableRecord {
        package var deletedTodoId: String

        package init(_ record: inout RecordReader) throws {
            deletedTodoId = try record.string("deletedTodoId")
        }
    }
}

package struct RecordIDsQuery: Relay.Operation {
    package static let node = TodoDocuments.request("RecordIDsQuery")
    package var variables: EmptyVariables

    package init(variables: EmptyVariables) { self.variables = variables }

    package struct Data: ReadableRecord {
        package var __id: String
        package var user: User_user?

        package init(_ record: inout RecordReader) throws {
            __id = try record.string("__id")
            user = try record.optionalLinked("user")
        }

        package struct User_user: ReadableRecord {
            package var __id: String
            package var todos: TodoConnection_todos?

            package init(_ record: inout RecordReader) throws {
                __id = try record.string("__id")
                todos = try record.optionalLinked("todos")
            }
        }

        package struct TodoConnection_todos: ReadableRecord {
            package var __id: String

            package init(_ record: inout RecordReader) throws {
                __id = try record.string("__id")
            }
        }
    }
}

package struct TodoAddedSubscription: Relay.Operation {
    package static let node = TodoDocuments.request("TodoAddedSubscription")
    package var variables: EmptyVariables

    package init(variables: EmptyVariables) { self.variables = variables }

    package struct Data: ReadableRecord {
        package var todoAdded: AddTodoPayload_todoAdded?

        package init(_ record: inout RecordReader) throws {
            todoAdded = try record.optionalLinked("todoAdded")
        }

        package struct AddTodoPayload_todoAdded: ReadableRecord {
            package var todo: Item_todo.Data

            package init(_ record: inout RecordReader) throws { todo = try record.linked("todo") }
        }
    }
}

/// All todos, again after every commit that changes one.
package struct LiveTodosQuery: Relay.Operation {
    package static let node = TodoDocuments.request("LiveTodosQuery")
    package var variables: EmptyVariables

    package init(variables: EmptyVariables) { self.variables = variables }

    package struct Data: ReadableRecord, Equatable {
        package var user: User_user?

        package init(_ record: inout RecordReader) throws {
            user = try record.optionalLinked("user")
        }

        package struct User_user: ReadableRecord, Equatable {
            package var totalCount: Int
            package var todos: TodoConnection_todos?

            package init(_ record: inout RecordReader) throws {
                totalCount = try record.int("totalCount")
                todos = try record.optionalLinked("todos")
            }
        }

        package struct TodoConnection_todos: ReadableRecord, Equatable {
            package var edges: [TodoEdge_edges?]?

            package init(_ record: inout RecordReader) throws {
                edges = try record.optionalList("edges")
            }

            package struct TodoEdge_edges: ReadableRecord, Equatable {
                package var node: Item_todo.Data?

                package init(_ record: inout RecordReader) throws {
                    node = try record.optionalLinked("node")
                }
            }
        }
    }
}
