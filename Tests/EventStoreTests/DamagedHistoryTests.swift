import EventLog
import Foundation
import LogTools
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing

@testable import EventStore

/// What can still be asked of a history with damage in the middle: event 30 of 90, with checkpoints after
/// events 20 and 60.
@Suite(.bounded) struct DamagedHistoryTests {
    private let directory = TemporaryDirectory()
    private let events: [Event]

    init() throws {
        events = try RandomHistory(seed: 5, count: 90).events
        try Self.write(events, to: directory)
        try Self.damage(30, in: directory)
    }

    /// - Parameter compacted: the log is compacted behind this event.
    private static func write(
        _ events: [Event], to directory: TemporaryDirectory, compacted: UInt64? = nil
    ) throws {
        var options = EventStoreOptions.quiet
        options.log.segmentSizeBytes = 1 << 12
        options.log.firstSegmentSizeBytes = 1 << 12
        var store = try EventStore.open(directory.path, options: options)
        var snapshot = store.snapshot
        var changes = ChangeSet()
        for event in events {
            try store.journal.appendAndWait(event)
            try snapshot.fold(event, changes: &changes)
            if [20, 60].contains(event.sequence) { try store.journal.checkpoint(snapshot) }
            if event.sequence == compacted {
                store.journal.close()
                _ = try EventStore.compact(directory.path, options: options)
                store = try EventStore.open(directory.path, options: options)
            }
        }
        store.journal.close()
    }

    private static func damage(_ event: UInt64, in directory: TemporaryDirectory) throws {
        let frame = try #require(try EventLogReader(directory.path).frame(containing: event))
        let segments = try EventLogReader(directory.path).segmentFiles()
        try #require(segments.last?.path != frame.segment, "the damage is in a sealed segment")
        let place = Int(frame.offset) + frame.byteCount / 2
        try Damage.changed(
            String(frame.segment.dropFirst(directory.path.count + 1)), at: place, by: 1
        )
        .apply(in: directory.path)
    }

    private func history() throws(EventStoreError) -> History { try History(directory.path) }

    private func snapshot(at sequence: UInt64) throws -> Snapshot {
        var snapshot = Snapshot()
        var changes = ChangeSet()
        for event in events where event.sequence <= sequence {
            try snapshot.fold(event, changes: &changes)
        }
        return snapshot
    }

