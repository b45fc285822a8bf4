import Digests
import Disk
package import EventLog
import LogTools
package import PostgreSQL

/// Puts the log of a directory into PostgreSQL, frame by frame as it is.
package struct JournalImport {
    private let directory: String
    private let address: JournalAddress
    private let abandonment: Abandonment
    /// How much is done, in events.
    package var progress: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }

    package init(_ directory: String, to address: JournalAddress, abandonment: Abandonment) {
        self.directory = directory
        self.address = address
        self.abandonment = abandonment
    }

    package struct Report: Sendable {
        package let storeID: StoreID
        package let firstSequence: UInt64
        package let head: LogHead
        package let frames: Int
        package let byteCount: Int
        /// The last event that an earlier, interrupted import had brought; nil if this is the first.
        package let resumedAfter: UInt64?
    }

    /// Frames that go in together.
    private static let batchBytes = 4 << 20
    private static let batchFrames = 1_000

    private static let candidate = JournalCandidate(node: "import", address: "", lease: .zero)

    /// Holds the directory's lock, checks every byte of the log, and then appends its frames. An import that was
    /// interrupted goes on where it ended.
    ///
    /// - Parameter cursorKey: of the directory's page cursors; nil for a new one.
    /// - Throws: `conflict` if there is a journal already, with what it holds; `copy` if the directory holds no log, a
    ///   damaged one, or one that is in use; what writing to a journal throws.
    package func run(cursorKey: [UInt8]?) throws(SharedJournalError) -> Report {
        let reader = try onCopy { () throws(LogError) in try EventLogReader(directory) }
        let lock = try onCopy { () throws(LogError) in try reader.directory.takeLock() }
        defer { lock.close() }
        let (history, checkpoint) = try examine(reader, cursorKey: cursorKey)
        let head = try onCopy { () throws(LogError) in try reader.head() }
        let connection = try JournalConnection(address, abandonment: abandonment)
        let begun = try connection.history()
        if let begun {
            try check(begun, isBeginningOf: history, connection)
        } else {
            try connection.create(history)
        }
        if let checkpoint { try connection.keep(checkpoint) }
        // A lost answer leaves a term that nobody uses.
        let term = try connection.raiseTerm(
            after: connection.term().term, by: Self.candidate)
        let writer = JournalWriter(address, term: term, abandonment: abandonment)
        let there = try connection.head(of: history)
        let sent = try send(reader, history.base, after: there, total: head.sequence, to: writer)
        try connection.complete(through: head, term: term)
        return Report(
            storeID: history.storeID, firstSequence: history.firstSequence, head: head,
            frames: sent.frames, byteCount: sent.bytes,
            resumedAfter: begun == nil ? nil : there.sequence)
    }

    /// What the journal will say about the log, and the checkpoint that it begins with.
    private func examine(
        _ reader: EventLogReader, cursorKey: [UInt8]?
    ) throws(SharedJournalError) -> (JournalHistory, Checkpoint?) {
        let found = try onCopy { () throws(LogError) in try reader.verify() }
        if let damage = found.damages.first {
            throw SharedJournalError(
                .copy(.damaged),
                "\(directory) is damaged: \(damage). Nothing was imported; `relay log repair --plan` says "
                    + "what a repair keeps.")
        }
        let base = try onCopy { () throws(LogError) in try reader.base() }
        guard base.knowsChain else {
            throw SharedJournalError(
                .copy(.conflict),
                "\(directory) begins after damage that a repair has cut off, so that nothing shows whether it "
                    + "is whole. Nothing was imported; `relay log export --records` and `relay log import` make a "
                    + "new log of its state.")
        }
        var checkpoint: Checkpoint?
        if base.head.sequence > 0 {
            let header = found.checkpoints.first {
                !$0.isDamaged && $0.sequence >= base.head.sequence
                    && $0.sequence <= found.head.sequence
            }
            guard let header else {
                throw SharedJournalError(
                    .copy(.conflict),
                    "\(directory) begins with event \(base.head.sequence + 1), and no checkpoint is left that "
                        + "this could be folded from. Nothing was imported.")
            }
            checkpoint = try onCopy { () throws(LogError) in
                try CheckpointFiles(reader.directory, storeID: reader.metadata.storeID)
                    .checkpoint(at: header.sequence)
            }
        }
        var epoch = max(reader.metadata.epoch, found.head.epoch)
        if reader.metadata.acknowledgesEarly {
            // As a server that starts: events that were acknowledged may be missing.
            epoch = try onCopy { () throws(LogError) in
                try LogMetadata.epoch(after: epoch, in: reader.directory)
            }
        }
        let history = JournalHistory(
            storeID: reader.metadata.storeID, epoch: epoch, base: base,
            checkpoint: checkpoint.map {
                CheckpointMark(sequence: $0.header.sequence, stateHash: $0.header.stateHash)
            }, cursorKey: cursorKey, isComplete: false)
        return (history, checkpoint)
    }

    /// Whether a journal that is there is one that this import, or an earlier one of the same log, has begun.
    private func check(
        _ begun: JournalHistory, isBeginningOf history: JournalHistory,
        _ connection: JournalConnection
    ) throws(SharedJournalError) {
        let isSame =
            begun.storeID == history.storeID && begun.base == history.base
            && begun.epoch == history.epoch && begun.checkpoint == history.checkpoint
        if isSame, !begun.isComplete { return }
        let head = try connection.head(of: begun)
        let events =
            head.sequence < begun.firstSequence
            ? "no events" : "events \(begun.firstSequence) to \(head.sequence)"
        let state = begun.isComplete ? "" : ", of an import that is not complete"
        throw SharedJournalError(
            .conflict,
            "There is a journal in \(address) already: store \(begun.storeID), \(events), head "
                + "\(head.chain)\(state). Nothing was changed.")
    }

    private func send(
        _ reader: EventLogReader, _ base: LogBase, after there: JournalHead, total: UInt64,
        to writer: JournalWriter
    ) throws(SharedJournalError) -> (frames: Int, bytes: Int) {
        let cursor = reader.wholeFrames(after: base)
        var sent = (frames: 0, bytes: 0)
        while cursor.head.sequence < there.sequence {
            guard try onCopy({ () throws(LogError) in try cursor.next() }) != nil else { break }
        }
        guard cursor.head.sequence == there.sequence, cursor.head.hash == there.chain else {
            throw SharedJournalError(
                .conflict,
                "The import into \(address) that was interrupted is of another log: it differs before event "
                    + "\(there.sequence + 1). Nothing was changed.")
        }
        var batch = FrameBatch(after: cursor.head)
        while let frame = try onCopy({ () throws(LogError) in try cursor.next() }) {
            batch.append(frame)
            sent = (sent.frames + 1, sent.bytes + frame.bytes.count)
            guard batch.byteCount >= Self.batchBytes || batch.count >= Self.batchFrames else {
                continue
            }
            try writer.append(batch)
            batch = FrameBatch(after: cursor.head)
            progress(cursor.head.sequence, total)
        }
        if !batch.isEmpty { try writer.append(batch) }
        return sent
    }
}

