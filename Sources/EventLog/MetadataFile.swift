import Disk
import Threads

/// META of a log that is open for writing, for the threads that record something in it.
final class MetadataFile: Sendable {
    private let directory: LogDirectory
    private let metadata: Monitor<LogMetadata>

    init(_ directory: LogDirectory, _ metadata: LogMetadata) {
        self.directory = directory
        self.metadata = Monitor(metadata)
    }

    /// Replaces META by one with a change. Durable when this returns; after an error META is as it
    /// was, and so is what the next change builds on.
    ///
    /// The lock is held while the disk works: two threads must not write META aside at once.
    func update(_ change: (inout LogMetadata) -> Void) throws(FileSystemError) {
        try metadata.withLock { metadata throws(FileSystemError) in
            var changed = metadata
            change(&changed)
            guard changed != metadata else { return }
            try directory.write(changed)
            metadata = changed
        }
    }
}
