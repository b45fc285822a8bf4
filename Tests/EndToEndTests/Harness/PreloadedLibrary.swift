import Foundation

/// A library in C that is loaded into a program before the C library, in place of some of its functions.
struct PreloadedLibrary: Sendable {
    /// What the program is to be started with.
    let environment: [String: String]

    /// Of clang and cc the first that is there.
    private static let compiler: String? = {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let directories = path.split(separator: ":")
        return ["clang", "cc"].first { name in
            directories.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
        }
    }()

    /// Whether this machine can make one: Linux, with a C compiler.
    static let isPossible: Bool = {
        #if os(Linux)
            return compiler != nil
        #else
            return false
        #endif
    }()

    /// Compiles one.
    init(source: String, in sandbox: Sandbox) async throws {
        let library = sandbox.path("preloaded-\(UUID().uuidString).so")
        let compiled = try await sandbox.start(
            [Self.compiler ?? "cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"],
            program: "/usr/bin/env"
        ).finish()
        guard compiled.exit == .code(0) else { throw Failure("\(source): \(compiled)") }
        // Behind what is loaded before everything already, as script/tsan does.
        let inherited = ProcessInfo.processInfo.environment["LD_PRELOAD"]
        environment = [
            "LD_PRELOAD": [inherited, library].compactMap(\.self).joined(separator: ":")
        ]
    }
}
