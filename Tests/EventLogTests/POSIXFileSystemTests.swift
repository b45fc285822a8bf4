import Testing

@testable import EventLog

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite struct POSIXFileSystemTests {
    /// A program that is being started has, until it runs, copies of all descriptors of whoever starts it.
    @Test func aClosedFileIsUnlockedThoughAChildHasItForAMoment() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/LOCK"
        let disk = POSIXFileSystem()
        let file = try disk.open(path, .replace)
        #expect(try file.tryLock(.exclusive))
        let copy = try #require(Self.copyOfDescriptor(of: path))
        defer { close(copy) }
        file.close()
        let again = try disk.open(path, .read)
        #expect(try again.tryLock(.exclusive))
        again.close()
    }

    private static func copyOfDescriptor(of path: String) -> Int32? {
        var wanted = stat()
        guard stat(path, &wanted) == 0 else { return nil }
        return (0..<4_096).first { descriptor in
            var found = stat()
            return fstat(descriptor, &found) == 0 && found.st_ino == wanted.st_ino
                && found.st_dev == wanted.st_dev
        }.map { dup($0) }
    }
}
