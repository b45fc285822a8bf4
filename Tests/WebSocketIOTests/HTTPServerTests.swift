import Testing
import WebSocketIO

@Suite(.timeLimit(.minutes(1)))
struct HTTPServerTests {
    @Test func answersARequestAndKeepsTheConnection() async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            for path in ["/first", "/second"] {
                try client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                let answer = try client.read(through: "GET \(path)\n")
                #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
            }
        }
    }

    @Test func echoesAWebSocketMessage() async throws {
        try await TestServer.run { server in
            let client = try RawClient(port: server.port)
            try client.upgrade()
            try client.send(text: "hello")
            #expect(try client.readFrame().text == "hello")
        }
    }
}
