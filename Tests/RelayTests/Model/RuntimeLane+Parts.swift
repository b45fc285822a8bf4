import OpenCombine
import Relay
@_spi(Rooms) import RelayStore
import TodoFixtures

// Responses in parts, results that are kept, and events that come to nothing. Their records are nobody else's, so that
// only what holds a response keeps them from a collection.

extension RuntimeLane {
    /// A result that somebody keeps.
    struct KeptResult {
        let id: String
        let record: TodoModel.Record
        let responses: Collected<GraphQLResponse>
    }

    // MARK: Parts

    /// An operation whose response comes in parts, with other work in between. The deferred fragment is read as
    /// each part is delivered.
    func executeInParts() async throws {
        let id = "\(name)-parts-\(next())"
        let environment = environment
        func line(_ todo: (any DeferredTodo)?, _ errors: [GraphQLError]) -> String {
            let text = todo.map { environment.lookup($0.asFragment()).data?.text ?? "-" }
            return "\(todo?.id ?? "null") \(text ?? "null") \(errors.count)"
        }
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            try await executeInParts(id, path: ["node"]) {
                Outcomes(
                    environment.publisher(of: DeferredTodoQuery(variables: .init(id: id)))
                ) { line($0.data?.node?.asTodo, $0.errors) }
            }
        case 1:
            let mutation = DeferredRenameMutation(variables: .init(id: id, text: "x"))
            try await executeInParts(id, path: ["renameTodo", "todo"]) {
                Outcomes(
                    environment.publisher(
                        of: mutation, cacheConfig: CacheConfig(metadata: requests))
                ) { line($0.data?.renameTodo?.todo, $0.errors) }
            }
        default:
            try await executeInParts(id, path: ["todoAdded", "todo"]) {
                Outcomes(environment.publisher(of: DeferredTodoAddedSubscription())) {
                    line($0.data?.todoAdded?.todo, $0.errors)
                }
            }
        }
    }

    private func executeInParts(
        _ id: String, path: [String], _ execute: () -> Outcomes
    ) async throws {
        note("\(path[0]) \(id) in parts")
        let (outcomes, asked) = asking(execute)
        let made = await sent(asked)
        try require(made.count == 1, "\(made.count) requests were made for parts")
        let data = path.reversed().reduce(#"{"__typename":"Todo","id":"\#(id)"}"#) {
            #"{"\#($1)":\#($0)}"#
        }
        made[0].send(#"{"data":\#(data),"hasNext":true}"#)
        var text = "-"
        var errors = 0
        var lines = ["\(id) - 0"]
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            if Bool.random(using: &random) { environment.store.collectGarbage() }
            switch Int.random(in: 0..<4, using: &random) {
            case 0: made[0].send(#"{"hasNext":true}"#)
            case 1:
                made[0].send(part("null", path, #","errors":[{"message":"no"}]"#))
                errors += 1
                lines.append("\(id) \(text) \(errors)")
            default:
                text = "p\(next())"
                made[0].send(part(#"{"text":"\#(text)","complete":true}"#, path))
                lines.append("\(id) \(text) \(errors)")
            }
        }
        let isWhole = Bool.random(using: &random)
        if isWhole { made[0].send(#"{"hasNext":false}"#) }
        made[0].complete()
        note("\(id) has come: \(lines)")
        // A subscription may end at any time.
        let isCut = !isWhole && path[0] != "todoAdded"
        expectations.append((outcomes, lines + [isCut ? "failed" : "finished"]))
    }

    private func part(_ data: String, _ path: [String], _ errors: String = "") -> String {
        let path = path.map { #""\#($0)""# }.joined(separator: ",")
        return #"{"incremental":[{"path":[\#(path)],"data":\#(data)\#(errors)}],"hasNext":true}"#
    }

    // MARK: Results that are kept

    func keepResult() throws {
        let (id, text) = ("\(name)-kept-\(next())", "k\(next())")
        note("keep the result of \(id)")
        let operation = TodoQuery(id: id).createDescriptor()
        let (responses, made) = asking { Collected(environment.execute(operation: operation)) }
        try require(made.count == 1, "\(made.count) requests were made for a result to keep")
        made[0].send(Payloads.todo(id, text, complete: true))
        made[0].complete()
        try require(responses.values.count == 1, "\(responses.values.count) results to keep")
        kept.append(
            KeptResult(id: id, record: .fields(text: text, complete: true), responses: responses))
    }

    func letGo() {
        if let result = kept.popLast() { note("let go of \(result.id)") }
    }

    func compareKept() throws {
        for result in kept {
            let snapshot: Relay.Snapshot<TodoQuery.Data> = environment.lookup(
                selector: TodoQuery(id: result.id).createDescriptor().fragment)
            try require(
                Self.record(snapshot) == result.record,
                "\(result.id) is kept, and \(Self.record(snapshot))")
        }
    }

    // MARK: Events without data

    /// The stream goes on.
    func eventWithoutData() {
        let id = "\(name)-unread-\(next())"
        note("an event without data")
        eventRequest.send(
            Bool.random(using: &random)
                ? #"{"data":null,"errors":[{"message":"not for you"}]}"#
                : #"{"data":{"todoAdded":{"todo":{"id":"\#(id)","complete":true}}}}"#)
        expectedEvents.append("null")
    }
}
