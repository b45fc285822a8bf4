package import Relay
package import RelayArtifacts

extension TodoDocuments {
    /// A list that begins anywhere, and is paged both ways.
    static let paging = """

        query WindowQuery($first: Int, $after: String, $last: Int, $before: String) {
          user { id ...Window_user @arguments(first: $first, after: $after, last: $last, before: $before) }
        }

        fragment Window_user on User
          @refetchable(queryName: "WindowPaginationQuery")
          @argumentDefinitions(
            first: {type: "Int"}, after: {type: "String"}, last: {type: "Int"}, before: {type: "String"}
          ) {
          todos(first: $first, after: $after, last: $last, before: $before) @connection(key: "Window_todos") {
            edges { node { id } }
          }
        }
        """
}

package struct WindowQuery: Relay.Operation {
    package static let node = TodoDocuments.request("WindowQuery")
    package var variables: VariableData

    package init(variables: VariableData) { self.variables = variables }

    package struct Data: ReadableRecord {
        package var user: User?

        package init(_ record: inout RecordReader) throws {
            user = try record.optionalLinked("user")
        }

        package struct User: ReadableRecord, Window_user_Key {
            package var fragment_Window_user: FragmentPointer

            package init(_ record: inout RecordReader) throws {
                fragment_Window_user = record.fragment("Window_user")
            }
        }
    }
}

package protocol Window_user_Key { var fragment_Window_user: FragmentPointer { get } }

package struct Window_user: PaginationFragment {
    package static let node = TodoDocuments.fragment("Window_user")
    package static let metadata = RefetchMetadata(
        path: ["node"], identifierField: "id", operation: WindowPaginationQuery.self,
        connection: ConnectionMetadata(
            path: ["todos"], backward: ConnectionVariableConfig(count: "last", cursor: "before"),
            forward: ConnectionVariableConfig(count: "first", cursor: "after")))
    package typealias Operation = WindowPaginationQuery
    package var fragmentPointer: FragmentPointer

    package init(key: any Window_user_Key) { fragmentPointer = key.fragment_Window_user }

    package struct Data: ReadableRecord {
        package var todos: Connection?

        package init(_ record: inout RecordReader) throws {
            todos = try record.optionalLinked("todos")
        }
    }

    package struct Connection: ReadableRecord {
        package var edges: [Edge?]?

        package init(_ record: inout RecordReader) throws {
            edges = try record.optionalList("edges")
        }
    }

    package struct Edge: ReadableRecord {
        package var node: Node?

        package init(_ record: inout RecordReader) throws {
            node = try record.optionalLinked("node")
        }
    }

    package struct Node: ReadableRecord {
        package var id: String

        package init(_ record: inout RecordReader) throws { id = try record.string("id") }
    }
}

package struct WindowPaginationQuery: Relay.Operation {
    package static let node = TodoDocuments.request("WindowPaginationQuery")
    package var variables: VariableData

    package init(variables: VariableData) { self.variables = variables }

    package struct Data: ReadableRecord {
        package var node: WindowQuery.Data.User?

        package init(_ record: inout RecordReader) throws {
            node = try record.optionalLinked("node")
        }
    }
}