    @Test func statesOnBothSidesOfTheDamageAreCompared() throws {
        let differences = try history().differences(from: 25, to: 70)
        #expect(try differences == snapshot(at: 25).differences(to: snapshot(at: 70)))
        let reversed = try history().differences(from: 70, to: 25)
        #expect(try reversed == snapshot(at: 70).differences(to: snapshot(at: 25)))
        let error = #expect(throws: EventStoreError.self) {
            try history().differences(from: 25, to: 45)
        }
        #expect(error?.code == .log(.damaged))
    }

    /// A state in front of the damage is near, and leads nowhere.
    @Test func keptStatesDoNotHideTheWayAroundDamage() throws {
        let kept = PassedStates()
        func asked() throws -> History {
            try history().within(HistoryAllowance(events: 1_000), from: kept)
        }
        for _ in 0..<2 {
            _ = try asked().snapshot(at: 29)
            #expect(try asked().snapshot(at: 70).stateHash == snapshot(at: 70).stateHash)
            #expect(
                try asked().differences(from: 25, to: 70)
                    == snapshot(at: 25).differences(to: snapshot(at: 70)))
            #expect(
                try asked().difference(from: 29, to: 61).records
                    == StateDifference(from: snapshot(at: 29), to: snapshot(at: 61)).records)
        }
    }

    @Test func anEventThatCannotBeReadIsNotCalledMissing() throws {
        #expect(try history().summary(of: 45).sequence == 45)
        let error = #expect(throws: EventStoreError.self) { try history().summary(of: 30) }
        #expect(error?.code == .log(.damaged))
    }

    @Test func behindDamageItGoesOnWithTheNextCheckpoint() throws {
        let history = try history()
        #expect(try history.nextState(after: 29) == 60)
        #expect(history.damages.all.count == 1)
        #expect(try history.snapshot(at: 60).stateHash == snapshot(at: 60).stateHash)
        try FileManager.default.removeItem(
            atPath: directory.path + "/checkpoints/00000000000000000060.checkpoint")
        let error = #expect(throws: EventStoreError.self) { try history.nextState(after: 29) }
        #expect(error?.code == .log(.damaged))
    }

    @Test func theIndexGoesOnBehindDamage() throws {
        let history = try history()
        let index = try HistoryIndex(history, landmarkLimit: 2)
        try index.build()
        #expect(index.isComplete && index.reached == history.last)
        for sequence: UInt64 in [25, 60, 61, 90] {
            let found = try index.replay(at: sequence) { $0.snapshot.stateHash }
            #expect(try found == snapshot(at: sequence).stateHash)
        }
        let error = #expect(throws: EventStoreError.self) { try index.replay(at: 45) { _ in } }
        #expect(error?.isDamage == true)
        #expect(index.writes(of: nil, record: "r1") == nil)
        // Nothing leads there.
        try FileManager.default.removeItem(
            atPath: directory.path + "/checkpoints/00000000000000000060.checkpoint")
        let first = try HistoryIndex(self.history())
        try first.build()
        #expect(first.isComplete && first.writes(of: nil, record: "r1") == nil)
        #expect(throws: EventStoreError.self) { try first.replay(at: 90) { _ in } }
    }

    @Test func whatIsDamagedIsNeitherForkedNorCompacted() throws {
        let fork = TemporaryDirectory()
        let error = #expect(throws: EventStoreError.self) {
            try history().fork(at: 90, to: fork.path)
        }
        #expect(error?.code == .log(.damaged))
        try history().fork(at: 29, to: fork.path)
        #expect(try EventStore.verify(fork.path).isIntact)
        let files = try FileManager.default.subpathsOfDirectory(atPath: directory.path)
        let refusal = #expect(throws: EventStoreError.self) {
            try EventStore.compact(directory.path, options: .quiet)
        }
        #expect(refusal?.code == .log(.damaged))
        #expect(try FileManager.default.subpathsOfDirectory(atPath: directory.path) == files)
    }

    // MARK: Pages, as a server has them

    private func asked(_ kept: PassedStates? = nil) throws(EventStoreError) -> History {
        try history().within(HistoryAllowance(events: 100_000), from: kept)
    }

    private func unharmed() -> History {
        let journal = InMemoryJournal()
        for event in events {
            journal.append(
                [NewEvent(timeMicroseconds: event.timeMicroseconds, body: event.body)],
                expecting: event.sequence - 1
            ) { _ in }
        }
        return History(journal)
    }

    /// The lines of all pages until one is refused, and why that was.
    private func lines(
        _ start: [HistoryPage.Place: String] = [:],
        _ page: ([HistoryPage.Place: String]) throws(EventStoreError) -> HistoryPage
    ) -> (pages: [[String]], error: EventStoreError?) {
        var pages: [[String]] = []
        var place: [HistoryPage.Place: String]? = start
        while let here = place, pages.count < 1_000 {
            do throws(EventStoreError) {
                let page = try page(here)
                let text = String(decoding: page.bytes, as: UTF8.self)
                pages.append(text.split(separator: "\n").map(String.init))
                place = page.next
            } catch {
                return (pages, error)
            }
        }
        return (pages, nil)
    }

    @Test(arguments: [1, 7, 100]) func pagesOfEventsEndAtDamageAndSayWhereItIs(_ limit: Int) throws
    {
        let limits = HistoryPage.Limits(lines: limit)
        let whole = try events.map { try unharmed().summary(of: $0.sequence).json.text }
        func forward(after: String, _ filter: EventFilter = EventFilter()) -> (
            lines: [String], error: EventStoreError?
        ) {
            let found = lines([.after: after]) { place throws(EventStoreError) in
                let after = UInt64(place[.after] ?? "") ?? 0
                return try asked().eventPage(
                    in: .init(after: .sequence(after)), filter, limits, now: 0)
            }
            return (found.pages.flatMap { $0 }, found.error)
        }
        func backward(before: String) -> (lines: [String], error: EventStoreError?) {
            let found = lines([.before: before]) { place throws(EventStoreError) in
                let before = UInt64(place[.before] ?? "") ?? 0
                return try asked().eventPage(
                    in: .init(before: .sequence(before)), EventFilter(), limits, now: 0)
            }
            return (found.pages.reversed().flatMap { $0 }, found.error)
        }
        for (from, sequences) in [("0", 1...29), ("27", 28...29), ("29", nil)]
            as [(String, ClosedRange<Int>?)]
        {
            let (lines, error) = forward(after: from)
            #expect(
                lines == sequences.map { Array(whole[$0.lowerBound - 1..<$0.upperBound]) } ?? [])
            #expect(error?.isDamage == true)
            #expect(error?.message.contains("Event 30 cannot be read") == true)
            #expect(error?.message.contains("(event 30)") == true, "\(error as Any)")
        }
        #expect(forward(after: "30").lines == Array(whole[30...]))
        #expect(forward(after: "30").error == nil)
        #expect(backward(before: "1000").lines == Array(whole[30...]))
        #expect(backward(before: "1000").error?.isDamage == true)
        #expect(backward(before: "31").lines == [])
        #expect(backward(before: "31").error?.isDamage == true)
        #expect(backward(before: "30").lines == Array(whole[..<29]))
        #expect(backward(before: "30").error == nil)
        // Nobody knows whether the damaged event is one of them.
        var filter = EventFilter()
        filter.record = "nobody"
        #expect(forward(after: "0", filter).lines == [])
        #expect(forward(after: "0", filter).error?.isDamage == true)
    }

    /// What is told is right, whatever was asked before; the rest is refused.
    @Test(arguments: [1, 7, 1_000]) func pagesOfBlameAreRightOrRefused(_ limit: Int) throws {
        let limits = HistoryPage.Limits(lines: limit)
        let whole = unharmed()
        for target in ["r0", "r1", "r2", "r7", "nobody"].map({ BlameTarget(record: $0) }) {
            let form = BlameLines(target, showsLayers: false)
            let entries = try whole.blame([target])?.entries ?? []
            let wanted = entries.filter { $0.sequence > 60 }.map { form.json($0).text }
            let earlier = entries.filter { $0.sequence < 30 }.map { form.json($0).text }
            let kept = PassedStates()
            for round in 0..<3 {
                func blamed(before: UInt64?) -> (pages: [[String]], error: EventStoreError?) {
                    lines { place throws(EventStoreError) in
                        try asked(round == 0 ? nil : kept).blamePage(
                            target, showsLayers: false,
                            before: place[.before].flatMap { UInt64($0) } ?? before,
                            skip: Int(place[.skip] ?? "0") ?? 0, limits)
                    }
                }
                let newest = blamed(before: nil)
                #expect(newest.pages.flatMap { $0 } == wanted, "\(target)")
                #expect(newest.error?.isDamage == true)
                #expect(newest.error?.message.contains("(event 30)") == true)
                for before: UInt64 in [31, 40, 60, 61] {
                    let hidden = blamed(before: before)
                    #expect(hidden.pages.flatMap { $0 } == [] && hidden.error?.isDamage == true)
                }
                let oldest = blamed(before: 30)
                #expect(oldest.pages.flatMap { $0 } == earlier && oldest.error == nil)
                _ = try asked(kept).snapshot(at: 85)
                _ = try asked(kept).snapshot(at: 29)
            }
        }
    }

    /// With a state at hand for every event, a blame has as many pieces as there are events.
    @Test func aBlameOfManyPiecesEndsAtTheDamage() throws {
        let directory = TemporaryDirectory()
        let count: UInt64 = 300
        try Self.write(try RandomHistory(seed: 5, count: Int(count)).events, to: directory)
        try Self.damage(30, in: directory)
        let kept = PassedStates()
        let history = try History(directory.path)
            .within(HistoryAllowance(events: 10_000_000), from: kept)
        for sequence in 61...count { _ = try history.snapshot(at: sequence) }
        let page = try history.blamePage(
            BlameTarget(record: "nobody"), showsLayers: false, before: nil, skip: 0,
            HistoryPage.Limits(lines: 10))
        #expect(page.next?[.before] == "61")
        let error = #expect(throws: EventStoreError.self) {
            try history.blamePage(
                BlameTarget(record: "nobody"), showsLayers: false, before: 61, skip: 0,
                HistoryPage.Limits(lines: 10))
        }
        #expect(error?.isDamage == true)
    }

    /// In a compacted log: what came after the first state is told, whatever was asked before.
    @Test func damageBeforeTheFirstStateHidesNothingBehindIt() throws {
        let directory = TemporaryDirectory()
        try Self.write(events, to: directory, compacted: 40)
        // The state that it begins with is gone, as old checkpoints go: the first one that is known is after event 60.
        let checkpoints = directory.path + "/checkpoints"
        let oldest = try #require(
            try FileManager.default.contentsOfDirectory(atPath: checkpoints).min())
        try FileManager.default.removeItem(atPath: checkpoints + "/" + oldest)
        let whole = try History(directory.path)
        let target = BlameTarget(record: "r1")
        let wanted = try whole.blame([target])?.entries.filter { $0.sequence > 60 }
            .map { BlameLines(target, showsLayers: false).json($0).text }
        let reader = try EventLogReader(directory.path)
        let sizes = try (42...55).map {
            try (event: $0, reader.frame(containing: $0)?.byteCount ?? 0)
        }
        try Self.damage(try #require(sizes.max { $0.1 < $1.1 }).event, in: directory)
        let kept = PassedStates()
        for _ in 0..<2 {
            let history = try History(directory.path)
                .within(HistoryAllowance(events: 1_000_000), from: kept)
            let (pages, error) = lines { place throws(EventStoreError) in
                try history.blamePage(
                    target, showsLayers: false, before: place[.before].flatMap { UInt64($0) },
                    skip: Int(place[.skip] ?? "0") ?? 0, HistoryPage.Limits(lines: 7))
            }
            #expect(pages.flatMap { $0 } == wanted && error?.isDamage == true)
            _ = try history.snapshot(at: 85)
        }
    }

    @Test func anEventWhoseChangesAreNotKnownSaysSo() throws {
        // In another segment than the damage.
        for sequence in 55...60 as ClosedRange<UInt64> {
            let description = try EventDescription(sequence, in: asked())
            guard try asked().event(sequence).body.confirmedWrites != nil else { continue }
            #expect(description.json["changes"] == nil)
            #expect(description.lines.contains { $0.hasPrefix("changes       unknown: ") })
        }
    }
}
