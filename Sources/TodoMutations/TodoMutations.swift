public import RelayArtifacts
@_spi(Rooms) public import RelayRecords

/// Mutations of the todo example that both ends run: the server (`TodoServer`) as handlers, a client as
/// optimistic updaters. What a client shows is what the server will say, because one function says both.
public enum TodoMutations {
    /// What is added to the schema docs/examples/todo.graphql.
    public static let schema = """

        extend type Mutation {
          "Marks every todo of the user as done, or as not done."
          changeAllTodos(input: ChangeAllTodosInput!): ChangeAllTodosPayload
          "Puts the todos that are done behind the others, in the order in which they are."
          sinkFinishedTodos(input: SinkFinishedTodosInput!): SinkFinishedTodosPayload
          "Puts a todo behind another one; without `after`, before all others."
          moveTodo(input: MoveTodoInput!): MoveTodoPayload
        }

        input ChangeAllTodosInput { complete: Boolean! userId: ID! = "me" clientMutationId: String }
        type ChangeAllTodosPayload { user: User! clientMutationId: String }
        input SinkFinishedTodosInput { userId: ID! = "me" clientMutationId: String }
        type SinkFinishedTodosPayload { user: User! clientMutationId: String }
        input MoveTodoInput { id: ID! after: ID userId: ID! = "me" clientMutationId: String }
        type MoveTodoPayload { user: User! clientMutationId: String }

        """

    /// Marks every todo of `input.userId` as `input.complete` says.
    /// - Returns: the user.
    @Sendable
    public static func changeAllTodos(
        _ records: inout any RecordSourceProxy, _ variables: VariableData
    ) throws -> DataID? {
        let complete = variables.input?["complete"]?.boolValue ?? true
        let user = try user(variables, in: records)
        for todo in user.connection(list)?.nodes ?? [] { todo["complete"] = complete }
        return user.dataID
    }

    /// Puts what is done of `input.userId` behind what is not.
    /// - Returns: the user.
    @Sendable
    public static func sinkFinishedTodos(
        _ records: inout any RecordSourceProxy, _ variables: VariableData
    ) throws -> DataID? {
        let user = try user(variables, in: records)
        guard let todos = user.connection(list) else { return user.dataID }
        for todo in todos.nodes where todo["complete"] as? Bool == true {
            todos.move(nodeID: todo.dataID, to: .end)
        }
        return user.dataID
    }

    /// Puts the todo `input.id` behind `input.after`; without that, before all others.
    /// - Returns: the user.
    @Sendable
    public static func moveTodo(
        _ records: inout any RecordSourceProxy, _ variables: VariableData
    ) throws -> DataID? {
        let user = try user(variables, in: records)
        guard let id = variables.input?["id"]?.stringValue else {
            throw HandlerError("There is no such todo.", code: "NOT_FOUND")
        }
        let after = variables.input?["after"]?.stringValue
        user.connection(list)?.move(
            nodeID: DataID(id), to: after.map { .after(nodeID: DataID($0)) } ?? .start)
        return user.dataID
    }

    /// The connection: a client's key of it, which a server reads as the field behind the underscore.
    private static let list = "List_todos"

    /// The user that an input names; the server has put the id in place of "me".
    private static func user(
        _ variables: VariableData, in records: any RecordSourceProxy
    ) throws -> any RecordProxy {
        guard let id = variables.input?["userId"]?.stringValue, let user = records[DataID(id)]
        else { throw HandlerError("There is no such user.", code: "NOT_FOUND") }
        return user
    }
}
