import Digests
package import EventLog
import PostgreSQL

/// Which history a journal holds, and where it begins: the one row of `history`.
package struct JournalHistory: Sendable {
    static let currentFormat: Int64 = 1

    package let storeID: StoreID
    /// Of frames appended from now on.
    package let epoch: UInt32
    /// What the first frame follows.
    package let base: LogBase
    /// The checkpoint that made earlier events unnecessary, if the history begins later than with event 1.
    package let checkpoint: CheckpointMark?
    /// The key of page cursors, one for all nodes; 16 bytes.
    package let cursorKey: [UInt8]
    /// Shared by the nodes, for what they tell each other; 32 bytes.
    package let clusterKey: [UInt8]
    /// False while a directory is being imported.
    package let isComplete: Bool

    package init(
        storeID: StoreID, epoch: UInt32, base: LogBase = .genesis,
        checkpoint: CheckpointMark? = nil, cursorKey: [UInt8]? = nil, isComplete: Bool = true
    ) {
        self.storeID = storeID
        self.epoch = epoch
        self.base = base
        self.checkpoint = checkpoint
        self.cursorKey = cursorKey ?? Self.random(16)
        clusterKey = Self.random(32)
        self.isComplete = isComplete
    }

    private static func random(_ count: Int) -> [UInt8] {
        var system = SystemRandomNumberGenerator()
        return (0..<count).map { _ in system.next() }
    }

    /// The first event that it has or will have.
    package var firstSequence: UInt64 { base.head.sequence + 1 }

    // MARK: As a row

    static let columns =
        "format, store, epoch, begins, begins_epoch, begins_chain, begins_checkpoint, "
        + "begins_state_hash, cursor_key, cluster_key, complete"

    var values: [PostgreSQLValue] {
        [
            .int(Self.currentFormat), .text("\(storeID)"), .int(Int64(epoch)),
            .int(Int64(firstSequence)), .int(Int64(base.head.epoch)),
            base.knowsChain ? .bytes(base.head.hash.bytes) : .noBytes,
            checkpoint.map { .int(Int64($0.sequence)) } ?? .noInt,
            checkpoint.map { .bytes($0.stateHash) } ?? .noBytes, .bytes(cursorKey),
            .bytes(clusterKey), .bool(isComplete),
        ]
    }

    /// Reads row 0, with these columns.
    init(_ rows: PostgreSQLRows, at address: JournalAddress) throws(SharedJournalError) {
        let format = try onServer { () throws(PostgreSQLError) in try rows.int(0, 0) }
        guard format <= Self.currentFormat else { throw .futureVersion(address, format) }
        do throws(PostgreSQLError) {
            guard let storeID = StoreID(try rows.text(0, 1)),
                let epoch = UInt32(exactly: try rows.int(0, 2)),
                let begins = UInt64(exactly: try rows.int(0, 3)), begins > 0,
                let beginsEpoch = UInt32(exactly: try rows.int(0, 4))
            else { throw PostgreSQLError.unexpected("the history makes no sense") }
            let chain = try rows.bytesIfAny(0, 5).map { ChainHash($0) } ?? nil
            self.storeID = storeID
            self.epoch = epoch
            base = LogBase(
                head: LogHead(sequence: begins - 1, epoch: beginsEpoch, hash: chain ?? .zero),
                knowsChain: chain != nil)
            if let sequence = try rows.intIfAny(0, 6), let hash = try rows.bytesIfAny(0, 7) {
                guard let sequence = UInt64(exactly: sequence), hash.count <= 32 else {
                    throw PostgreSQLError.unexpected("the checkpoint's mark makes no sense")
                }
                checkpoint = CheckpointMark(sequence: sequence, stateHash: hash)
            } else {
                checkpoint = nil
            }
            cursorKey = try rows.bytes(0, 8)
            clusterKey = try rows.bytes(0, 9)
            isComplete = try rows.bool(0, 10)
        } catch {
            throw SharedJournalError(error)
        }
    }
}