extension JournalConnection {
    /// Marks an import as complete.
    fileprivate func complete(through head: LogHead, term: UInt64) throws(SharedJournalError) {
        let rows = try ask(
            """
            UPDATE \(address.schema).history SET complete = true
            WHERE (SELECT term FROM \(address.schema).term) = $1
                AND (SELECT count(*) FROM \(address.schema).frames WHERE last > $2) = 0
            RETURNING 1
            """, [.int(Int64(clamping: term)), .int(Int64(clamping: head.sequence))])
        guard rows.count > 0 else {
            throw SharedJournalError(
                .conflict, "Another import has taken over. \(address) is not complete yet.")
        }
    }

    // MARK: Checkpoints

    /// Keeps a checkpoint beside the frames, once.
    fileprivate func keep(_ checkpoint: Checkpoint) throws(SharedJournalError) {
        guard checkpoint.payload.count <= FrameBatch.maximumBytes else {
            throw .tooLarge(checkpoint.payload.count)
        }
        let header = checkpoint.header
        try ask(
            """
            INSERT INTO \(address.schema).checkpoints (seq, epoch, fold_version, state_hash, payload)
            VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING
            """,
            [
                .int(Int64(clamping: header.sequence)), .int(Int64(header.epoch)),
                .int(Int64(header.foldVersion)), .bytes(header.stateHash),
                .bytes(checkpoint.payload),
            ])
    }

    /// The checkpoint that a history begins with.
    func checkpoint(of history: JournalHistory) throws(SharedJournalError) -> Checkpoint {
        let sequence = history.checkpoint?.sequence ?? 0
        let rows = try ask(
            """
            SELECT epoch, fold_version, state_hash, payload FROM \(address.schema).checkpoints
            WHERE seq = $1
            """, [.int(Int64(clamping: sequence))])
        let checkpoint: Checkpoint? = try onServer { () throws(PostgreSQLError) in
            guard rows.count > 0 else { return nil }
            let hash = try rows.bytes(0, 2)
            guard hash.count <= 32 else { throw .unexpected("a state hash is too long") }
            return Checkpoint(
                header: Checkpoint.Header(
                    sequence: sequence, epoch: UInt32(clamping: try rows.int(0, 0)),
                    foldVersion: UInt32(clamping: try rows.int(0, 1)), stateHash: hash),
                payload: try rows.bytes(0, 3))
        }
        guard let checkpoint, checkpoint.header.stateHash == history.checkpoint?.stateHash else {
            throw .damaged(
                address, event: history.firstSequence,
                "the checkpoint of event \(sequence), with which it begins, is missing or another one"
            )
        }
        return checkpoint
    }
}
