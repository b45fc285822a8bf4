import RelayJSON
import Testing

/// What is wrong is said, with a code where there is one; the server lives on, and its log is as it
/// was.
@Suite(.bounded)
struct WrongRequestTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    struct Mistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let document: String
        let code: String?
        let message: String
    }

    private static let mistakes = [
        Mistake(
            testDescription: "unknown id",
            document: #"mutation { renameTodo(input: {id: "nobody", text: "x"}) { todo { id } } }"#,
            code: "NOT_FOUND", message: "nobody"),
        Mistake(
            testDescription: "syntax error", document: "{ user { ", code: nil,
            message: "Syntax Error: Expected Name, found <EOF>."),
        Mistake(
            testDescription: "unknown field", document: "{ user { age } }", code: nil,
            message: #"Cannot query field "age" on type "User"."#),
    ]

    @Test(arguments: mistakes)
    func aWrongOperationIsAnErrorAndChangesNothing(_ mistake: Mistake) async throws {
        let server = try await sandbox.serve()
        let finished = try await sandbox.relay("request", server.url, mistake.document)
        #expect(finished.exit == .code(1))
        let payload = try #require(finished.output.first).payload()
        #expect(payload.code == mistake.code)
        #expect(payload.message?.contains(mistake.message) == true, "\(payload)")
        try await expectNothingHappened(server)
    }

    @Test(arguments: ["this is not JSON", "[]", "{}", "", #"{"query": 7}"#])
    func aBodyThatIsNoRequestIsRefused(_ body: String) async throws {
        let server = try await sandbox.serve()
        let reply = try await onThread { try HTTPClient(port: server.port).post(body) }
        #expect(reply.status == 400)
        #expect(try reply.body.payload().message?.isEmpty == false)
        try await expectNothingHappened(server)
    }

    @Test func aMessageThatIsNotJSONEndsItsConnectionOnly() async throws {
        let server = try await sandbox.serve()
        let message = try await onThread {
            let socket = try RawWebSocket(port: server.port)
            try socket.send(["type": "nonsense"])
            return try socket.receiveMessage()
        }
        guard case .close(code: 4400, reason: _) = message else {
            Issue.record("The server answered \(message).")
            return
        }
        try await expectNothingHappened(server)
    }

    private func expectNothingHappened(_ server: RunningServer) async throws {
        #expect(
            try await server.data("{ user { totalCount } }")
                == ["user": ["totalCount": 2]])
        #expect(try await sandbox.events().count == 1)
    }
}
