import Foundation

/// A project for `relay compile`, in a sandbox: `App/List.swift` with one query for the todo example's schema.
struct CompiledProject: Sendable {
    private let sandbox: Sandbox

    static let list = """
        private let query = graphql(\"""
            query ListQuery { user { id totalCount } }
            \""")
        """

    init() throws {
        sandbox = try Sandbox()
        try write(Self.list, to: "App/List.swift")
    }

    // MARK: Files

    func path(_ name: String) -> String { sandbox.path(name) }

    /// Writes a file, and makes the folders that it is in.
    func write(_ text: String, to name: String) throws {
        let folder = URL(filePath: path(name)).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        _ = try sandbox.write(text, to: name)
    }

    func read(_ name: String) throws -> String {
        try String(contentsOfFile: path(name), encoding: .utf8)
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: path(name))
    }

    func move(_ name: String, to other: String) throws {
        try FileManager.default.moveItem(atPath: path(name), toPath: path(other))
    }

    /// Makes a link at `name`.
    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: path(name), withDestinationPath: target)
    }

    func isLink(_ name: String) -> Bool {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: path(name))) != nil
    }

    /// All files in a folder, hidden ones too, by their names.
    func files(in folder: String) throws -> [String: String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: path(folder))
        return Dictionary(
            uniqueKeysWithValues: try names.map { ($0, try read("\(folder)/\($0)")) })
    }

    // MARK: The command

    func start(_ arguments: [String]) throws -> ChildProcess { try sandbox.start(arguments) }

    func relay(_ arguments: String...) async throws -> Finished {
        let child = try sandbox.start(arguments)
        child.closeInput()
        return try await child.finish()
    }

    /// Compiles `App` against the todo example's schema.
    func compile(_ options: [String]) async throws -> Finished {
        let child = try sandbox.start(
            ["compile", "--schema", Sandbox.todoSchema, "--src", path("App")] + options)
        child.closeInput()
        return try await child.finish()
    }
}
