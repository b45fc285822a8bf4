import Disk

extension LogDirectory {
    /// Moves the log into a directory inside its own, where no log looks: `damaged-1`, or the next number.
    ///
    /// Beside its own would not always do. That may be where a file system is mounted, or in a directory that may not be
    /// written to. What else is in it, such as the lock, stays.
    /// - Returns: where it is.
    /// - Throws: `locked`, `readOnly`, `storageFull`, `inputOutput`.
    package func setAside() throws(LogError) -> String {
        let lock = try takeLock()
        defer { lock.close() }
        do throws(FileSystemError) {
            let aside = try unusedName()
            try fileSystem.createDirectory(aside)
            // META last: as long as it is there, and segments are not, the next start finds damage.
            for name in ["segments", "checkpoints", "spare", LogMetadata.fileName] {
                do throws(FileSystemError) {
                    try fileSystem.rename("\(path)/\(name)", to: "\(aside)/\(name)")
                } catch  where error.isMissingFile {}
            }
            try fileSystem.synchronizeDirectory(aside)
            try fileSystem.synchronizeDirectory(path)
            return aside
        } catch {
            throw .opening(path, error)
        }
    }

    private func unusedName() throws(FileSystemError) -> String {
        var number = 1
        while true {
            let name = "\(path)/damaged-\(number)"
            do throws(FileSystemError) {
                _ = try fileSystem.list(name)
            } catch  where error.isMissingFile {
                return name
            }
            number += 1
        }
    }
}
