#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The real disk.
package struct POSIXFileSystem: FileSystem {
    package init() {}

    package func open(_ path: String, _ mode: FileOpenMode) throws(FileSystemError) -> any File {
        let flags =
            switch mode {
            case .read: O_RDONLY
            case .readWrite: O_RDWR
            case .create: O_RDWR | O_CREAT
            case .replace, .replacePrivate: O_RDWR | O_CREAT | O_TRUNC
            }
        let permissions: mode_t = mode == .replacePrivate ? 0o600 : 0o644
        let descriptor = try check("open", path) {
            systemOpen(path, flags | O_CLOEXEC, permissions)
        }
        let file = POSIXFile(descriptor: descriptor, path: path)
        if mode == .replacePrivate {
            // A file that was there has the permissions it had.
            try check("fchmod", path) { fchmod(descriptor, permissions) }
        }
        return file
    }

    package func rename(
        _ source: String, to destination: String
    ) throws(FileSystemError) {
        try check("rename", "\(source) to \(destination)") { systemRename(source, destination) }
    }

    package func link(_ path: String, as name: String) throws(FileSystemError) {
        try check("link", "\(path) as \(name)") { systemLink(path, name) }
    }

    package func remove(_ path: String) throws(FileSystemError) {
        try check("unlink", path) { unlink(path) }
    }

    package func list(_ directory: String) throws(FileSystemError) -> [String] {
        guard let stream = opendir(directory) else {
            throw FileSystemError(call: "opendir", path: directory, errno: systemErrno)
        }
        defer { closedir(stream) }
        return try Self.names(directory) { readdir(stream) }
    }

    /// Sorted, without `.` and `..`.
    /// - Parameter next: `readdir`: nil both at the end and when it fails, which only `errno` tells apart.
    static func names(
        _ directory: String, next: () -> UnsafeMutablePointer<dirent>?
    ) throws(FileSystemError) -> [String] {
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = next() else {
                if errno == 0 { break }
                throw FileSystemError(call: "readdir", path: directory, errno: systemErrno)
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    package func createDirectory(_ path: String) throws(FileSystemError) {
        do throws(FileSystemError) {
            try check("mkdir", path) { mkdir(path, 0o755) }
        } catch  where error.errno == EEXIST {}
    }

    package func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        let descriptor = try check("open", path) { systemOpen(path, flags, 0) }
        return POSIXDirectory(descriptor: descriptor, path: path)
    }
}

/// A directory's descriptor that closes itself.
///
/// `@unchecked Sendable`: whether it was closed is owned by the code that opens and calls `close`, and
/// `deinit` runs after every other use.
private final class POSIXDirectory: Directory, @unchecked Sendable {
    private let path: String
    private let descriptor: Int32
    private var isOpen = true

    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close() }

    func synchronize() throws(FileSystemError) {
        try check("fsync", path) { fsync(descriptor) }
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        _ = systemClose(descriptor)
    }
}

/// A file descriptor that closes itself.
///
/// `@unchecked Sendable`: the kernel takes positioned reads and writes on one descriptor from any
/// thread; the only mutable state, whether it is locked and was closed, is owned by the code that opens and calls
/// `close`, and `deinit` runs after every other use.
final class POSIXFile: File, @unchecked Sendable {
    let path: String
    private let descriptor: Int32
    private var isOpen = true
    private var isLocked = false

    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close() }

    func renamed(to path: String) -> any File {
        let file = POSIXFile(descriptor: descriptor, path: path)
        (file.isOpen, file.isLocked) = (isOpen, isLocked)
        isOpen = false
        return file
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        // A child process has a copy of the descriptor until it executes its program, and the lock would live as
        // long (flock(2)).
        if isLocked { flock(descriptor, LOCK_UN) }
        _ = systemClose(descriptor)
    }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileSystemError) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = try check("pread", path) {
                pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) -> Int {
        try check("pwrite", path) {
            pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
        }
    }

    func synchronizeData() throws(FileSystemError) {
        #if canImport(Darwin)
            // fsync on macOS stops at the drive's cache; F_FULLFSYNC reaches the medium.
            try check("fcntl(F_FULLFSYNC)", path) { fcntl(descriptor, F_FULLFSYNC) }
        #else
            try check("fdatasync", path) { fdatasync(descriptor) }
        #endif
    }

    func truncate(to size: UInt64) throws(FileSystemError) {
        try check("ftruncate", path) { ftruncate(descriptor, off_t(size)) }
    }

    func size() throws(FileSystemError) -> UInt64 {
        var status = stat()
        try check("fstat", path) { fstat(descriptor, &status) }
        return UInt64(status.st_size)
    }

    func tryLock(_ lock: FileLock) throws(FileSystemError) -> Bool {
        let operation = lock == .exclusive ? LOCK_EX : LOCK_SH
        do throws(FileSystemError) {
            try check("flock", path) { flock(descriptor, operation | LOCK_NB) }
            isLocked = true
            return true
        } catch  where error.errno == EWOULDBLOCK {
            return false
        }
    }
}

extension FileSystemError {
    package static let inputOutput = EIO
    package var isMissingFile: Bool { errno == ENOENT }
    /// The process or the system has no file descriptors left; it may have some a moment later.
    package var isOutOfDescriptors: Bool { errno == EMFILE || errno == ENFILE }
    /// The disk or the quota is full: worth a retry once there is room.
    package var isStorageFull: Bool { errno == ENOSPC || errno == EDQUOT }
    package var isReadOnly: Bool { errno == EROFS || errno == EACCES || errno == EPERM }
}

extension FileSystemError: CustomStringConvertible {
    /// For example `pwrite on log/segments/1.log: No space left on device`.
    package var description: String { "\(call) on \(path): \(String(cString: strerror(errno)))" }
}

/// Runs a system call until no signal interrupts it; a negative result becomes an error.
@discardableResult
private func check<Count: SignedInteger>(
    _ call: String, _ path: String, _ body: () -> Count
) throws(FileSystemError) -> Count {
    while true {
        let result = body()
        if result >= 0 { return result }
        let code = systemErrno
        if code != EINTR { throw FileSystemError(call: call, path: path, errno: code) }
    }
}

// Inside the types above these names mean the methods.
private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
    open(path, flags, mode)
}
private func systemRename(_ source: String, _ destination: String) -> Int32 {
    rename(source, destination)
}
private func systemLink(_ path: String, _ name: String) -> Int32 { link(path, name) }
private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }
private var systemErrno: Int32 { errno }
