import Foundation

/// A library that, loaded before the C library, makes a program's syncs fail from a moment on.
///
/// A disk whose syncs fail cannot be had by other means without a kernel module.
struct FailingSync: Sendable {
    /// What the program is to be started with.
    let environment: [String: String]
    private let trigger: String

    /// Whether this machine can make one: Linux, with a C compiler.
    static let isPossible: Bool = {
        #if os(Linux)
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            return path.split(separator: ":").contains {
                FileManager.default.isExecutableFile(atPath: "\($0)/cc")
            }
        #else
            return false
        #endif
    }()

    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <stdlib.h>
        #include <unistd.h>

        int fdatasync(int descriptor) {
            const char *trigger = getenv("FAILING_SYNC");
            if (trigger && access(trigger, F_OK) == 0) {
                errno = EIO;
                return -1;
            }
            int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
            return next(descriptor);
        }
        """

    init(in sandbox: Sandbox) async throws {
        let library = sandbox.path("failing-sync.so")
        let file = try sandbox.write(Self.source, to: "failing-sync.c")
        let compiled = try await sandbox.start(
            ["cc", "-shared", "-fPIC", "-o", library, file, "-ldl"], program: "/usr/bin/env"
        ).finish()
        guard compiled.exit == .code(0) else { throw Failure("cc failed: \(compiled)") }
        trigger = sandbox.path("fail")
        // Behind what is loaded before everything already, as script/tsan does.
        let inherited = ProcessInfo.processInfo.environment["LD_PRELOAD"]
        let libraries = [inherited, library].compactMap(\.self).joined(separator: ":")
        environment = ["LD_PRELOAD": libraries, "FAILING_SYNC": trigger]
    }

    /// From now on every fdatasync of the program fails with EIO.
    func fail() throws { try "".write(toFile: trigger, atomically: false, encoding: .utf8) }
}
