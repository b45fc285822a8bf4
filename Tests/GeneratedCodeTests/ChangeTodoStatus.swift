import Relay

// As the tutorials on mutations have it, with a literal dictionary.
extension Mutation.Mutator where Operation == ChangeTodoStatusMutation {
    func commit(id: String, complete: Bool) {
        commit(
            variables: .init(
                input: .init(
                    complete: complete,
                    id: id,
                    userId: "me"
                )),
            optimisticResponse: [
                "changeTodoStatus": [
                    "todo": [
                        "id": id,
                        "complete": complete,
                    ]
                ]
            ]
        )
    }
}
