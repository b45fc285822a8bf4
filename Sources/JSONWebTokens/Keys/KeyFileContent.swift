// Not FoundationEssentials, and not the room Disk: neither tells a file's times and inode, and both together cost more
// than these four system calls.
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What changes when a file does: whichever way it was changed, in place, by renaming or behind a symbolic link.
struct FileStamp: Equatable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let modified: Int64
    /// When inode or content changed last; no program can set it, as `touch` and `cp -p` set the other.
    private let changed: Int64

    init(path: String) throws(KeyFileError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .system("stat", path) }
        self.init(status)
    }

    fileprivate init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        size = Int64(status.st_size)
        #if canImport(Darwin)
            modified = Self.nanoseconds(status.st_mtimespec)
            changed = Self.nanoseconds(status.st_ctimespec)
        #else
            modified = Self.nanoseconds(status.st_mtim)
            changed = Self.nanoseconds(status.st_ctim)
        #endif
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// Nil if the file changed so lately that the next change may have the same times (they advance in steps, of a few
    /// milliseconds or, on some file systems, two seconds): then it has to be read once more.
    /// - Parameter time: microseconds since 1970-01-01 00:00 UTC, from before the file was read.
    func settled(at time: Int64) -> FileStamp? {
        let age = time - max(modified, changed) / 1_000
        return age >= 3_000_000 ? self : nil
    }
}

/// All bytes of a file, and what it was like when they were read.
struct KeyFileContent {
    let path: String
    let bytes: [UInt8]
    let stamp: FileStamp

    init(path: String) throws(KeyFileError) {
        // Without O_NONBLOCK, opening a pipe would wait for somebody who writes to it.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .system("open", path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system("fstat", path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw KeyFileError(path: path, reason: .notAFile)
        }
        self.path = path
        stamp = FileStamp(status)
        bytes = try Self.read(descriptor, path)
    }

    /// Up to one byte more than the keys may have, so that the parser can say so.
    private static func read(_ descriptor: Int32, _ path: String) throws(KeyFileError) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16_384)
        while bytes.count <= KeySet.byteLimit {
            let count = piece.withUnsafeMutableBytes {
                #if canImport(Glibc)
                    Glibc.read(descriptor, $0.baseAddress, $0.count)
                #elseif canImport(Musl)
                    Musl.read(descriptor, $0.baseAddress, $0.count)
                #else
                    Darwin.read(descriptor, $0.baseAddress, $0.count)
                #endif
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system("read", path) }
            if count == 0 { break }
            bytes += piece[..<count]
        }
        return bytes
    }
}

extension KeyFileError {
    /// A system call that has just failed.
    fileprivate static func system(_ call: String, _ path: String) -> KeyFileError {
        let number = errno
        return KeyFileError(
            path: path,
            reason: .system(call: call, errno: number, text: String(cString: strerror(number))))
    }
}
