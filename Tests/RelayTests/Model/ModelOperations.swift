import Relay

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
