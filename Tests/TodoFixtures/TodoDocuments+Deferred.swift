package import Relay

extension TodoDocuments {
    static let deferDirective =
        "directive @defer(label: String, if: Boolean = true) on FRAGMENT_SPREAD | INLINE_FRAGMENT"

    /// Operations whose responses come in parts.
    static let deferred = """

        query DeferredTodoQuery($id: ID!) {
          node(id: $id) { ... on Todo { id ...Item_todo @defer(label: "item") } }
        }

        mutation DeferredRenameMutation($input: RenameTodoInput!) {
          renameTodo(input: $input) { todo { id ...Item_todo @defer(label: "item") } }
        }

        subscription DeferredTodoAddedSubscription($userId: ID! = "me") {
          todoAdded(userId: $userId) { todo { id ...Item_todo @defer(label: "item") } }
        }
        """
}

/// A todo whose fields come later than its id.
package struct DeferredTodo: ReadableRecord, Item_todo_Key {
    package var id: String
    package var fragment_Item_todo: FragmentPointer

    package init(_ record: inout RecordReader) throws {
        id = try record.string("id")
        fragment_Item_todo = record.fragment("Item_todo")
    }
}

package struct DeferredTodoQuery: Relay.Operation {
    package static let node = TodoDocuments.request("DeferredTodoQuery")
    package var variables: TodoQuery.Variables

    package init(variables: TodoQuery.Variables) { self.variables = variables }

    package struct Data: ReadableRecord {
        package var node: DeferredTodo?

        package init(_ record: inout RecordReader) throws {
            node = try record.optionalLinked("node")
        }
    }
}

package struct DeferredRenameMutation: Relay.Operation {
    package static let node = TodoDocuments.request("DeferredRenameMutation")
    package var variables: Variables

    package init(variables: Variables) { self.variables = variables }

    package struct Variables: VariableDataConvertible {
        package var id: String
        package var text: String
        package var variableData: VariableData { ["input": ["id": id, "text": text]] }

        package init(id: String, text: String) {
            self.id = id
            self.text = text
        }
    }

    package struct Data: ReadableRecord {
        package var renameTodo: Payload?

        package init(_ record: inout RecordReader) throws {
            renameTodo = try record.optionalLinked("renameTodo")
        }
    }

    package struct Payload: ReadableRecord {
        package var todo: DeferredTodo

        package init(_ record: inout RecordReader) throws { todo = try record.linked("todo") }
    }
}

package struct DeferredTodoAddedSubscription: Relay.Operation {
    package static let node = TodoDocuments.request("DeferredTodoAddedSubscription")
    package var variables: EmptyVariables

    package init(variables: EmptyVariables) { self.variables = variables }

    package struct Data: ReadableRecord {
        package var todoAdded: DeferredRenameMutation.Payload?

        package init(_ record: inout RecordReader) throws {
            todoAdded = try record.optionalLinked("todoAdded")
        }
    }
}
