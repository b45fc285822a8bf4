import BoundedTesting
import EventLog
import Foundation
import LogTools
@_spi(Rooms) import RelayRecords
import Testing

@testable import EventStore

/// Small logs, damaged in every way: each file removed, each cut at the borders of its frames and elsewhere,
/// bytes changed and stretches zeroed everywhere.
///
/// Whatever was done, one of two things is true.
///
/// 1. `verify` calls the log intact, and a start leads to the state that was there; where the log had not
///    been closed, to one of the states that verify says it cannot tell apart.
/// 2. `verify` calls it damaged. Then `repair --plan` says what a repair would lose, and the repair loses
///    that and nothing else: what is left is the same events and the same states as before.
@Suite(.bounded) struct DamageTests {
    enum Shape: String, CaseIterable {
        case whole
        /// Its first half is gone.
        case compacted
        /// No checkpoint has been written since its compaction.
        case compactedLast
        /// The process that wrote it was killed.
        case crashed
        /// With segments that are compressed.
        case deflated
    }

    @Test(arguments: Shape.allCases)
    func noDamageIsCalledIntactAndNoRepairLosesMoreThanItsPlan(_ shape: Shape) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        let log = try DamagedLog(shape, seed: seed)
        var generator = SeededGenerator(seed: seed)
        var outcomes = Outcomes()
        for damage in try log.damages(&generator) {
            let context = "\(shape) with \(damage), seed \(seed)"
            try log.examine(damage, context, &outcomes)
        }
        // The test itself has to have seen all of it.
        #expect(outcomes.intact > 0 && outcomes.repaired > 20, "\(outcomes), seed \(seed)")
        if ![.compacted, .compactedLast].contains(shape) {
            #expect(outcomes.savedByCheckpoint > 0, "\(outcomes), seed \(seed)")
        }
    }
}

struct Outcomes {
    var intact = 0
    var repaired = 0
    var unrepairable = 0
    /// Repairs that lost no effect although events were damaged.
    var savedByCheckpoint = 0
}

enum Damage: CustomStringConvertible {
    case removed(String)
    case cut(String, at: Int)
    case changed(String, at: Int, by: UInt8)
    case zeroed(String, Range<Int>)

    var description: String {
        switch self {
        case .removed(let file): "\(file) removed"
        case .cut(let file, let place): "\(file) cut at byte \(place)"
        case .changed(let file, let place, let mask): "\(file) byte \(place) changed by \(mask)"
        case .zeroed(let file, let range): "\(file) bytes \(range) zeroed"
        }
    }

    func apply(in directory: String) throws {
        switch self {
        case .removed(let file):
            try FileManager.default.removeItem(atPath: directory + "/" + file)
        case .cut(let file, let place):
            try change(file, in: directory) { $0 = $0.prefix(place) }
        case .changed(let file, let place, let mask):
            try change(file, in: directory) { $0[place] ^= mask }
        case .zeroed(let file, let range):
            try change(file, in: directory) { for place in range { $0[place] = 0 } }
        }
    }

    private func change(
        _ file: String, in directory: String, _ body: (inout Data) -> Void
    ) throws {
        let url = URL(filePath: directory + "/" + file)
        var bytes = try Data(contentsOf: url)
        body(&bytes)
        try bytes.write(to: url)
    }
}

/// A log, and what is known of it.
struct DamagedLog {
    private let original = TemporaryDirectory()
    private let events: [Event]
    /// The state hash after each event, by its sequence.
    private var hashes: [UInt64: StateHash] = [:]
    private let first: UInt64
    private var last: UInt64 { UInt64(events.count) }

    init(_ shape: DamageTests.Shape, seed: UInt64) throws {
        events = try RandomHistory(seed: seed, count: 90).events
        var options = EventStoreOptions.quiet
        options.log.segmentSizeBytes = 1 << 12
        options.log.firstSegmentSizeBytes = 1 << 12
        options.log.deflatesSealedSegments = shape == .deflated
        let work = TemporaryDirectory()
        var store = try EventStore.open(work.path, options: options)
        var snapshot = store.snapshot
        var changes = ChangeSet()
        let compactedAt: UInt64? =
            switch shape {
            case .compacted: UInt64(events.count / 2)
            case .compactedLast: UInt64(events.count - events.count % 20 + 1)
            case .whole, .crashed, .deflated: nil
            }
        for event in events {
            try store.journal.appendAndWait(event)
            try snapshot.fold(event, changes: &changes)
            hashes[event.sequence] = snapshot.stateHash
            if event.sequence.isMultiple(of: 20) { try store.journal.checkpoint(snapshot) }
            if event.sequence == compactedAt {
                store.journal.close()
                _ = try EventStore.compact(work.path, options: options)
                store = try EventStore.open(work.path, options: options)
            }
        }
        if shape == .deflated {
            // What is deflated is deflated before the next start.
            store.journal.close()
            store = try EventStore.open(work.path, options: options)
        }
        if shape != .crashed { store.journal.close() }
        try TemporaryDirectory.copy(work.path, to: original.path)
        if shape == .crashed { store.journal.close() }
        first = try History(original.path).first
    }

