import RelayTerminal

private let fragment = graphql("fragment TodoRow_todo on Todo { id text complete }")

struct TodoRow: View {
    @Fragment<TodoRow_todo> var todo
    @Mutation<ChangeTodoStatusMutation> var changeStatus

    var body: some View {
        if let todo {
            Button {
                changeStatus.commit(
                    variables: .init(input: .init(complete: !todo.complete, id: todo.id)),
                    optimisticResponse: .init(
                        changeTodoStatus: .init(
                            todo: .init(id: todo.id, complete: !todo.complete))))
            } label: {
                HStack {
                    Image(systemName: todo.complete ? "checkmark.square" : "square")
                    Text(todo.text)
                }
            }
        }
    }
}
