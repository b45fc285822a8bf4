import Relay
import TodoFixtures

struct RenameTodoMutation: Relay.Operation {
    static let node = TodoDocuments.request("RenameTodoMutation")
    var variables: Variables

    init(variables: Variables) { self.variables = variables }

    struct Variables: VariableDataConvertible {
        var id: String
        var text: String
        var variableData: VariableData { ["input": ["id": id, "text": text]] }
    }

    struct Data: ReadableRecord {
        var renameTodo: Payload?

        init(_ record: inout RecordReader) throws {
            renameTodo = try record.optionalLinked("renameTodo")
        }

        struct Payload: ReadableRecord {
            var todo: Todo

            init(_ record: inout RecordReader) throws { todo = try record.linked("todo") }
        }

        struct Todo: ReadableRecord {
            var id: String
            var text: String

            init(_ record: inout RecordReader) throws {
                id = try record.string("id")
                text = try record.string("text")
            }
        }
    }
}

struct NodesQuery: Relay.Operation {
    static let node = TodoDocuments.request("NodesQuery")
    var variables: Variables

    init(variables: Variables) { self.variables = variables }
    init(ids: [String]) { variables = Variables(ids: ids) }

    struct Variables: VariableDataConvertible {
        var ids: [String]
        var variableData: VariableData { ["ids": ids] }
    }

    struct Data: ReadableRecord {
        var nodes: [Item_todo.Data?]

        init(_ record: inout RecordReader) throws { nodes = try record.list("nodes") }
    }
}

/// What a mutation of the model test does, with its texts on the wire.
enum ModelMutation {
    case rename(String)
    case complete(Bool)
    case delete

    var change: TodoModel.Change {
        switch self {
        case .rename(let text): .text(text)
        case .complete(let complete): .complete(complete)
        case .delete: .delete
        }
    }

    /// The data of a response that grants it.
    func response(_ id: String) -> String {
        switch self {
        case .rename(let text):
            #"{"data":{"renameTodo":{"todo":{"id":"\#(id)","text":"\#(text)"}}}}"#
        case .complete(let complete):
            #"{"data":{"changeTodoStatus":{"todo":{"id":"\#(id)","complete":\#(complete)}}}}"#
        case .delete: #"{"data":{"removeTodo":{"deletedTodoId":"\#(id)"}}}"#
        }
    }

    func optimisticResponse(_ id: String) -> [String: Any] {
        switch self {
        case .rename(let text): ["renameTodo": ["todo": ["id": id, "text": text]]]
        case .complete(let complete):
            ["changeTodoStatus": ["todo": ["id": id, "complete": complete]]]
        case .delete: ["removeTodo": ["deletedTodoId": id]]
        }
    }
}
