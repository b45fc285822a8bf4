import RelayJSON

/// The log of a server that served the todo example, did these and was stopped:
///
///     1     genesis           the seed: me with two todos, the first complete
///     2, 3  changeTodoStatus  the unicorn (VG9kbzox) is complete; mutation id "cli:1"
///     4, 5  addTodo           "Ride it"
///     6, 7  renameTodo        the unicorn is "Buy two unicorns"
///     8, 9  removeTodo        the first todo (VG9kbzow)
struct SmallLog: Sendable {
    static let first = "VG9kbzow"
    static let unicorn = "VG9kbzox"

    let directory: String
    /// The id of the todo that was added.
    let added: String

    init(in sandbox: Sandbox, named name: String = "data") async throws {
        directory = sandbox.path(name)
        let server = try await sandbox.serve("--data", directory)
        try await Self.complete(on: server)
        let payload = try await server.data(
            #"mutation { addTodo(input: {text: "Ride it"}) { todo { id } } }"#)
        guard let id = payload["addTodo"]?["todo"]?["id"]?.string else {
            throw Failure("This is no new todo: \(payload.text)")
        }
        added = id
        _ = try await server.data(
            """
            mutation { renameTodo(input: {id: "\(Self.unicorn)", text: "Buy two unicorns"}) \
            { todo { id } } }
            """)
        _ = try await server.data(
            #"mutation { removeTodo(input: {id: "\#(Self.first)"}) { deletedTodoId } }"#)
        guard try await server.stop() == .code(0) else { throw Failure("The server failed.") }
    }

    private static func complete(on server: RunningServer) async throws {
        let request: JSONValue = [
            "query": .string(
                """
                mutation { changeTodoStatus(input: {id: "\(unicorn)", complete: true}) \
                { todo { complete } } }
                """),
            "extensions": ["relay": ["mutationId": "cli:1"]],
        ]
        let reply = try await onThread { [port = server.port] in
            try HTTPClient(port: port).post(request.text)
        }
        guard reply.status == 200 else { throw Failure("The mutation failed: \(reply)") }
    }
}

extension Sandbox {
    /// The lines of JSON that a command prints, which must end with this exit code.
    func json(
        _ arguments: String..., exit: Int32 = 0
    ) async throws -> [JSONValue] {
        let child = try start(arguments + ["--json"])
        child.closeInput()
        let finished = try await child.finish()
        guard finished.exit == .code(exit) else {
            throw Failure("\(arguments) did not end with \(exit): \(finished)")
        }
        return try finished.output.map { try JSONValue(parsing: $0) }
    }
}
