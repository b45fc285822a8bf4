import Disk
import EventLog
import LogTools
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

@testable import EventStore

/// A log whose first half is gone.
@Suite(.bounded) struct CompactionTests {
    private let directory = TemporaryDirectory()
    private let history: RandomHistory

    init() throws {
        history = try RandomHistory(seed: 9, count: 60)
        try append(history.events[..<40])
        _ = try EventStore.compact(directory.path, options: .quiet)
        try append(history.events[40...])
    }

    private func append(_ events: some Collection<Event>) throws {
        let store = try EventStore.open(directory.path, options: .quiet)
        defer { store.journal.close() }
        for event in events { try store.journal.appendAndWait(event) }
    }

    @Test func aLogWithoutAnEventCanBeForkedAndGoesOn() throws {
        _ = try EventStore.compact(directory.path, options: .quiet)
        let past = try History(directory.path)
        #expect(past.extent == nil)
        let fork = TemporaryDirectory()
        try past.fork(at: past.last, to: fork.path)
        let store = try EventStore.open(fork.path, options: .quiet)
        defer { store.journal.close() }
        #expect(store.snapshot.stateHash == history.snapshot.stateHash)
        #expect(try EventStore.verify(fork.path).isIntact)
        let error = #expect(throws: EventStoreError.self) { try past.event(past.last) }
        #expect(error?.message == "The log has no event \(past.last): it has none.")
    }

    @Test func theStoreStartsAsBefore() throws {
        let store = try EventStore.open(directory.path, options: .quiet)
        defer { store.journal.close() }
        #expect(store.report.checkpoint == 40)
        #expect(store.snapshot.stateHash == history.snapshot.stateHash)
    }

    /// The log would begin with what only another version can read, or none.
    @Test func aLogMayOnlyBeginWithACheckpointThatAStartCanUse() throws {
        let newest = try EventStore.newestCheckpoint(of: directory.path, through: 60)
        let usable = try #require(newest)
        let log = try EventLogWriter.open(directory.path)
        defer { log.close() }
        let right = try log.checkpoints.checkpoint(at: usable)
        for (sequence, version) in [
            (58, StateFormat.version + 1), (59, StateFormat.version),
        ] as [(UInt64, UInt32)] {
            let checkpoint = Checkpoint(
                header: Checkpoint.Header(
                    sequence: sequence, epoch: right.header.epoch, foldVersion: version,
                    stateHash: right.header.stateHash),
                payload: [1, 2, 3])
            try log.checkpoints.write(checkpoint, keeping: 9)
        }
        #expect(try log.checkpoints.sequences().suffix(2) == [58, 59])
        #expect(try EventStore.newestCheckpoint(of: directory.path, through: 60) == usable)
        #expect(try EventStore.newestCheckpoint(of: directory.path, through: usable - 1) == nil)
    }

    @Test func compactingAgainChangesNothing() throws {
        for _ in 0..<3 {
            let report = try EventStore.compact(directory.path, options: .quiet)
            #expect(report.firstSequence == UInt64(history.events.count) + 1)
        }
        try theStateIsThatOfTheHistory()
    }

    /// A segment that has nothing but a closing frame takes the next frame, however large that is.
    @Test func aSegmentWithoutEventsIsNotReplacedUnderItsOwnName() throws {
        _ = try EventStore.compact(directory.path, options: .quiet)
        var options = EventStoreOptions.quiet
        options.log.segmentSizeBytes = 128
        // Leaves a closing frame.
        try EventStore.open(directory.path, options: options).journal.close()
        let larger = try RandomHistory(seed: 9, count: 120)
        do {
            let store = try EventStore.open(directory.path, options: options)
            defer { store.journal.close() }
            try store.journal.appendAndWait(larger.events[history.events.count])
        }
        let store = try EventStore.open(directory.path, options: options)
        defer { store.journal.close() }
        #expect(store.snapshot.sequence == UInt64(history.events.count) + 1)
    }

    private func theStateIsThatOfTheHistory() throws {
        let store = try EventStore.open(directory.path, options: .quiet)
        defer { store.journal.close() }
        #expect(store.snapshot.stateHash == history.snapshot.stateHash)
    }

