import TodoFixtures

// The page's types are generated into the module of its code.

typealias ChangeTodoStatusMutation = TodoFixtures.ChangeTodoStatusMutation
