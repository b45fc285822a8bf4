// Variables by the fields of their inputs, for mutations that many tests run.

extension AddTodoMutation.Variables {
    package init(text: String, connections: [String]) {
        self.init(input: AddTodoInput(text: text), connections: connections)
    }
}

extension RenameTodoMutation.Variables {
    package init(id: String, text: String) { self.init(input: RenameTodoInput(id: id, text: text)) }
}

extension DeferredRenameMutation.Variables {
    package init(id: String, text: String) { self.init(input: RenameTodoInput(id: id, text: text)) }
}

extension RemoveTodoMutation.Variables {
    package init(id: String, connections: [String]) {
        self.init(input: RemoveTodoInput(id: id), connections: connections)
    }
}

extension DeleteTodoMutation.Variables {
    package init(id: String) { self.init(input: RemoveTodoInput(id: id)) }
}
