import Foundation

/// A library that, loaded before the C library, makes a program's syncs fail from a moment on.
///
/// A disk whose syncs fail cannot be had by other means without a kernel module.
struct FailingSync: Sendable {
    /// What the program is to be started with.
    let environment: [String: String]
    private let trigger: String

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
        let file = try sandbox.write(Self.source, to: "failing-sync.c")
        let library = try await PreloadedLibrary(source: file, in: sandbox)
        trigger = sandbox.path("fail")
        environment = library.environment.merging(["FAILING_SYNC": trigger]) { $1 }
    }

    /// From now on every fdatasync of the program fails with EIO.
    func fail() throws { try "".write(toFile: trigger, atomically: false, encoding: .utf8) }
}
