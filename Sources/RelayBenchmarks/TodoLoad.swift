import Console
import RelayJSON

/// What the network benchmarks ask of a server, which must serve the todo example.
///
/// Texts carry numbers, so that what a server delivers can be traced back to its commit.
enum TodoLoad {
    static let added: JSONObject = [
        "query": "subscription { todoAdded { todo { id text complete } } }"
    ]

    static func add(_ number: Int) -> JSONObject {
        [
            "query": """
            mutation($text: String!) { addTodo(input: {text: $text}) { todo { id } } }
            """, "variables": ["text": .string(text(number))],
        ]
    }

    static func rename(_ id: JSONValue, _ number: Int) -> JSONObject {
        [
            "query": """
            mutation($id: ID!, $text: String!) {
              renameTodo(input: {id: $id, text: $text}) { todo { id text complete } }
            }
            """, "variables": ["id": id, "text": .string(text(number))],
        ]
    }

    /// The same fields as ``rename(_:_:)`` answers with.
    static func read(_ id: JSONValue) -> JSONObject {
        [
            "query": "query($id: ID!) { todo: node(id: $id) { ... on Todo { id text complete } } }",
            "variables": ["id": id],
        ]
    }

    static func live(_ id: JSONValue) -> JSONObject {
        [
            "query": "subscription($id: ID!) { todo(id: $id) { id text complete } }",
            "variables": ["id": id],
        ]
    }

    private static let mark = UInt8(ascii: "~")

    private static func text(_ number: Int) -> String { "~\(number)~" }

    /// The number in a text of a result; nil when there is none.
    static func number(in result: [UInt8]) -> Int? {
        guard let start = result.firstIndex(of: mark) else { return nil }
        var number = 0
        for byte in result[(start + 1)...] {
            if byte == mark { return number }
            guard case 0x30...0x39 = byte, number < 1 << 40 else { return nil }
            number = number * 10 + Int(byte - 0x30)
        }
        return nil
    }

    /// Makes new todos, and returns their ids.
    static func makeTodos(_ count: Int, on connection: LoadConnection) async throws -> [JSONValue] {
        let progress = ProgressBar("Making todos")
        defer { ProgressBar.clear() }
        return try await withThrowingTaskGroup(of: JSONValue.self) { group in
            var ids: [JSONValue] = []
            func take(_ data: JSONValue) throws {
                guard let id = data["addTodo"]?["todo"]?["id"] else {
                    throw CommandFailure("The server does not serve the todo example.")
                }
                ids.append(id)
                progress.show(UInt64(ids.count), of: UInt64(count))
            }
            for begun in 0..<count {
                if begun >= 256, let data = try await group.next() { try take(data) }
                group.addTask { try await connection.data(add(0)) }
            }
            for try await data in group { try take(data) }
            return ids
        }
    }
}
