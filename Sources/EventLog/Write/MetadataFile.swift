import Disk
import Threads

/// META of a log that is open for writing, shared by the threads that record something in it.
final class MetadataFile: Sendable {
    private let directory: LogDirectory
    private let metadata: Monitor<LogMetadata>

    init(_ directory: LogDirectory, _ metadata: LogMetadata) {
        self.directory = directory
        self.metadata = Monitor(metadata)
    }

    /// Replaces META with a changed version. Durable when this returns; after an error META is unchanged, and
    /// the next change builds on that.
    ///
    /// The lock is held during the write, because two threads must not write META's temporary file at once.
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
