import Foundation
import Testing

@testable import Disk

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

@Suite(.bounded) struct POSIXFileSystemTests {
    /// The end of a directory and a failure look the same but for `errno`; a log with fewer segments would be the
    /// consequence.
    @Test func aDirectoryThatCannotBeReadToItsEndIsAnError() throws {
        let path = NSTemporaryDirectory() + "relay-\(UUID().uuidString)"
        let fileSystem = POSIXFileSystem()
        try fileSystem.createDirectory(path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        for name in ["b", "a"] { try fileSystem.open(path + "/" + name, .create).close() }
        #expect(try fileSystem.list(path) == ["a", "b"])
        let stream = try #require(opendir(path))
        defer { closedir(stream) }
        // The kernel refuses to list what is no directory.
        let file = open(path + "/a", O_RDONLY)
        defer { close(file) }
        #expect(dup2(file, dirfd(stream)) >= 0)
        let error = #expect(throws: FileSystemError.self) {
            try POSIXFileSystem.names(path) { readdir(stream) }
        }
        #expect(error?.call == "readdir" && error?.errno == ENOTDIR)
    }
}