    @Test func thePastBeginsWithTheCheckpoint() throws {
        let past = try History(directory.path)
        #expect(past.extent == 41...UInt64(history.events.count))
        #expect(try past.snapshot(at: 40).sequence == 40)
        #expect(try past.snapshot(at: 50).sequence == 50)
        let error = #expect(throws: EventStoreError.self) { try past.snapshot(at: 39) }
        #expect(
            error?.message == """
                The state after event 39 cannot be rebuilt: the log keeps events from 41 on, and no \
                checkpoint that this build can use is between the two.
                """)
        #expect(throws: EventStoreError.self) { try past.event(40) }
    }

    @Test func blameKnowsTheValuesBeforeTheFirstKeptEvent() throws {
        let past = try History(directory.path)
        let base = try past.snapshot(at: 40)
        var isChecked = false
        for record in base.recordsInCreationOrder().map(base.symbols.idString) {
            for entry in try past.blame(record) where entry.field != "__typename" {
                if case .inherited = entry.kind {
                    #expect(entry.sequence == 40)
                    continue
                }
                #expect(entry.sequence > 40)
                guard !entry.isOptimistic, let before = entry.change.before else { continue }
                let earlier = try past.snapshot(at: entry.sequence - 1)
                let row = try #require(earlier.existing(record))
                #expect(earlier.fieldValue(entry.field, of: row) == before)
                isChecked = true
            }
        }
        #expect(isChecked)
    }

    @Test func blameDeniesNoRecordThatExists() throws {
        let past = try History(directory.path)
        let now = try past.snapshot(at: past.last)
        for record in now.recordsInCreationOrder().map(now.symbols.idString) {
            let entries = try past.blame(record).filter { !$0.isOptimistic }
            let index = try #require(now.existing(record))
            let row = try #require(now.recordJSON(index))
            for (field, value) in row.fields {
                let newest = try #require(entries.first { $0.field == field }, "\(record).\(field)")
                if case .links = newest.change { continue }
                #expect(newest.change.after == value, "\(record).\(field)")
            }
        }
    }

    /// Segments go whole, so that events before the checkpoint are kept: who wrote is known, and what was
    /// there before is not.
    @Test func writersBeforeTheCheckpointThatAreKeptAreNamed() throws {
        let directory = TemporaryDirectory()
        var options = EventStoreOptions.quiet
        options.log.segmentSizeBytes = 1 << 13
        options.log.firstSegmentSizeBytes = 1 << 13
        let history = try RandomHistory(seed: 9, count: 120)
        let store = try EventStore.open(directory.path, options: options)
        var snapshot = store.snapshot
        var changes = ChangeSet()
        for event in history.events {
            try store.journal.appendAndWait(event)
            try snapshot.fold(event, changes: &changes)
            if event.sequence == 60 { try store.journal.checkpoint(snapshot) }
        }
        store.journal.close()
        let whole = try History(directory.path)
        let records = history.snapshot.recordsInCreationOrder().map(
            history.snapshot.symbols.idString)
        let before = try records.map { try whole.blame($0) }
        _ = try LogCompaction(directory.path).run(checkpoint: 60)
        let past = try History(directory.path)
        #expect(past.first > 1 && past.first < 60)
        var (named, withNames) = (0, 0)
        for (record, all) in zip(records, before) {
            for entry in try past.blame(record) {
                guard entry.kind == .inherited(isWriterKnown: true) else { continue }
                named += 1
                let original = try #require(
                    all.first { $0.field == entry.field && $0.sequence == entry.sequence })
                // A mutation that was begun before the first kept event has lost its name.
                #expect(entry.operation == nil || entry.operation == original.operation)
                if entry.operation != nil { withNames += 1 }
                #expect(original.timeMicroseconds == entry.timeMicroseconds)
            }
        }
        #expect(named > 0 && withNames > 0)
        // A page that has no room for all of them leaves none out.
        for record in records {
            let target = BlameTarget(record: record)
            let whole = try past.blame(record).map { BlameLines(target).json($0).text }
            for lines in [1, 2, 3] {
                let pages = try Self.pages(of: target, in: past, lines: lines)
                #expect(pages == whole, "\(record), \(lines) lines")
            }
        }
    }

    /// The lines of all pages of a blame, each with so many at most.
    private static func pages(
        of target: BlameTarget, in history: History, lines: Int
    ) throws -> [String] {
        var all: [String] = []
        var count = 0
        var (before, skip): (UInt64?, Int) = (nil, 0)
        repeat {
            let page = try history.blamePage(
                target, showsLayers: false, before: before, skip: skip,
                HistoryPage.Limits(lines: lines))
            all += String(decoding: page.bytes, as: UTF8.self).split(separator: "\n").map(
                String.init)
            before = page.next?[.before].flatMap { UInt64($0) }
            skip = page.next?[.skip].flatMap { Int($0) } ?? 0
            count += 1
        } while before != nil && count < 1_000
        return all
    }

    /// Each field has another writer, and a page has room for fewer than there are.
    @Test func manyInheritedFieldsAreAllOnPages() throws {
        let directory = TemporaryDirectory()
        var options = EventStoreOptions.quiet
        options.log.segmentSizeBytes = 1 << 13
        options.log.firstSegmentSizeBytes = 1 << 13
        let store = try EventStore.open(directory.path, options: options)
        var snapshot = store.snapshot
        var changes = ChangeSet()
        func append(_ body: EventBody) throws {
            let event = Event(
                sequence: snapshot.sequence + 1, timeMicroseconds: 0, body: body)
            try store.journal.appendAndWait(event)
            try snapshot.fold(event, changes: &changes)
        }
        func writes(_ field: String, _ text: String) -> WriteSet {
            var writer = WriteSetWriter()
            writer.write(DataID("r"), type: "Thing", fields: [field: .string(text)])
            return writer.writeSet
        }
        // It fills the first segment, which goes.
        let filler = writes("filler", String(repeating: "x", count: 9_000))
        try append(.genesis(schema: "", seed: filler))
        for number in 1...7 {
            try append(
                .update(LocalUpdate(name: "u\(number)", writes: writes("f\(number)", "\(number)"))))
        }
        try store.journal.checkpoint(snapshot)
        let last = snapshot.sequence
        try append(.update(LocalUpdate(name: "later", writes: writes("f1", "again"))))
        store.journal.close()
        _ = try LogCompaction(directory.path).run(checkpoint: last)
        let past = try History(directory.path)
        #expect(past.first == 2)
        let target = BlameTarget(record: "r")
        let whole = try past.blame("r").map { BlameLines(target).json($0).text }
        #expect(whole.count >= 9)
        for lines in 1...10 {
            let pages = try Self.pages(of: target, in: past, lines: lines)
            #expect(pages == whole, "\(lines) lines")
        }
    }

    /// A start takes another one, and so do the tools: the past begins later then.
    @Test func whereTheStateThatItBeginsWithIsDamagedALaterOneIsTaken() throws {
        let last = UInt64(history.events.count)
        for sequence in [50, last] {
            let store = try EventStore.open(directory.path, options: .quiet)
            try store.journal.checkpoint(
                store.snapshot.sequence == sequence
                    ? store.snapshot : History(directory.path).snapshot(at: sequence))
            store.journal.close()
        }
        let name = "00000000000000000040.checkpoint"
        let file = try POSIXFileSystem().open("\(directory.path)/checkpoints/\(name)", .readWrite)
        try file.writeAll([0xFF], at: 150)
        file.close()
        let past = try History(directory.path)
        #expect(try past.firstState == 50)
        #expect(try past.refolded().stateHash == history.snapshot.stateHash)
        let record = try #require(history.snapshot.recordsInCreationOrder().first)
        #expect(try !past.blame(history.snapshot.symbols.idString(record)).isEmpty)
        var outcomes: [UInt64: CheckpointCheck.Outcome] = [:]
        try past.checkCheckpoints { check in
            outcomes[check.sequence] = check.outcome
            return true
        }
        #expect(outcomes[50] == .beginning && outcomes[last] == .right)
        guard case .unreadable? = outcomes[40] else {
            return #expect(Bool(false), "\(outcomes)")
        }
    }

    /// Every checksum is right: only META knows that the log began with something else.
    @Test func aCheckpointWithAnotherStateThanTheLogBeganWithIsDamage() throws {
        #expect(try EventStore.verify(directory.path).damages == [])
        let log = try EventLogWriter.open(directory.path)
        let right = try log.checkpoints.checkpoint(at: 40)
        var other = try right.snapshot(indexes: [], takesOlderFold: false)
        let record = try #require(other.recordsInCreationOrder().first)
        var writes = WriteSetWriter()
        writes.delete(DataID(other.symbols.idString(record)))
        var changes = ChangeSet()
        try other.fold(
            Event(
                sequence: 41, timeMicroseconds: 0,
                body: .update(LocalUpdate(name: "", writes: writes.writeSet))), changes: &changes)
        let altered = Checkpoint(of: other, epoch: right.header.epoch, sizeHint: 0)
        func write(_ checkpoint: Checkpoint, hash: [UInt8]) throws {
            let header = Checkpoint.Header(
                sequence: 40, epoch: right.header.epoch, foldVersion: right.header.foldVersion,
                stateHash: hash)
            try log.checkpoints.write(
                Checkpoint(header: header, payload: checkpoint.payload), keeping: 3)
        }
        func damages() throws -> [String] {
            try EventStore.verify(directory.path).damages.map(\.reason)
        }
        defer { log.close() }
        // With its own hash it is a checkpoint like any other, but for META.
        try write(altered, hash: altered.header.stateHash)
        #expect(
            try damages() == [
                "the checkpoint holds a different state from the one META names"
            ])
        // With the hash that META names it is not the state that it says.
        try write(altered, hash: right.header.stateHash)
        #expect(
            try damages() == [
                "the log begins with event 41, and there is no checkpoint that is good of the state "
                    + "before it",
                "the checkpoint cannot be used: its state hash is not that of its bytes",
            ])
        try write(right, hash: right.header.stateHash)
        #expect(try damages() == [])
    }

    @Test func theCheckpointItBeginsWithIsNotProven() throws {
        let store = try EventStore.open(directory.path, options: .quiet)
        try store.journal.checkpoint(store.snapshot)
        store.journal.close()
        var outcomes: [CheckpointCheck.Outcome] = []
        try History(directory.path).checkCheckpoints { check in
            outcomes.append(check.outcome)
            return true
        }
        #expect(outcomes == [.beginning, .right])
    }
}