    /// Every damage that is tried.
    func damages(_ generator: inout SeededGenerator) throws -> [Damage] {
        var damages: [Damage] = []
        for file in try files() {
            damages.append(.removed(file))
            let size = try Data(contentsOf: URL(filePath: original.path + "/" + file)).count
            guard size > 0 else { continue }
            for _ in 0..<4 {
                damages.append(.cut(file, at: .random(in: 0..<size, using: &generator)))
            }
            for place in stride(from: 0, to: min(size, 112), by: 9) {
                damages.append(.changed(file, at: place, by: 1 << (place % 8)))
            }
            for _ in 0..<12 {
                let place = Int.random(in: 0..<size, using: &generator)
                let mask = UInt8.random(in: 1...255, using: &generator)
                damages.append(.changed(file, at: place, by: mask))
            }
            for length in [1, 64, 512, 1_500] {
                let start = Int.random(in: 0..<size, using: &generator)
                damages.append(.zeroed(file, start..<min(size, start + length)))
            }
        }
        let frames = try EventLogReader(original.path).frames()
        while let frame = try frames.next() {
            let file = String(frame.segment.dropFirst(original.path.count + 1))
            let size = try Data(contentsOf: URL(filePath: original.path + "/" + file)).count
            let end = Int(frame.offset) + frame.byteCount
            guard end <= size else { continue }
            damages.append(.cut(file, at: end))
            damages.append(.zeroed(file, Int(frame.offset)..<size))
        }
        return damages
    }

    private func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: original.path).sorted().filter {
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(
                atPath: original.path + "/" + $0, isDirectory: &isDirectory)
            return !isDirectory.boolValue
        }
    }

    func examine(_ damage: Damage, _ context: String, _ outcomes: inout Outcomes) throws {
        let copy = try TemporaryDirectory(copyOf: original.path)
        try damage.apply(in: copy.path)
        let found = try? EventStore.verify(copy.path)
        if let found, found.isIntact {
            outcomes.intact += 1
            try expectStart(copy.path, like: found, context)
        } else {
            try expectRepair(copy.path, context, &outcomes)
        }
    }

    private func expectStart(
        _ directory: String, like found: LogVerification, _ context: String
    ) throws {
        let store = try EventStore.open(directory, options: .quiet)
        store.journal.close()
        let sequence = store.snapshot.sequence
        #expect(sequence == found.head.sequence, "\(context)")
        #expect(store.snapshot.stateHash == hashes[sequence], "\(context)")
        if sequence != last {
            #expect(!found.unknowns.isEmpty && found.certainThrough <= sequence, "\(context)")
        }
    }

    private func expectRepair(
        _ directory: String, _ context: String, _ outcomes: inout Outcomes
    ) throws {
        let plan: RepairReport
        do {
            plan = try EventStore.planRepair(directory)
        } catch {
            outcomes.unrepairable += 1
            // A changed version number reads like a later program's.
            #expect(
                [.log(.damaged), .log(.futureVersion)].contains(error.code), "\(context): \(error)")
            #expect(throws: EventStoreError.self, "\(context)") {
                try EventStore.repair(directory)
            }
            return
        }
        let report = try EventStore.repair(directory)
        outcomes.repaired += 1
        if plan.lost == nil, plan.forgotten != nil { outcomes.savedByCheckpoint += 1 }
        #expect(report.lost == plan.lost && report.forgotten == plan.forgotten, "\(context)")
        #expect(report.copies == plan.copies && report.rebuilt == plan.rebuilt, "\(context)")
        for copy in report.copies {
            #expect(FileManager.default.fileExists(atPath: copy), "\(context): \(copy)")
        }
        let found = try EventStore.verify(directory)
        #expect(found.damages == [], "\(context)")
        #expect(found.head.sequence == plan.lastSequence, "\(context)")
        let known = plan.lost?.upperBound ?? plan.lastSequence
        #expect(plan.isEndCertain ? known == last : known <= last, "\(context)")
        #expect(plan.lost.map { $0.lowerBound == plan.lastSequence + 1 } ?? true, "\(context)")
        #expect(plan.firstSequence == (plan.forgotten?.upperBound ?? first - 1) + 1, "\(context)")
        let store = try EventStore.open(directory, options: .quiet)
        store.journal.close()
        #expect(store.snapshot.sequence == plan.lastSequence, "\(context)")
        #expect(store.snapshot.stateHash == hashes[plan.lastSequence], "\(context)")
        let history = try History(directory)
        #expect(history.first == plan.firstSequence, "\(context)")
        if let extent = history.extent {
            let kept = try history.events(in: extent)
            for event in events[Int(extent.lowerBound) - 1..<Int(extent.upperBound)] {
                #expect(try kept.next() == event, "\(context)")
            }
        }
    }
}
