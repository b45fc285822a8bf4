package import Disk

/// A disk that tells a test what another one is about to do. The test may wait there, do something of its own, or
/// throw in its place.
package protocol WrappedDisk: FileSystem {
    associatedtype Base: FileSystem
    var disk: Base { get }

    func willOpen(_ path: String)
    func didOpen(_ path: String, _ mode: FileOpenMode)
    func willRead(_ count: Int, at offset: UInt64, of file: any File) throws(FileSystemError)
    func willWrite(to path: String) throws(FileSystemError)
}

extension WrappedDisk {
    package func willOpen(_ path: String) {}
    package func didOpen(_ path: String, _ mode: FileOpenMode) {}
    package func willRead(
        _ count: Int, at offset: UInt64, of file: any File
    ) throws(FileSystemError) {}
    package func willWrite(to path: String) throws(FileSystemError) {}

    package func open(_ path: String, _ mode: FileOpenMode) throws(FileSystemError) -> any File {
        willOpen(path)
        let file = try disk.open(path, mode)
        didOpen(path, mode)
        return WrappedFile(file, of: self)
    }

    package func rename(_ source: String, to destination: String) throws(FileSystemError) {
        try disk.rename(source, to: destination)
    }

    package func link(_ path: String, as name: String) throws(FileSystemError) {
        try disk.link(path, as: name)
    }

    package func remove(_ path: String) throws(FileSystemError) { try disk.remove(path) }

    package func list(_ directory: String) throws(FileSystemError) -> [String] {
        try disk.list(directory)
    }

    package func createDirectory(_ path: String) throws(FileSystemError) {
        try disk.createDirectory(path)
    }

    package func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
        try disk.openDirectory(path)
    }
}

private final class WrappedFile: File {
    private let file: any File
    private let disk: any WrappedDisk

    init(_ file: any File, of disk: any WrappedDisk) {
        self.file = file
        self.disk = disk
    }

    var path: String { file.path }

    func renamed(to path: String) -> any File { WrappedFile(file.renamed(to: path), of: disk) }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileSystemError) -> Int {
        try disk.willRead(buffer.count, at: offset, of: file)
        return try file.read(into: buffer, at: offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) -> Int {
        try disk.willWrite(to: path)
        return try file.write(bytes, at: offset)
    }

    func synchronizeData() throws(FileSystemError) { try file.synchronizeData() }
    func truncate(to size: UInt64) throws(FileSystemError) { try file.truncate(to: size) }
    func size() throws(FileSystemError) -> UInt64 { try file.size() }
    func tryLock(_ lock: FileLock) throws(FileSystemError) -> Bool { try file.tryLock(lock) }
    func close() { file.close() }
}
