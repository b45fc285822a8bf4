import RelayServer
import SchemaService
import TodoMutations

/// What this server can do beyond the directives of its schema. The article on handlers of `RelayServer` shows these functions.
enum TodoHandlers {
    /// What is added to docs/examples/todo.graphql, with what both ends share.
    static let schema = TodoMutations.schema + ownSchema

    private static let ownSchema = """

        extend type User {
          "How much of the list is done, from 0 to 1."
          progress: Float!
        }

        extend type Mutation {
          "Adds a todo that another service thinks of, which takes a moment."
          suggestTodo(input: SuggestTodoInput!): SuggestTodoPayload
        }

        input SuggestTodoInput { topic: String! userId: ID! = "me" clientMutationId: String }
        type SuggestTodoPayload { todo: Todo! todoEdge: TodoEdge! user: User! clientMutationId: String }

        type ProgressMade { mutation: String! completed: Int! of: Int! user: User! }

        extend type Subscription {
          "Counts down to zero, a number every \\"everyMilliseconds\\"."
          countdown(from: Int!, everyMilliseconds: Int! = 1000): Int!
          "The list's progress after each mutation that finishes todos of it."
          progressMade: ProgressMade!
        }

        """

    static func all() -> Handlers {
        var handlers = Handlers()
        addProgress(to: &handlers)
        addChecks(to: &handlers)
        addSharedMutations(to: &handlers)
        addSuggestTodo(to: &handlers)
        addCountdown(to: &handlers)
        addProgressMade(to: &handlers)
        return handlers
    }

    /// A computed field.
    static func addProgress(to handlers: inout Handlers) {
        handlers.resolve("User.progress") { field in
            let todos = field.record?.links("todos") ?? []
            if todos.isEmpty { return 1.0 }
            return Double(todos.count { $0["complete"] == true }) / Double(todos.count)
        }
    }

    /// A validated mutation: `addTodo` is still what `@create` says, if it comes to that.
    static func addChecks(to handlers: inout Handlers) {
        handlers.check("addTodo") { variables, _, records in
            let text = variables.input?["text"]?.stringValue ?? ""
            if text.allSatisfy(\.isWhitespace) {
                throw HandlerError("A todo needs a text.", code: "BAD_USER_INPUT")
            }
            let user = records.record(of: "User", where: "userId", is: "me")
            if let user, user.links("todos").contains(where: { $0["text"] == .string(text) }) {
                throw HandlerError("\"\(text)\" is on the list already.", code: "CONFLICT")
            }
        }
    }

    /// Mutations in Swift. The functions know nothing of a server: clients run them as optimistic updaters.
    static func addSharedMutations(to handlers: inout Handlers) {
        handlers.mutation("changeAllTodos", TodoMutations.changeAllTodos)
        handlers.mutation("sinkFinishedTodos", TodoMutations.sinkFinishedTodos)
        handlers.mutation("moveTodo", TodoMutations.moveTodo)
        // A client may have a part of the list only; the server has all of it.
        handlers.check("moveTodo") { variables, _, records in
            let user = variables.input?["userId"]?.stringValue.flatMap { records[DataID($0)] }
            let todos = Set(user?.links("todos").map(\.id.rawValue) ?? [])
            for id in [variables.input?["id"], variables.input?["after"]] {
                guard let id = id?.stringValue, !todos.contains(id) else { continue }
                throw HandlerError("\"\(id)\" is not in the list.", code: "NOT_FOUND")
            }
        }
    }

    /// The user that an input names; the server has put the id in place of "me".
    static func user(
        _ variables: VariableData, in records: any RecordSourceProxy
    ) throws -> any RecordProxy {
        guard let id = variables.input?["userId"]?.stringValue, let user = records[DataID(id)]
        else { throw HandlerError("There is no such user.", code: "NOT_FOUND") }
        return user
    }

    /// A mutation that waits for another service before it writes.
    static func addSuggestTodo(to handlers: inout Handlers) {
        handlers.mutation(
            "suggestTodo",
            waitingFor: { variables, _, _ in
                let topic = variables.input?["topic"]?.stringValue ?? ""
                let suggestion = try await Suggestions.shared.suggestion(on: topic)
                return { records, variables, _ in
                    let user = try user(variables, in: records)
                    let todo = records.create(typeName: "Todo")
                    todo["text"] = suggestion
                    todo["complete"] = false
                    user.connection("todos")?.insert(todo, edgeType: "TodoEdge", at: .end)
                    return todo.dataID
                }
            })
    }

    /// A subscription that is fed by a sequence.
    static func addCountdown(to handlers: inout Handlers) {
        handlers.subscription("countdown") { subscription in
            let start = subscription.arguments["from"]?.intValue ?? 0
            let pause = subscription.arguments["everyMilliseconds"]?.intValue ?? 1000
            return Countdown(next: start, pause: .milliseconds(pause))
        }
    }
}

extension TodoHandlers {
    /// A subscription that follows commits.
    static func addProgressMade(to handlers: inout Handlers) {
        handlers.subscription(
            "progressMade",
            onCommit: { commit, _ in
                guard ["changeTodoStatus", "changeAllTodos"].contains(commit.mutation),
                    let user = commit.records.record(of: "User", where: "userId", is: "me")
                else { return nil }
                let todos = user.links("todos")
                return VariableData([
                    "mutation": commit.mutation, "of": todos.count,
                    "completed": todos.count { $0["complete"] == true }, "user": user,
                ])
            })
    }
}

/// A service that this server asks; a real one would be far away.
actor Suggestions {
    static let shared = Suggestions()

    func suggestion(on topic: String) async throws -> String {
        if topic.isEmpty {
            throw HandlerError("A suggestion needs a topic.", code: "BAD_USER_INPUT")
        }
        // Some topics take longer.
        try await Task.sleep(for: topic == "forever" ? .seconds(3_600) : .milliseconds(50))
        return "Read a book about \(topic)"
    }
}

/// Numbers down to zero, with a pause before each but the first.
struct Countdown: AsyncSequence, AsyncIteratorProtocol, Sendable {
    var next: Int
    let pause: Duration
    var isFirst = true

    func makeAsyncIterator() -> Countdown { self }

    mutating func next() async throws -> Int? {
        guard next >= 0 else { return nil }
        if !isFirst { try await Task.sleep(for: pause) }
        isFirst = false
        defer { next -= 1 }
        return next
    }
}
