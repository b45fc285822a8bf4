#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What is at a path, whatever the path is: links are followed.
struct FileStatus {
    /// The same for all paths to a file or a folder.
    struct Identity: Hashable {
        fileprivate let device: UInt64
        fileprivate let number: UInt64
    }

    enum Kind {
        case file
        case folder
        /// Something that has no contents of its own; its name with the article.
        case other(String)
    }

    /// Differs when a file has been written or replaced.
    struct Version: Hashable {
        fileprivate let identity: Identity
        fileprivate let size: Int64
        fileprivate let seconds: Int64
        fileprivate let nanoseconds: Int64
    }

    let identity: Identity
    let kind: Kind
    let version: Version

    /// Nil if there is nothing, or nothing at the other end of a link.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        identity = Identity(
            device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino))
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFIFO: .other("a FIFO")
            case S_IFSOCK: .other("a socket")
            default: .other("a device")
            }
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        version = Version(
            identity: identity, size: Int64(status.st_size), seconds: Int64(time.tv_sec),
            nanoseconds: Int64(time.tv_nsec))
    }

    /// Nil for a path where nothing is.
    static func versions(of paths: some Sequence<String>) -> [String: Version?] {
        Dictionary(paths.map { ($0, FileStatus($0)?.version) }) { first, _ in first }
    }

    static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }
}
