import Foundation
import RelayJSON
import Testing

/// `relay compile`, from outside.
@Suite(.bounded)
struct CompileTests {
    private let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        _ = try sandbox.directory(named: "App")
        _ = try sandbox.write(Self.list, to: "App/List.swift")
    }

    private static let list = """
        private let query = graphql(\"""
            query ListQuery { user { id totalCount } }
            \""")
        """

    private func compile(_ options: String...) async throws -> Finished {
        let arguments =
            ["compile", "--schema", Sandbox.todoSchema, "--src", sandbox.path("App")] + options
        let child = try sandbox.start(arguments)
        child.closeInput()
        return try await child.finish()
    }

    @Test func codeIsWrittenWhereItDiffersAndRemovedWithItsDocument() async throws {
        #expect(try await compile("--check").exit == .code(2))
        let first = try await compile()
        #expect(first.exit == .code(0), "\(first)")
        #expect(first.output == ["1 operation, 0 fragments: 2 files, 2 written."])
        #expect(try await compile("--check").exit == .code(0))
        _ = try sandbox.write(
            Self.list.replacing("ListQuery", with: "ViewQuery"), to: "App/View.swift")
        let second = try await compile("--json")
        let result = try #require(second.output.first).json()
        #expect(result["operations"] == 2)
        #expect(result["changed"]?.array?.count == 1, "\(result)")
        _ = try sandbox.write("// nothing any more", to: "App/View.swift")
        let third = try await compile("--json")
        #expect(try third.output.first?.json()["removed"]?.array?.count == 1)
    }

    @Test func mistakesArePrintedAsACompilerDoesIt() async throws {
        _ = try sandbox.write(
            Self.list.replacing("totalCount", with: "totlCount"), to: "App/List.swift")
        let wrong = try await compile()
        #expect(wrong.exit == .code(1))
        let file = sandbox.path("App/List.swift")
        #expect(
            wrong.errors == [
                "\(file):2:33: error: Cannot query field \"totlCount\" on type \"User\". "
                    + "Did you mean \"totalCount\"?",
                "  2 |     query ListQuery { user { id totlCount } }",
                "    |                                 ^",
            ])
        let line = try #require(try await compile("--json").output.first).json()
        #expect(line["line"] == 2 && line["column"] == 33 && line["file"] == .string(file))
    }

    @Test func aMissingSchemaIsAWrongCall() async throws {
        let finished = try await sandbox.relay("compile", "--src", sandbox.path("App"))
        #expect(finished.exit == .code(64))
        #expect(finished.errors.first?.contains("--schema") == true)
        let other = try await compile("--schema", "nowhere.graphql")
        #expect(other.exit == .code(1))
        #expect(other.errors == ["error: There is no file nowhere.graphql."])
    }

    /// The server executes what the compiler persisted, by its id and nothing else.
    @Test func whatIsPersistedIsServed() async throws {
        let file = sandbox.path("ids.json")
        #expect(try await compile("--persist", file).exit == .code(0))
        let server = try await sandbox.serve("--persisted", file, "--persisted-only")
        let ids = try String(contentsOfFile: file, encoding: .utf8).json()
        let id = try #require(ids.object?.map { $0.key }.first)
        #expect(id.hasPrefix("ListQuery-"))
        let body = JSONValue.object(["documentId": .string(id)]).text
        let reply = try await onThread { try HTTPClient(port: server.port).post(body) }
        #expect(try reply.body.payload().data["user"]?["totalCount"] == 2)
        // Another version is added: clients may still have the first.
        _ = try sandbox.write(
            Self.list.replacing("totalCount", with: "userId"), to: "App/List.swift")
        #expect(try await compile("--persist", file).exit == .code(0))
        #expect(try String(contentsOfFile: file, encoding: .utf8).json().object?.count == 2)
    }

    /// What a server prints is a schema to compile with.
    @Test func theSchemaOfAServerIsOneToCompileWith() async throws {
        let server = try await sandbox.serve()
        let schema = try await sandbox.relay("schema", server.url)
        #expect(schema.exit == .code(0))
        let path = try sandbox.write(schema.output.joined(separator: "\n"), to: "printed.graphql")
        let finished = try await sandbox.relay(
            "compile", "--schema", path, "--src", sandbox.path("App"))
        #expect(finished.exit == .code(0), "\(finished)")
    }

    @Test func watchingGeneratesAgain() async throws {
        let child = try sandbox.start([
            "compile", "--schema", Sandbox.todoSchema, "--src", sandbox.path("App"), "--watch",
            "--json",
        ])
        #expect(try await child.nextLine().json()["changed"]?.array?.count == 2)
        _ = try sandbox.write(
            Self.list.replacing("totalCount", with: "userId"), to: "App/List.swift")
        #expect(try await child.nextLine().json()["changed"]?.array?.count == 1)
    }
}

extension String {
    fileprivate func json() throws -> JSONValue { try JSONValue(parsing: self) }
}
