import Foundation

/// A directory on a disk that loses, when the power goes, whatever was not synced (script/power-loss.c).
final class PowerLossDisk: Sendable {
    private let sandbox: Sandbox
    private let library: PreloadedLibrary
    private let root: String
    /// Of the program that runs: what the disk has.
    private let copy = Watched("")
    private let number = Watched(0)

    static func library(in sandbox: Sandbox) async throws -> PreloadedLibrary {
        try await PreloadedLibrary(
            source: Sandbox.repository + "/script/power-loss.c", in: sandbox)
    }

    init(_ name: String, _ library: PreloadedLibrary, in sandbox: Sandbox) throws {
        self.sandbox = sandbox
        self.library = library
        root = URL(filePath: try sandbox.directory(named: name)).resolvingSymlinksInPath()
            .path(percentEncoded: false)
    }

    /// Serves the todo example from this disk.
    func serve(durability: String) async throws -> RunningServer {
        number.update { $0 += 1 }
        let copy = try sandbox.directory(
            named: URL(filePath: root).lastPathComponent + "-\(number.value)")
        self.copy.update { $0 = copy }
        let settings = [
            "POWER_LOSS_ROOT": root, "POWER_LOSS_DISK": copy, "POWER_LOSS_PROGRAM": "relay",
        ]
        return try await RunningServer(
            sandbox.start(
                [
                    "serve", "--schema", Sandbox.todoSchema, "--seed", Sandbox.todoSeed, "--data",
                    root + "/data", "--port", "0", "--log-level", "warning", "--durability",
                    durability,
                ], environment: library.environment.merging(settings) { $1 }))
    }

    /// What the next program finds is only what was synced. To be called when the program has been killed.
    func losePower() async throws {
        try FileManager.default.removeItem(atPath: root)
        let copied = try await sandbox.start(
            ["cp", "-RL", copy.value + "/root", root], program: "/usr/bin/env"
        ).finish()
        guard copied.exit == .code(0) else { throw Failure("cp: \(copied)") }
        try FileManager.default.removeItem(atPath: copy.value)
    }
}
