import Foundation
import RelayJSON
import Testing

/// What can be known of the image without building it.
@Suite(.bounded) struct ImageTests {
    /// What the image does if nobody says otherwise.
    private func command() throws -> [String] {
        let file = try String(
            contentsOfFile: Sandbox.repository + "/Docker/Dockerfile", encoding: .utf8)
        let last = file.components(separatedBy: "\nCMD ").last ?? ""
        let json = try JSONValue(parsing: last.replacing("\\\n", with: " "))
        return json.array?.compactMap(\.string) ?? []
    }

    /// The compose file has a server and a client of the image.
    @Test func theImagesCommandServesWhatItsTerminalClientAsksFor() async throws {
        let sandbox = try Sandbox()
        let command = try command().map {
            $0.replacing(
                "/usr/local/share/relay/examples", with: Sandbox.repository + "/docs/examples")
        }
        #expect(command.first == "serve")
        let server = try await RunningServer(
            sandbox.start(command + ["--data", sandbox.path("data"), "--port", "0"]))
        let moved = try await server.data(
            """
            mutation { moveTodo(input: {id: "VG9kbzox"}) {
                user { todos(first: 2) { edges { node { id } } } } } }
            """)
        #expect(
            moved["moveTodo"]?["user"]?["todos"]?["edges"] == [
                ["node": ["id": "VG9kbzox"]], ["node": ["id": "VG9kbzow"]],
            ])
        #expect(try await server.stop() == .code(0))
        // So does the script.
        let script = try String(
            contentsOfFile: Sandbox.repository + "/script/server", encoding: .utf8)
        let schemas = command.filter { $0.hasSuffix(".graphql") }.compactMap {
            $0.split(separator: "/").last
        }
        #expect(schemas.count == 2)
        for schema in schemas { #expect(script.contains("--schema docs/examples/\(schema) ")) }
    }

    /// A package does not build, whatever the product, if a folder that a target is in is missing.
    @Test func theImageIsBuiltFromAllFoldersWithTargets() throws {
        let top = URL(filePath: #filePath).appending(path: "../../..").standardized
        func text(_ path: String) throws -> [Substring] {
            try String(contentsOf: top.appending(path: path), encoding: .utf8).split(
                separator: "\n")
        }
        let (file, context) = (try text("Docker/Dockerfile"), try text(".dockerignore"))
        let folders = try FileManager.default.contentsOfDirectory(atPath: top.path())
            .filter { ["Plugins", "Sources", "Tests"].contains($0) }
        #expect(folders.count == 3)
        for folder in folders {
            #expect(file.contains("COPY \(folder) \(folder)"))
            #expect(context.contains("!\(folder)"))
        }
        // Those are all.
        for line in try text("Package.swift") where line.contains("path: \"") {
            #expect(folders.contains { line.contains("path: \"\($0)/") }, "\(line)")
        }
    }
}
