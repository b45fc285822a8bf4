import Foundation
import RelayJSON

/// A directory for one test, and the programs that it starts there. Both are gone when the test is.
final class Sandbox: Sendable {
    /// The top of the repository.
    static let repository = URL(filePath: #filePath).appending(path: "../../../..").standardized
        .path(percentEncoded: false)
    static let todoSchema = repository + "/docs/examples/todo.graphql"
    static let todoSeed = repository + "/docs/examples/todo.seed.ndjson"

    let directory: String
    private let relay: String
    private let children = Watched<[ChildProcess]>([])

    init() throws {
        // A program that ended may not take the tests with it when they write to it.
        signal(SIGPIPE, SIG_IGN)
        relay = try Self.builtProgram()
        let url = FileManager.default.temporaryDirectory
            .appending(path: "relay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        directory = url.path(percentEncoded: false)
    }

    deinit {
        for child in children.value { child.send(signal: SIGKILL) }
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// The `relay` that was built together with these tests; RELAY_PROGRAM names another.
    private static func builtProgram() throws -> String {
        let named = ProcessInfo.processInfo.environment["RELAY_PROGRAM"]
        #if os(macOS)
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
            let products = bundle?.bundleURL.deletingLastPathComponent() ?? Bundle.main.bundleURL
        #else
            let products = Bundle.main.bundleURL
        #endif
        let path = named ?? products.appending(path: "relay").path(percentEncoded: false)
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw Failure(
                "There is no program to test at \(path): \"swift build\" makes it there.")
        }
        return path
    }

    /// Another program that was built together with these tests.
    static func program(named name: String) throws -> String {
        let path = directory(of: try builtProgram()) + "/" + name
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw Failure("There is no program to test at \(path).")
        }
        return path
    }

    func path(_ name: String) -> String { directory + "/" + name }

    func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: path(name), atomically: false, encoding: .utf8)
        return path(name)
    }

    /// Makes a directory in the sandbox, and gives its path.
    func directory(named name: String) throws -> String {
        try FileManager.default.createDirectory(
            atPath: path(name), withIntermediateDirectories: false)
        return path(name)
    }

    // MARK: Programs

    /// Starts `relay`, or another program, in the sandbox.
    func start(
        _ arguments: [String], program: String? = nil, environment: [String: String] = [:]
    ) throws -> ChildProcess {
        // Settings of whoever runs the tests are not the tests'.
        var variables = ProcessInfo.processInfo.environment.filter {
            !$0.key.hasPrefix("RELAY_") && $0.key != "TMUX"
        }
        variables["PATH"] = Self.directory(of: relay) + ":" + (variables["PATH"] ?? "")
        variables.merge(environment) { $1 }
        let child = try ChildProcess(
            program ?? relay, arguments, in: directory, environment: variables)
        children.update { $0.append(child) }
        return child
    }

    private static func directory(of file: String) -> String {
        URL(filePath: file).deletingLastPathComponent().path(percentEncoded: false)
    }

    /// Runs `relay` to its end.
    func relay(_ arguments: String...) async throws -> Finished {
        let child = try start(arguments)
        child.closeInput()
        return try await child.finish()
    }

    /// Serves the todo example, on a free port unless `options` say otherwise.
    func serve(_ options: String...) async throws -> RunningServer {
        try await RunningServer(
            start(
                [
                    "serve", "--schema", Self.todoSchema, "--seed", Self.todoSeed, "--data",
                    path("data"), "--port", "0", "--log-level", "info",
                ] + options))
    }

    /// The events in the sandbox's log, as `relay log list --json` tells them.
    func events() async throws -> [JSONValue] {
        let list = try await relay("log", "list", path("data"), "--json")
        guard list.exit == .code(0) else { throw Failure("relay log list failed: \(list)") }
        return try list.output.map { try JSONValue(parsing: $0) }
    }
}
