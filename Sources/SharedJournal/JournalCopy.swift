package import Disk
package import EventLog
import LogTools

/// A log in a directory that holds what a journal holds, as far as it has come.
package struct JournalCopy: Sendable {
    package let directory: String
    private let fileSystem: any FileSystem
    /// What an interrupted beginning has left is moved aside; otherwise it is in the way.
    package var setsAsideBeginnings = false

    /// - Parameter directory: missing, empty, or a copy of the same journal.
    package init(_ directory: String, fileSystem: any FileSystem = POSIXFileSystem()) {
        self.directory = directory
        self.fileSystem = fileSystem
    }

    /// How much is done, in events.
    package typealias Progress = (_ done: UInt64, _ total: UInt64) -> Void

    /// Fetches what the copy lacks, up to the journal's present end. Blocks meanwhile, and holds the directory's lock.
    ///
    /// Every frame is checked before it is written: checksums, sequence, chain, term.
    /// - Throws: `copy` if the directory cannot be read or written, or holds something else; `diverged` if the journal
    ///   has other events than the copy; what reading a journal throws.
    @discardableResult
    package func update(
        from connection: JournalConnection, _ history: JournalHistory,
        progress: Progress = { _, _ in }
    ) throws(SharedJournalError) -> LogHead {
        let target = try connection.head(of: history).sequence
        if history.checkpoint != nil, try !isThere() {
            try begin(from: connection, history, target: target, progress: progress)
        }
        let log = try open(history)
        let result = Result { () throws(SharedJournalError) in
            try fetch(
                into: log, from: connection, history, target: target, progress: progress)
        }
        log.close()
        return try result.get()
    }

    /// Checks every byte of the copy.
    /// - Throws: `copy(damaged)` with the first thing that is not as it was written.
    package func check(
        progress: @escaping @Sendable (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
    ) throws(SharedJournalError) {
        let found = try onCopy { () throws(LogError) in
            try EventLogReader(directory, fileSystem: fileSystem).verify(progress: progress)
        }
        if let damage = found.damages.first {
            throw SharedJournalError(
                .copy(.damaged), "The copy of a journal in \(directory) is damaged: \(damage).")
        }
    }

    /// Moves what is there aside, inside the directory.
    /// - Returns: where it is.
    /// - Throws: `copy`.
    package func setAside() throws(SharedJournalError) -> String {
        try onCopy { () throws(LogError) in
            try LogDirectory(path: directory, fileSystem: fileSystem).setAside()
        }
    }

    /// Whether there is a log in the directory.
    package func isThere() throws(SharedJournalError) -> Bool {
        try onCopy { () throws(LogError) in
            try LogDirectory(path: directory, fileSystem: fileSystem).hasMetadata()
        }
    }

    private func open(_ history: JournalHistory) throws(SharedJournalError) -> EventLogWriter {
        var options = EventLogOptions()
        // What a crash loses here is fetched again.
        options.durability = .none
        options.shared = SharedHistory(
            storeID: history.storeID, epoch: history.epoch, committer: NoCommits())
        return try onCopy { () throws(LogError) in
            try EventLogWriter.open(directory, options: options, fileSystem: fileSystem)
        }
    }

    private func fetch(
        into log: EventLogWriter, from connection: JournalConnection, _ history: JournalHistory,
        target: UInt64, progress: Progress
    ) throws(SharedJournalError) -> LogHead {
        var head = log.head
        if head.sequence > history.base.head.sequence {
            let chain = try connection.chain(after: head.sequence)
            if target < head.sequence {
                throw .behindCopy(
                    connection.address, event: target, directory, event: head.sequence)
            }
            guard chain == head.hash else {
                throw .otherCopy(directory, connection.address, event: head.sequence)
            }
        }
        let reader = JournalReader(connection.address, after: head)
        while head.sequence < target {
            let frames = try reader.next(by: connection)
            guard !frames.isEmpty else { throw .cutShort(connection.address, event: head.sequence) }
            head = try onCopy { () throws(LogError) in
                try log.adoptAndWait(frames)
            }
            progress(head.sequence, target)
        }
        return head
    }

    /// Makes the beginning of a log that begins later than with event 1.
    private func begin(
        from connection: JournalConnection, _ history: JournalHistory, target: UInt64,
        progress: Progress
    ) throws(SharedJournalError) {
        let checkpoint = try connection.checkpoint(of: history)
        let log = try onCopy { () throws(LogError) in
            let place = LogDirectory(path: directory, fileSystem: fileSystem)
            // What an earlier try has left, or a log without its META.
            if setsAsideBeginnings, try !place.firstSequences().isEmpty {
                _ = try place.setAside()
            }
            return try BeginningWriter(
                place, storeID: history.storeID, epoch: history.epoch, after: history.base.head,
                checkpoint: checkpoint)
        }
        let reader = JournalReader(connection.address, of: history)
        while !log.isComplete {
            let frames = try reader.next(by: connection)
            guard !frames.isEmpty else {
                throw .cutShort(connection.address, event: log.head.sequence)
            }
            for frame in frames where !log.isComplete {
                try onCopy { () throws(LogError) in try log.append(frame) }
            }
            progress(log.head.sequence, target)
        }
        try onCopy { () throws(LogError) in try log.finish() }
    }
}

/// Of a copy that nobody appends to.
private struct NoCommits: FrameCommitter {
    func commit(_ frame: SharedFrame) throws(FrameRefusal) {
        throw FrameRefusal(.unavailable, "This copy of a journal is not written to.")
    }
}

/// Runs calls on a log's directory, turning a failure into a ``SharedJournalError``.
func onCopy<Result>(
    _ body: () throws(LogError) -> Result
) throws(SharedJournalError) -> Result {
    do throws(LogError) { return try body() } catch {
        throw SharedJournalError(.copy(error.code), error.message)
    }
}

extension SharedJournalError {
    fileprivate static func otherCopy(
        _ directory: String, _ address: JournalAddress, event: UInt64
    ) -> SharedJournalError {
        SharedJournalError(
            .diverged,
            """
            The journal in \(address) has other events than \(directory), up to event \(event). Nothing was changed. If \
            the journal is right, delete the directory: it is fetched again.
            """)
    }

    fileprivate static func behindCopy(
        _ address: JournalAddress, event: UInt64, _ directory: String, event last: UInt64
    ) -> SharedJournalError {
        SharedJournalError(
            .diverged,
            """
            The journal in \(address) ends with event \(event), and \(directory) has event \(last): PostgreSQL was restored \
            from a backup, or a replica that was behind has taken over. Nothing was changed.
            """)
    }

    fileprivate static func cutShort(_ address: JournalAddress, event: UInt64) -> SharedJournalError
    {
        SharedJournalError(
            .damaged, "The journal in \(address) has lost its frames after event \(event).")
    }
}
