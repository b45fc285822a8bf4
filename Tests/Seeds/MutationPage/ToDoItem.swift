// The page's view as it stands, but for what it shows: its fragment, its mutation, and what its button does.
// swift-format-ignore-file
import Relay

private let itemFragment = graphql("""
fragment ToDoItem_item on Item {
  id
  text
  complete
}
""")

struct ToDoItem {
    var item: ToDoItem_item.Data?
    @Mutation<ChangeTodoStatusMutation> var changeStatus

    func toggle() {
        if let item = item {
            changeStatus.commit(variables: .init(
                input: .init(id: item.id, complete: !item.complete)
            ))
        }
    }

    func toggleWithTheConvenience() {
        if let todo = item {
            let id = todo.id
            changeStatus.commit(
                id: id,
                complete: !todo.complete
            )
        }
    }
}
