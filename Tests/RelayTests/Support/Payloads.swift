import Foundation
import Relay
import TodoFixtures

/// Responses as a server sends them.
enum Payloads {
    static func todo(_ id: String, _ text: String, complete: Bool) -> String {
        #"{"data":{"node":{"__typename":"Todo","id":"\#(id)","text":"\#(text)","complete":\#(complete)}}}"#
    }

    static func status(_ id: String, complete: Bool) -> String {
        #"{"data":{"changeTodoStatus":{"todo":{"id":"\#(id)","complete":\#(complete)}}}}"#
    }

    static func user(_ todos: [String], id: String = "U") -> String {
        let edges = todos.map {
            """
            {"cursor":"\($0)","node":{"__typename":"Todo","id":"\($0)","text":"t\($0)","complete":false}}
            """
        }
        return """
            {"data":{"user":{"id":"\(id)","userId":"me","totalCount":\(todos.count),"todos":{"edges":[\
            \(edges.joined(separator: ","))],"pageInfo":{"endCursor":"\(todos.last ?? "")",\
            "hasNextPage":false}}}}}
            """
    }
}

extension MockNetwork.Request {
    func resolve(_ json: String) { resolve(Data(json.utf8)) }
    func nextValue(_ json: String) { nextValue(Data(json.utf8)) }
}

extension MockEnvironment {
    func todo(_ id: String) -> TodoQuery.Data.Node_node.Todo_node? {
        lookup(selector: TodoQuery(id: id).createDescriptor().fragment, as: TodoQuery.Data.self)
            .data?.node?.asTodo
    }
}

/// A todo in the data of any operation that selects all of its fields.
protocol WholeTodo {
    var id: String { get }
    var text: String { get }
    var complete: Bool { get }
}

extension Item_todo.Data: WholeTodo {}
extension TodoQuery.Data.Node_node.Todo_node: WholeTodo {}
extension TodoAddedSubscription.Data.AddTodoPayload_todoAdded.Todo_todo: WholeTodo {}

/// A todo whose fields come later than its id.
protocol DeferredTodo: Item_todo_Key {
    var id: String { get }
}

extension DeferredTodoQuery.Data.Node_node.Todo_node: DeferredTodo {}
extension DeferredRenameMutation.Data.RenameTodoPayload_renameTodo.Todo_todo: DeferredTodo {}
extension DeferredTodoAddedSubscription.Data.AddTodoPayload_todoAdded.Todo_todo: DeferredTodo {}

func change(_ id: String, _ complete: Bool) -> ChangeTodoStatusMutation {
    ChangeTodoStatusMutation(variables: .init(input: .init(complete: complete, id: id)))
}

func optimisticStatus(_ id: String, _ complete: Bool) -> [String: Any] {
    ["changeTodoStatus": ["todo": ["id": id, "complete": complete]]]
}
