import BoundedTesting
import DiskSimulation
import Dispatch
import EventLog
import Foundation
import LogTools
@_spi(Rooms) import RelayRecords
import Testing
import Threads

@testable import EventStore

/// Logs with absurd numbers under checksums that are right, as an attacker or a bug would write them.
///
/// Whatever they say, all that reads a log gives an answer or an error that names the log or the event; nothing traps,
/// asks the disk for more than there is, or goes on for ever.
///
/// The rounds of the suite are the same every time. `RELAY_FORGED_ROUNDS` makes them more, those at random;
/// `RELAY_FORGED_SEED` begins with a seed, as a failure prints it, and tells of each round before it is tried, so that
/// a trap's is the last.
@Suite(.bounded) struct ForgedLogTests {
    @Test func absurdNumbersUnderRightChecksumsAreAnAnswerOrAnError() async throws {
        let series = try ForgedSeries()
        let isDone = try await onThreadOfItsOwn { series.run(deadline: .testDeadline) }
        #expect(isDone, "it goes on for ever: \(series.current)")
        for failure in series.failures { Issue.record("\(failure)") }
        #expect(series.answers > 0 && series.errors > 0, "both were seen")
    }
}

/// Rounds, one after another.
private final class ForgedSeries: Sendable {
    private struct State {
        var current = ""
        var failures: [String] = []
        var answers = 0
        var errors = 0
    }

    private static let variables = ProcessInfo.processInfo.environment
    private static let fixedCount: UInt64 = 400
    private static let count = variables["RELAY_FORGED_ROUNDS"].flatMap(UInt64.init)
    private static let seed = variables["RELAY_FORGED_SEED"].flatMap(UInt64.init)

    private let originals: [SimulatedDisk]
    private let state = Lock(State())

    init() throws {
        originals = [
            try ForgedLog.original(isCompacted: false), try ForgedLog.original(isCompacted: true),
        ]
    }

    /// The round that is tried.
    var current: String { state.withLock { $0.current } }
    var failures: [String] { state.withLock { $0.failures } }
    var answers: Int { state.withLock { $0.answers } }
    var errors: Int { state.withLock { $0.errors } }

    /// - Returns: false when it was not done by the deadline.
    func run(deadline: Duration) -> Bool {
        let isDone = DispatchSemaphore(value: 0)
        // A round that never ends keeps its thread.
        DispatchQueue(label: "forged logs").async { [self] in
            runAll()
            isDone.signal()
        }
        guard Self.count == nil else {
            isDone.wait()
            return true
        }
        return isDone.wait(timeout: .now() + Double(deadline.components.seconds)) == .success
    }

    private func runAll() {
        let isFixed = Self.count == nil && Self.seed == nil
        let first = Self.seed ?? (isFixed ? 1 : .random(in: 0...UInt64.max >> 1))
        if !isFixed { say("forged logs: RELAY_FORGED_SEED=\(first)") }
        for seed in first..<first + (Self.count ?? (Self.seed == nil ? Self.fixedCount : 1)) {
            do {
                let log = try ForgedLog(originals[Int(seed % 2)], seed: seed)
                let name = (["RELAY_FORGED_SEED=\(seed)"] + log.forgeries).joined(separator: "\n")
                state.withLock { $0.current = name }
                if Self.seed != nil { say(name) }
                for (reading, body) in readings {
                    state.withLock { $0.current = "\(reading), \(name)" }
                    let disk = MeteredDisk(log.disk.copy())
                    note(disk, "\(reading), \(name)", body)
                }
            } catch {
                fail("RELAY_FORGED_SEED=\(seed) could not be made: \(error)")
            }
        }
    }

    private func note(_ disk: MeteredDisk, _ name: String, _ body: (MeteredDisk) throws -> Void) {
        do {
            try body(disk)
            state.withLock { $0.answers += 1 }
        } catch let error as UnkeptPromise {
            fail("\(name): \(error.text)")
        } catch {
            state.withLock { $0.errors += 1 }
            let text = "\(error)"
            if !text.contains(ForgedLog.path), !text.contains("event"), !text.contains("Event") {
                fail("\(name) says neither file nor event: \(text)")
            }
        }
        for excess in disk.excesses.prefix(1) { fail("\(name) reads \(excess)") }
    }

    /// Not by a buffer, which a trap would take along.
    private func say(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

    private func fail(_ text: String) { state.withLock { $0.failures.append(text) } }

    // MARK: What reads a log

    private let readings: [(String, @Sendable (MeteredDisk) throws -> Void)] = [
        ("verify", { _ = try EventStore.verify(ForgedLog.path, fileSystem: $0) }),
        ("repair --plan", { _ = try EventStore.planRepair(ForgedLog.path, fileSystem: $0) }),
        (
            "repair",
            { disk in
                _ = try EventStore.repair(ForgedLog.path, fileSystem: disk)
                let damages = try EventStore.verify(ForgedLog.path, fileSystem: disk).damages
                if !damages.isEmpty { throw UnkeptPromise("after a repair: \(damages)") }
            }
        ),
        (
            "a start",
            { disk in
                let store = try EventStore.open(
                    ForgedLog.path, options: ForgedLog.options(on: disk))
                defer { store.journal.close() }
                try store.journal.checkpoint(store.snapshot)
            }
        ),
        (
            "an append",
            { disk in
                let log = try EventLogWriter.open(
                    ForgedLog.path, options: ForgedLog.options(on: disk).log, fileSystem: disk)
                defer { log.close() }
                let event = NewEvent(timeMicroseconds: 0, body: .schema(""))
                var batch = EventBatch()
                for _ in 0..<3 { batch.append(event) }
                try log.appendAndWait(batch)
            }
        ),
        (
            "compact --dry-run",
            { disk in
                let history = try History(ForgedLog.path, fileSystem: disk)
                _ = try LogCompaction(ForgedLog.path, fileSystem: disk)
                    .plan(checkpoint: history.last, isEnd: true)
            }
        ),
        (
            "compact",
            { disk in
                _ = try EventStore.compact(ForgedLog.path, options: ForgedLog.options(on: disk))
            }
        ),
        (
            "replay and stats",
            { disk in
                let history = try History(ForgedLog.path, fileSystem: disk)
                let reader = try EventLogReader(ForgedLog.path, fileSystem: disk)
                _ = try reader.segmentFiles()
                if let extent = history.extent {
                    let summaries = try history.summaries(in: extent)
                    while let event = try summaries.next() {
                        _ = RFC3339.text(microseconds: event.timeMicroseconds)
                    }
                    _ = try? history.sequence(of: .time(microseconds: 0), now: 0)
                    _ = try? history.sequence(of: .beforeLast(.max), now: 0)
                    _ = try? history.sequence(of: .ago(microseconds: .max), now: .min)
                }
                _ = try history.snapshot(at: history.last)
            }
        ),
        (
            "checkpoints, folded anew",
            { try History(ForgedLog.path, fileSystem: $0).checkCheckpoints { _ in true } }
        ),
        (
            "events behind damage",
            { disk in
                let reader = try EventLogReader(ForgedLog.path, fileSystem: disk)
                let first = try reader.firstSequence()
                for sequence in [first, first &+ 30, 40, UInt64(Int64.max), .max] {
                    let events = try reader.events(from: sequence, skippingDamage: true)
                    while try events.next() != nil {}
                }
            }
        ),
        (
            "a fork",
            { disk in
                let history = try History(ForgedLog.path, fileSystem: disk)
                try history.fork(at: history.last, to: "fork")
            }
        ),
    ]
}

private struct UnkeptPromise: Error {
    let text: String
    init(_ text: String) { self.text = text }
}
