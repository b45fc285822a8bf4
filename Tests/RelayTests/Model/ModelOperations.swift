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

struct TodoRemovedSubscription: Relay.Operation {
    static let node = TodoDocuments.request("TodoRemovedSubscription")
    var variables = Variables()

    struct Variables: VariableDataConvertible {
        var variableData: VariableData { ["userId": "me"] }
    }

    struct Data: ReadableRecord {
        var todoRemoved: Payload?

        init(_ record: inout RecordReader) throws {
            todoRemoved = try record.optionalLinked("todoRemoved")
        }

        struct Payload: ReadableRecord {
            var deletedTodoId: String

            init(_ record: inout RecordReader) throws {
                deletedTodoId = try record.string("deletedTodoId")
            }
        }
    }
}

/// The updater of a mutation's response.
enum ModelUpdater: CaseIterable {
    case none
    case adds
    case fails

    struct Refusal: Error {}

    var changes: [TodoModel.Change] { self == .adds ? [.suffix("!")] : [] }

    func updater(of id: String) -> SelectorStoreUpdater? {
        switch self {
        case .none: nil
        case .adds: { store, _ in RuntimeLane.addSuffix("!", to: id, in: &store) }
        case .fails:
            { store, _ in
                RuntimeLane.addSuffix("?", to: id, in: &store)
                throw Refusal()
            }
        }
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

    /// A response that says that its field came to nothing.
    var nullResponse: String {
        let field =
            switch self {
            case .rename: "renameTodo"
            case .complete: "changeTodoStatus"
            case .delete: "removeTodo"
            }
        return #"{"data":{"\#(field)":null},"errors":[{"message":"no","path":["\#(field)"]}]}"#
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
