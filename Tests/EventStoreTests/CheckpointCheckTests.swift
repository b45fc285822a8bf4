import Disk
import EventLog
@_spi(Rooms) import RelayRecords
import Testing

@testable import EventStore

@Suite(.bounded) struct CheckpointCheckTests {
    private let log: TodoHistory

    init() throws { log = try TodoHistory() }

    private func outcomes() throws -> [UInt64: CheckpointCheck.Outcome] {
        var outcomes: [UInt64: CheckpointCheck.Outcome] = [:]
        try log.open().checkCheckpoints { check in
            outcomes[check.sequence] = check.outcome
            return true
        }
        return outcomes
    }

    private func write(_ sequence: UInt64, version: UInt32, of snapshot: Snapshot) throws {
        let right = Checkpoint(of: snapshot, epoch: 1, sizeHint: 0)
        let header = Checkpoint.Header(
            sequence: sequence, epoch: 1, foldVersion: version, stateHash: right.header.stateHash)
        let writer = try EventLogWriter.open(log.directory.path)
        try writer.checkpoints.write(Checkpoint(header: header, payload: right.payload), keeping: 9)
        writer.close()
    }

    @Test func aRightCheckpointIsFoundRight() throws {
        #expect(try outcomes() == [6: .right])
    }

    @Test func aCheckpointOfAnotherStateIsFoundToDiffer() throws {
        let history = try log.open()
        let wrong = try history.snapshot(at: 7)
        try write(9, version: StateFormat.version, of: wrong)
        let right = try history.replay(at: 0)
        try right.advance(to: 9)
        #expect(
            try outcomes() == [
                6: .right,
                9: .differs(recorded: wrong.stateHash, refolded: right.snapshot.stateHash),
            ])
    }

    @Test func whatCannotBeReadIsSaid() throws {
        try write(8, version: StateFormat.version + 1, of: Snapshot())
        let name = "00000000000000000006.checkpoint"
        let file = try POSIXFileSystem().open(
            "\(log.directory.path)/checkpoints/\(name)", .readWrite)
        try file.writeAll([0xFF], at: 150)
        file.close()
        let outcomes = try outcomes()
        #expect(outcomes[8] == .otherVersion)
        guard case .unreadable(let reason) = outcomes[6] else {
            return #expect(Bool(false), "\(outcomes)")
        }
        #expect(reason.contains("checksum"))
    }
}
