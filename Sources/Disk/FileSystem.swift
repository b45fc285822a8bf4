/// Everything the log needs from a disk, and nothing else.
///
/// The seam exists so that tests can provide a disk that tears writes, flips bits, fills up, and
/// forgets what was never synced. Every method names its failure (``FileSystemError``).
package protocol FileSystem: Sendable {
    /// Opens a file; `.create` creates it if it is missing.
    func open(_ path: String, _ mode: FileOpenMode) throws(FileSystemError) -> any File
    /// Atomically replaces `destination`. Durable after ``synchronizeDirectory(_:)``.
    func rename(_ source: String, to destination: String) throws(FileSystemError)
    /// Gives a file a second name, which must be free.
    func link(_ path: String, as name: String) throws(FileSystemError)
    func remove(_ path: String) throws(FileSystemError)
    /// The names in a directory, without `.` and `..`, in byte order.
    func list(_ directory: String) throws(FileSystemError) -> [String]
    /// Creates one directory; an existing one is fine.
    func createDirectory(_ path: String) throws(FileSystemError)
    /// Opens a directory, to make its names durable.
    func openDirectory(_ path: String) throws(FileSystemError) -> any Directory
}

package enum FileOpenMode: Sendable {
    case read
    case readWrite
    /// Reading and writing; created if missing.
    case create
    /// Reading and writing; created if missing, emptied otherwise.
    case replace
    /// The same, for a file that only its owner may read and write.
    case replacePrivate
}

/// An advisory lock: it prevents no reads or writes, only conflicting locks.
package enum FileLock: Sendable {
    /// Only one open file may hold it, and then no other may hold a shared one.
    case exclusive
    case shared
}

/// An open directory.
package protocol Directory: AnyObject, Sendable {
    /// Makes created, renamed and removed names in the directory durable (`fsync`).
    func synchronize() throws(FileSystemError)
    /// Closes the descriptor. Also done when the last reference is released.
    func close()
}

/// An open file. Reads and writes specify their offset, so that threads do not share a position.
package protocol File: AnyObject, Sendable {
    var path: String { get }
    /// The same open file under its new name; the result takes over the descriptor.
    func renamed(to path: String) -> any File
    /// Number of bytes read, fewer than requested only at the end of the file.
    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileSystemError) -> Int
    /// Number of bytes written, possibly fewer than given.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) -> Int
    /// Returns when the bytes, and the size they need, are on the disk (`fdatasync`).
    func synchronizeData() throws(FileSystemError)
    func truncate(to size: UInt64) throws(FileSystemError)
    func size() throws(FileSystemError) -> UInt64
    /// Takes a lock on the file (`flock`); false if another open file holds a conflicting one.
    func tryLock(_ lock: FileLock) throws(FileSystemError) -> Bool
    /// Closes the descriptor and releases the lock. Also done when the last reference is released.
    func close()
}

/// A system call that failed: which one, on what, and why.
package struct FileSystemError: Error, Sendable, Equatable {
    /// The system call, for example `fdatasync`.
    package let call: String
    package let path: String
    /// The value of `errno`.
    package let errno: Int32

    package init(call: String, path: String, errno: Int32) {
        self.call = call
        self.path = path
        self.errno = errno
    }
}

extension File {
    /// Writes all of `bytes`, continuing after short writes.
    package func writeAll(
        _ bytes: UnsafeRawBufferPointer, at offset: UInt64
    ) throws(FileSystemError) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let written = try write(rest, at: offset + UInt64(done))
            guard written > 0 else {
                // POSIX allows a write of more than zero bytes to return zero; retrying could spin.
                throw FileSystemError(
                    call: "pwrite", path: path, errno: FileSystemError.inputOutput)
            }
            done += written
        }
    }

    package func writeAll(_ bytes: [UInt8], at offset: UInt64) throws(FileSystemError) {
        // A closure would lose the typed error on its way through `withUnsafeBytes`.
        let failure: FileSystemError? = bytes.withUnsafeBytes { buffer in
            do throws(FileSystemError) {
                try writeAll(buffer, at: offset)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    /// Up to `count` bytes from `offset`; fewer only at the end of the file.
    package func bytes(at offset: UInt64, count: Int) throws(FileSystemError) -> [UInt8] {
        // All threads share the empty array, and `unsafeUninitializedCapacity` writes to it.
        if count == 0 { return [] }
        var failure: FileSystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do throws(FileSystemError) {
                initialized = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }
}

extension FileSystem {
    /// Makes created, renamed and removed names in the directory durable.
    package func synchronizeDirectory(_ path: String) throws(FileSystemError) {
        let directory = try openDirectory(path)
        defer { directory.close() }
        try directory.synchronize()
    }

    /// All bytes of a small file, or nil if it does not exist.
    package func contents(of path: String) throws(FileSystemError) -> [UInt8]? {
        do throws(FileSystemError) {
            let file = try open(path, .read)
            defer { file.close() }
            return try file.bytes(at: 0, count: Int(file.size()))
        } catch  where error.isMissingFile {
            return nil
        }
    }

    /// Replaces a small file as a whole: written to a temporary file, synced, renamed, and the name synced.
    /// - Parameter mode: `.replace` or `.replacePrivate`.
    package func replaceFile(
        _ name: String, in directory: String, with bytes: [UInt8],
        as mode: FileOpenMode = .replace
    ) throws(FileSystemError) {
        let aside = directory + "/" + name + ".tmp"
        let file = try open(aside, mode)
        defer { file.close() }
        try file.writeAll(bytes, at: 0)
        try file.synchronizeData()
        try rename(aside, to: directory + "/" + name)
        try synchronizeDirectory(directory)
    }
}
