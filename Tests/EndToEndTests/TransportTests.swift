import RelayJSON
import Testing

/// The same server over plain HTTP and plain WebSocket, seen by clients that share no code with it.
@Suite(.bounded)
struct TransportTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test func aPOSTIsAnsweredWithItsResult() async throws {
        let server = try await sandbox.serve()
        let replies = try await onThread {
            let client = try HTTPClient(port: server.port)
            return try [
                client.post(#"{"query": "{ user { completedCount totalCount } }"}"#),
                client.post(
                    """
                    {"query": "mutation Rename($input: RenameTodoInput!) { renameTodo(input: $input) \
                    { todo { text } } }", "operationName": "Rename",
                    "variables": {"input": {"id": "VG9kbzox", "text": "Buy two unicorns"}}}
                    """,
                    headers: ["accept": "application/graphql-response+json"]),
            ]
        }
        #expect(replies.map(\.status) == [200, 200])
        #expect(
            try replies.map { try $0.body.payload().data } == [
                ["user": ["completedCount": 1, "totalCount": 2]],
                ["renameTodo": ["todo": ["text": "Buy two unicorns"]]],
            ])
        // Who says nothing gets the new type (GraphQL over HTTP, legacy watershed).
        #expect(
            replies[0].headers["content-type"]?.hasPrefix("application/graphql-response+json")
                == true)
        #expect(
            replies[1].headers["content-type"]?.hasPrefix("application/graphql-response+json")
                == true)
    }

    @Test func healthzAnswersAndHealthcheckBelievesIt() async throws {
        let server = try await sandbox.serve()
        let reply = try await onThread { try HTTPClient(port: server.port).get("/healthz") }
        #expect(reply.status == 200)
        let check = try await sandbox.relay("healthcheck", "http://127.0.0.1:\(server.port)")
        #expect(check.exit == .code(0))
        #expect(check.errors.isEmpty)
    }

    @Test func anotherPathIsNotFound() async throws {
        let server = try await sandbox.serve()
        let reply = try await onThread { try HTTPClient(port: server.port).get("/elsewhere") }
        #expect(reply.status == 404)
    }

    @Test func graphqlTransportWSIsSpokenToTheLetter() async throws {
        let server = try await sandbox.serve()
        let types = try await onThread {
            let socket = try RawWebSocket(port: server.port)
            try socket.send(["type": "connection_init"])
            var messages = [try socket.receive()]
            try socket.send(["type": "ping"])
            messages.append(try socket.receive())
            try socket.send([
                "id": "q", "type": "subscribe", "payload": ["query": "{ user { totalCount } }"],
            ])
            messages += [try socket.receive(), try socket.receive()]
            try socket.send([
                "id": "s", "type": "subscribe",
                "payload": ["query": "subscription { user { totalCount } }"],
            ])
            messages.append(try socket.receive())
            try socket.send(["id": "s", "type": "complete"])
            try socket.send(["id": "e", "type": "subscribe", "payload": ["query": "{ nothing }"]])
            messages.append(try socket.receive())
            return messages.map { [$0["id"]?.string, $0["type"]?.string] }
        }
        #expect(
            types == [
                [nil, "connection_ack"], [nil, "pong"], ["q", "next"], ["q", "complete"],
                ["s", "next"], ["e", "error"],
            ])
    }
}
