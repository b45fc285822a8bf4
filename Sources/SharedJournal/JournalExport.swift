package import Disk
package import EventLog
package import PostgreSQL

/// Makes a directory's log of a journal: the same events, the same hashes.
package struct JournalExport {
    private let address: JournalAddress
    private let directory: String
    private let fileSystem: any FileSystem
    /// How much is done, in events.
    package var progress: JournalCopy.Progress = { _, _ in }

    /// - Parameter directory: missing or empty.
    package init(
        _ address: JournalAddress, to directory: String,
        fileSystem: any FileSystem = POSIXFileSystem()
    ) {
        self.address = address
        self.directory = directory
        self.fileSystem = fileSystem
    }

    /// Where the log is until it is complete. An export that is interrupted leaves nothing that looks like a shorter
    /// log, and goes on when it is begun again.
    package var incompletePath: String {
        var path = directory
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path + ".incomplete"
    }

    /// Copies the journal as it is now; it may be written to meanwhile.
    ///
    /// What an earlier export left in ``incompletePath`` is completed, if it is of this journal.
    /// - Returns: the log's head, and the history that it is of.
    /// - Throws: `copy` if the directory is not empty or cannot be written; what reading a journal throws.
    package func run(
        abandonment: Abandonment
    ) throws(SharedJournalError) -> (head: LogHead, history: JournalHistory) {
        let contents = try? fileSystem.list(directory)
        guard contents?.isEmpty ?? true else {
            throw SharedJournalError(.copy(.conflict), LogError.notEmpty(directory).message)
        }
        let connection = try JournalConnection(address, abandonment: abandonment)
        let history = try connection.completeHistory()
        let isResumed = (try? fileSystem.list(incompletePath)) != nil
        let copy = JournalCopy(incompletePath, fileSystem: fileSystem)
        let head = try copy.update(from: connection, history, progress: progress)
        if isResumed { try copy.check() }
        do throws(FileSystemError) {
            try fileSystem.rename(incompletePath, to: directory)
            try fileSystem.synchronizeDirectory(LogDirectory.parent(of: incompletePath))
        } catch {
            throw SharedJournalError(
                .copy(.inputOutput),
                "Could not give the log in \(incompletePath), which is complete, its name \(directory): "
                    + "\(error).")
        }
        return (head, history)
    }
}
