import Foundation

/// A file system of a few megabytes in memory, mounted in a sandbox and gone with the value.
final class SmallDisk: Sendable {
    let path: String

    /// Whether this machine lets a test mount one: Linux, and as root.
    static let isPossible: Bool = {
        #if os(Linux)
            guard let sandbox = try? Sandbox() else { return false }
            return (try? SmallDisk(in: sandbox, megabytes: 1)) != nil
        #else
            return false
        #endif
    }()

    init(in sandbox: Sandbox, megabytes: Int) throws {
        path = sandbox.path("small-disk")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #if os(Linux)
            guard mount("relay-test", path, "tmpfs", 0, "size=\(megabytes)m") == 0 else {
                throw Failure("Could not mount a tmpfs: \(String(cString: strerror(errno)))")
            }
        #else
            throw Failure("A tmpfs can only be mounted on Linux.")
        #endif
    }

    deinit {
        #if os(Linux)
            // Whoever still has a file open there keeps it until then.
            umount2(path, Int32(MNT_DETACH))
        #endif
    }

    private var ballast: String { path + "/ballast" }

    /// Writes until there is no room for another byte.
    func fill() throws {
        let file = open(ballast, O_WRONLY | O_CREAT | O_APPEND, 0o644)
        defer { close(file) }
        for size in [1 << 16, 1] {
            let zeros = [UInt8](repeating: 0, count: size)
            while write(file, zeros, size) > 0 {}
        }
        guard errno == ENOSPC else {
            throw Failure("Could not fill the disk: \(String(cString: strerror(errno)))")
        }
    }

    /// Gives the room back.
    func empty() throws { try FileManager.default.removeItem(atPath: ballast) }
}
