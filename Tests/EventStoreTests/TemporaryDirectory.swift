import Disk
import EventLog

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A directory that is gone when the test is over.
final class TemporaryDirectory {
    let path: String

    init() {
        var template = Array("/tmp/relay-eventstore-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress, let made = mkdtemp(base) else {
                preconditionFailure("no temporary directory can be made")
            }
            return String(cString: made)
        }
    }

    deinit { Self.remove(path) }

    private static func remove(_ path: String) {
        for name in (try? POSIXFileSystem().list(path)) ?? [] {
            let inner = path + "/" + name
            if unlink(inner) != 0 { remove(inner) }
        }
        rmdir(path)
    }

    /// A copy of another directory, as a backup of a running store would be.
    convenience init(copyOf source: String) throws {
        self.init()
        try Self.copy(source, to: path)
    }

    static func copy(_ source: String, to target: String) throws {
        let disk = POSIXFileSystem()
        try disk.createDirectory(target)
        for name in try disk.list(source) {
            let (from, to) = (source + "/" + name, target + "/" + name)
            if (try? disk.list(from)) != nil {
                try copy(from, to: to)
            } else {
                try disk.open(to, .replace).writeAll(disk.contents(of: from) ?? [], at: 0)
            }
        }
    }
}
