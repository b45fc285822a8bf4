// The page's view as it stands; only its imports are others.
// swift-format-ignore-file
// ToDoItem.swift

import RelayTerminal

private let itemFragment = graphql("""
fragment ToDoItem_item on Item {
  id
  text
  complete
}
""")

struct ToDoItem: View {
    @Fragment<ToDoItem_item> var item
    @Mutation<ChangeTodoStatusMutation> var changeStatus

    var body: some View {
        if let item = item {
            HStack {
                Button {
                    changeStatus.commit(variables: .init(
                        input: .init(id: item.id, complete: !item.complete)
                    ))
                } label: {
                    Image(systemName: item.complete ? "checkmark.square" : "square")
                }
                .disabled(changeStatus.isInFlight)

                Text("\(item.text)")
            }
        }
    }
}
