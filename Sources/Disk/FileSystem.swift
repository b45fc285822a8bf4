/// Everything the log asks of a disk, and nothing else.
///
/// The seam exists so that tests can put a disk underneath that tears writes, flips bits, fills
/// up, and forgets what was never synced. Every method names its failure (``FileSystemError``).
package protocol FileSystem: Sendable {
    /// Opens a file; `.create` makes it when it is missing.
    func open(_ path: String, _ mode: FileOpenMode) throws(FileSystemError) -> any File
    /// Atomically replaces `destination`. Durable after ``synchronizeDirectory(_:)``.
    func rename(_ source: String, to destination: String) throws(FileSystemError)
    /// Gives a file a second name, which must be free.
    func link(_ path: String, as name: String) throws(FileSystemError)
    func remove(_ path: String) throws(FileSystemError)
    /// The names in a directory, without `.` and `..`, in byte order.
    func list(_ directory: String) throws(FileSystemError) -> [String]
    /// Makes one directory; an existing one is fine.
    func createDirectory(_ path: String) throws(FileSystemError)
    /// Opens a directory, for its names to be made durable.
    func openDirectory(_ path: String) throws(FileSystemError) -> any Directory
}

package enum FileOpenMode: Sendable {
    case read
    case readWrite
    /// Reading and writing; made when missing.
    case create
    /// Reading and writing; made when missing and emptied when not.
    case replace
}

/// An advisory lock: it prevents no reads or writes, only the same lock.
package enum FileLock: Sendable {
    /// One open file may have it, and no other a shared one.
    case exclusive
    case shared
}

/// An open directory.
package protocol Directory: AnyObject, Sendable {
    /// Makes created, renamed and removed names in the directory durable (`fsync`).
    func synchronize() throws(FileSystemError)
    /// Gives the descriptor back. Also done when the last reference goes.
    func close()
}

/// An open file. Reads and writes name their offset, so that no position is shared between threads.
package protocol File: AnyObject, Sendable {
    var path: String { get }
    /// The same open file under the name that it has been given since; this one is closed with that.
    func renamed(to path: String) -> any File
    /// Bytes read, fewer than asked for only at the end of the file.
    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileSystemError) -> Int
    /// Bytes written, possibly fewer than given.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) -> Int
    /// Returns when the bytes, and the size they need, are on the disk (`fdatasync`).
    func synchronizeData() throws(FileSystemError)
    func truncate(to size: UInt64) throws(FileSystemError)
    func size() throws(FileSystemError) -> UInt64
    /// Takes a lock on the file (`flock`); false when another open file has one in its way.
    func tryLock(_ lock: FileLock) throws(FileSystemError) -> Bool
    /// Gives the descriptor and the lock back. Also done when the last reference goes.
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
                // POSIX lets a write of more than nothing return nothing; asking again could spin.
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

    /// All bytes of a small file, or nil when there is none.
    package func contents(of path: String) throws(FileSystemError) -> [UInt8]? {
        do throws(FileSystemError) {
            let file = try open(path, .read)
            defer { file.close() }
            return try file.bytes(at: 0, count: Int(file.size()))
        } catch  where error.isMissingFile {
            return nil
        }
    }

    /// Puts a small file in place whole: written aside, synced, renamed, and the name synced.
    package func replaceFile(
        _ name: String, in directory: String, with bytes: [UInt8]
    ) throws(FileSystemError) {
        let aside = directory + "/" + name + ".tmp"
        let file = try open(aside, .replace)
        defer { file.close() }
        try file.writeAll(bytes, at: 0)
        try file.synchronizeData()
        try rename(aside, to: directory + "/" + name)
        try synchronizeDirectory(directory)
    }
}
