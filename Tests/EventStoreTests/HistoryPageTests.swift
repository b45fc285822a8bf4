import BoundedTesting
import EventLog
import RelayJSON
import Testing

@_spi(Rooms) @testable import EventStore
@_spi(Rooms) @testable import RelayRecords

/// Pages, one after the other, are what the whole would have been.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct HistoryPageTests {
    /// The same random history in files, with checkpoints, and in memory.
    private struct Recorded {
        let directory = TemporaryDirectory()
        let files: History
        let memory: History

        init(seed: UInt64, count: Int, checkpoints: Set<UInt64>) throws {
            var options = EventStoreOptions.quiet
            options.log.durability = .none
            let store = try EventStore.open(directory.path, options: options)
            defer { store.journal.close() }
            let journal = InMemoryJournal()
            var snapshot = store.snapshot
            var changes = ChangeSet()
            for event in try RandomHistory(seed: seed, count: count).events {
                try store.journal.appendAndWait(event)
                journal.append(
                    [NewEvent(timeMicroseconds: event.timeMicroseconds, body: event.body)],
                    expecting: event.sequence - 1
                ) { _ in }
                try snapshot.fold(event, changes: &changes)
                if checkpoints.contains(event.sequence) { try store.journal.checkpoint(snapshot) }
            }
            files = try History(directory.path)
            memory = History(journal)
        }

        var both: [History] { [files, memory] }
    }

    private static let seed = UInt64.random(in: 1...1_000_000)

    private func recorded() throws -> Recorded {
        try Recorded(seed: Self.seed, count: 400, checkpoints: [90, 180, 270, 371])
    }

    private func limits(_ lines: Int) -> HistoryPage.Limits { HistoryPage.Limits(lines: lines) }

    private func text(_ page: HistoryPage) -> String { String(decoding: page.bytes, as: UTF8.self) }

    /// All pages together; each but the last is full, if they have to be.
    private func all(
        lines: Int, isFull: Bool = true, _ page: ([HistoryPage.Place: UInt64]) throws -> HistoryPage
    ) throws -> [String] {
        var pages: [String] = []
        var place: [HistoryPage.Place: String]? = [:]
        while let here = place {
            let page = try page(here.compactMapValues { UInt64($0) })
            #expect(page.lineCount <= lines)
            if isFull, page.next != nil { #expect(page.lineCount == lines) }
            #expect(page.next != here, "a page leads on")
            pages.append(text(page))
            place = page.next
            if pages.count > 2_000 { throw Endless() }
        }
        return pages
    }

    private struct Endless: Error {}

    private func summaries(
        _ history: History, _ filter: EventFilter = EventFilter()
    ) throws -> [String] {
        guard let extent = history.extent else { return [] }
        let summaries = try history.summaries(in: extent)
        var lines: [String] = []
        while let summary = try summaries.next() {
            if filter.admits(summary) { lines.append(summary.json.text + "\n") }
        }
        return lines
    }

    @Test(arguments: [1, 3, 100, 1_000])
    func pagesOfEventsAreTheWholeList(lines: Int) throws {
        let recorded = try recorded()
        defer { withExtendedLifetime(recorded) {} }
        var few = EventFilter()
        few.record = "r7"
        few.kinds = ["response", "update"]
        for history in recorded.both {
            for filter in [EventFilter(), few] {
                let whole = try summaries(history, filter)
                let forward = try all(lines: lines) { place in
                    try history.eventPage(
                        in: .init(after: place[.after].map { .sequence($0) }), filter,
                        limits(lines), now: 0)
                }
                #expect(forward.joined() == whole.joined(), "seed \(Self.seed)")
                let backward = try all(lines: lines) { place in
                    try history.eventPage(
                        in: .init(before: .sequence(place[.before] ?? history.last + 1)), filter,
                        limits(lines), now: 0)
                }
                #expect(backward.reversed().joined() == whole.joined(), "seed \(Self.seed)")
            }
        }
    }

    @Test func aRangeMayLieAnywhere() throws {
        let recorded = try recorded()
        defer { withExtendedLifetime(recorded) {} }
        let history = recorded.files
        let last = Int64(history.last)
        func sequences(_ after: HistoryPoint?, _ before: HistoryPoint?) throws -> [Int64] {
            let page = try history.eventPage(
                in: .init(after: after, before: before), EventFilter(), limits(3), now: 0)
            return try text(page).split(separator: "\n").map {
                try JSONValue(parsing: String($0))["sequence"]?.int ?? 0
            }
        }
        #expect(try sequences(nil, nil) == [1, 2, 3])
        #expect(try sequences(.sequence(5), nil) == [6, 7, 8])
        #expect(try sequences(nil, .sequence(5)) == [2, 3, 4])
        #expect(try sequences(.sequence(5), .sequence(8)) == [6, 7])
        #expect(try sequences(.sequence(5), .sequence(6)) == [])
        #expect(try sequences(.sequence(history.last), nil) == [])
        #expect(try sequences(.sequence(.max), nil) == [])
        #expect(try sequences(nil, .sequence(.max)) == [last - 2, last - 1, last])
        #expect(try sequences(nil, .sequence(1)) == [])
        #expect(try sequences(nil, .sequence(0)) == [])
        #expect(try sequences(.beforeLast(2), nil) == [last - 1, last])
        #expect(try sequences(nil, .beforeLast(0)) == [last - 3, last - 2, last - 1])
        // Times: before the log, in it (an event a second), and at the ends of time.
        #expect(try sequences(.time(microseconds: -5), nil) == [1, 2, 3])
        #expect(try sequences(nil, .time(microseconds: -5)) == [])
        #expect(try sequences(.time(microseconds: 2_999_999), nil) == [4, 5, 6])
        #expect(try sequences(nil, .time(microseconds: 3_000_000)) == [1, 2, 3])
        #expect(try sequences(.time(microseconds: .max), nil) == [])
        #expect(try sequences(nil, .time(microseconds: .min)) == [])
        #expect(try sequences(nil, .ago(microseconds: .max)) == [])
    }

    @Test(arguments: [1, 4, 1_000])
    func pagesOfBlameAreTheWholeBlame(lines: Int) throws {
        let recorded = try recorded()
        defer { withExtendedLifetime(recorded) {} }
        let targets = [
            BlameTarget(record: "r7"), BlameTarget(record: "r7", field: "k3"),
            BlameTarget(record: "r12"), BlameTarget(record: "r12", field: "__typename"),
            BlameTarget(record: "nobody"),
        ]
        for (target, showsLayers) in targets.flatMap({ [($0, false), ($0, true)] }) {
            let form = BlameLines(target, showsLayers: showsLayers)
            let whole = try recorded.files.blame([target], showsLayers: showsLayers)?.entries
                .map { form.json($0).text + "\n" }.joined()
            for history in recorded.both {
                let kept = PassedStates()
                let pages = try all(lines: lines) { place in
                    try history.within(HistoryAllowance(events: 1_000_000), from: kept).blamePage(
                        target, showsLayers: showsLayers, before: place[.before],
                        skip: Int(place[.skip] ?? 0), limits(lines))
                }
                #expect(pages.joined() == whole ?? "", "\(target), seed \(Self.seed)")
            }
        }
    }

    @Test(arguments: [1, 7, 1_000])
    func pagesOfStatesAndDifferencesAreTheWhole(lines: Int) throws {
        let recorded = try recorded()
        defer { withExtendedLifetime(recorded) {} }
        for history in recorded.both {
            let kept = PassedStates()
            for (a, b) in [(1, 400), (300, 100), (200, 201)] as [(UInt64, UInt64)] {
                let state = try recorded.files.snapshot(at: a).recordLines.map { $0 + "\n" }
                let states = try all(lines: lines) { place in
                    try history.within(HistoryAllowance(events: 1_000), from: kept).statePage(
                        at: place[.at] ?? a, skip: Int(place[.skip] ?? 0), limits(lines))
                }
                #expect(states.joined() == state.joined(), "seed \(Self.seed)")
                let differences = try recorded.files.differences(from: a, to: b)
                let pages = try all(lines: lines) { place in
                    try history.differencePage(
                        from: place[.a] ?? a, to: place[.b] ?? b, record: nil,
                        from: Int(place[.from] ?? 0), skip: Int(place[.skip] ?? 0), limits(lines))
                }
                #expect(
                    pages.joined() == differences.map { $0.json.text + "\n" }.joined(),
                    "seed \(Self.seed)")
                for record in ["r3", "r7", "nobody"] {
                    #expect(
                        try history.differences(from: a, to: b, record: record)
                            == differences.filter { $0.record == record }, "seed \(Self.seed)")
                }
            }
        }
    }

    @Test func oneRecordOfAStateIsItsLine() throws {
        let recorded = try recorded()
        defer { withExtendedLifetime(recorded) {} }
        let history = recorded.files
        let lines = Array(try history.snapshot(at: 250).recordLines)
        let line = try #require(lines.first)
        let id = try #require(try JSONValue(parsing: line)["id"]?.string)
        let page = try history.page(of: BlameTarget(record: id), at: 250, limits(1))
        #expect(text(page) == line + "\n")
        #expect(throws: HistoryPageError.self) {
            try history.page(of: BlameTarget(record: "nobody"), at: 250, limits(1))
        }
    }

    // MARK: How much is read

    @Test func aSearchThatMayNotReadMoreSaysWhereToGoOn() throws {
        let recorded = try recorded()
        defer { withExtendedLifetime(recorded) {} }
        var none = EventFilter()
        none.operation = "nothing"
        for history in recorded.both {
            var after: UInt64 = 0
            var pages = 0
            while true {
                let page = try history.within(HistoryAllowance(events: 30)).eventPage(
                    in: .init(after: .sequence(after)), none, limits(10), now: 0)
                #expect(page.lineCount == 0)
                pages += 1
                guard let next = page.next?[.after].flatMap({ UInt64($0) }) else { break }
                #expect(next > after)
                after = next
            }
            #expect(pages >= 400 / 30)
        }
    }

    @Test func aSearchLooksAtOneEventAtLeast() throws {
        let recorded = try recorded()
        defer { withExtendedLifetime(recorded) {} }
        let history = recorded.files
        let page = try history.eventPage(
            in: .init(), EventFilter(), limits(10), now: 0, mayGoOn: { false })
        #expect(page.next == [.after: "1"])
        #expect(page.lineCount == 1)
    }

    @Test func aPageHasItsBytes() throws {
        let recorded = try recorded()
        defer { withExtendedLifetime(recorded) {} }
        let history = recorded.files
        var limits = limits(1_000)
        limits.bytes = 1
        let page = try history.eventPage(in: .init(), EventFilter(), limits, now: 0)
        #expect(page.lineCount == 1)
        #expect(page.next == [.after: "1"])
    }

    @Test func theNewestWritesAreFoundWithoutReadingTheWholeLog() throws {
        let recorded = try recorded()
        defer { withExtendedLifetime(recorded) {} }
        let history = recorded.files
        let whole = try history.blame("r7")
        // From the checkpoint at 371 on, and no further back.
        let allowance = HistoryAllowance(events: 10)
        let page = try history.within(allowance).blamePage(
            BlameTarget(record: "r7"), showsLayers: false, before: nil, skip: 0, limits(1_000))
        let newest = whole.filter { $0.sequence > 371 }
        #expect(page.lineCount == newest.count)
        #expect(page.next == [.before: "372", .skip: "0"])
    }

    /// A page holds no more of the writes than it has lines for, however many there are.
    @Test func pagesOfBlameEndWithTheirBytes() throws {
        let recorded = try recorded()
        defer { withExtendedLifetime(recorded) {} }
        let target = BlameTarget(record: "r7")
        let whole = try recorded.files.blame("r7").count
        for history in recorded.both {
            var (count, pages) = (0, 0)
            var (before, skip): (UInt64?, Int) = (nil, 0)
            repeat {
                var few = limits(1_000)
                few.bytes = 700
                let page = try history.blamePage(
                    target, showsLayers: false, before: before, skip: skip, few)
                #expect(page.lineCount <= 10, "seed \(Self.seed)")
                count += page.lineCount
                pages += 1
                before = page.next?[.before].flatMap { UInt64($0) }
                skip = page.next?[.skip].flatMap { Int($0) } ?? 0
            } while before != nil && pages < 10_000
            #expect(count == whole, "seed \(Self.seed)")
            #expect(pages > 1 || whole < 5)
        }
    }

    @Test func theChangesOfALargeEventAreToldAPageAtATime() throws {
        var seed = WriteSetWriter()
        for number in 0..<1_500 {
            seed.write(
                DataID("r\(number)"), type: "Thing",
                fields: ["text": .string("\(number)"), "other": .int(Int64(number))])
        }
        let journal = InMemoryJournal()
        journal.append(
            [
                NewEvent(
                    timeMicroseconds: 0, body: .genesis(schema: "", seed: seed.writeSet))
            ], expecting: 0
        ) { _ in }
        let history = History(journal)
        let whole = try EventDescription(1, in: history)
        let all = try #require(whole.json["changes"]?.array)
        #expect(all.count == 1_500 * 3)
        #expect(whole.json["records"]?.array?.count == EventSummary.shownRecords)
        #expect(whole.json["recordCount"] == 1_500)
        var changes: [JSONValue] = []
        var skip: Int? = 0
        var few = limits(100)
        few.bytes = 10_000
        while let from = skip {
            let page = try history.page(about: .beforeLast(0), skip: from, few, now: 0)
            let line = try JSONValue(parsing: String(decoding: page.bytes, as: UTF8.self))
            let some = try #require(line["changes"]?.array)
            #expect(some.reduce(0) { $0 + $1.text.utf8.count } < 11_000)
            changes += some
            skip = page.next?[.skip].flatMap { Int($0) }
        }
        #expect(changes == all)
        few.form = .text
        var lines: [String] = []
        skip = 0
        while let from = skip {
            let page = try history.page(about: .beforeLast(0), skip: from, few, now: 0)
            lines += text(page).split(separator: "\n").map(String.init)
            skip = page.next?[.skip].flatMap { Int($0) }
        }
        #expect(lines == whole.lines)
    }

    @Test func statesThatWerePassedAreStartedFrom() throws {
        let recorded = try recorded()
        defer { withExtendedLifetime(recorded) {} }
        let history = recorded.memory
        let kept = PassedStates(stateLimit: 4)
        _ = try history.within(HistoryAllowance(events: 1_000), from: kept).statePage(
            at: 390, skip: 0, limits(1))
        #expect(kept.sequences == [[64, 128, 256, 384]])
        for sequence: UInt64 in [389, 300, 130, 260, 1, 384, 400] {
            // From the kept state before it, which is at most 128 events away.
            let near = HistoryAllowance(events: 129)
            let page = try history.within(near, from: kept).statePage(
                at: sequence, skip: 0, limits(1_000))
            #expect(
                text(page)
                    == Array(try history.snapshot(at: sequence).recordLines).map { $0 + "\n" }
                    .joined(), "\(sequence), seed \(Self.seed)")
        }
        let few = HistoryAllowance(events: 129)
        #expect(
            try history.within(few, from: kept).differences(from: 300, to: 310)
                == history.differences(from: 300, to: 310))
        #expect(try #require(kept.sequences.first).count <= 4)
    }

    @Test func theFamilyThatWasNotUsedForLongestIsDropped() {
        let kept = PassedStates(recordLimit: 0)
        for _ in 0..<3 {
            var one = Snapshot()
            var changes = ChangeSet()
            var writer = WriteSetWriter()
            writer.write(DataID("r"), type: "Thing", fields: [:])
            one.apply(writer.writeSet, changes: &changes)
            one.sequence = 7
            kept.keep(one)
        }
        #expect(kept.sequences.count == 1)
    }

    @Test func recordsAreFoundByWhatPeopleType() throws {
        var seed = WriteSetWriter()
        seed.write(
            DataID("a"), type: "Thing",
            fields: ["size": .double(3), "count": .int(3), "owner": .link(DataID("ann"))])
        let journal = InMemoryJournal()
        journal.append(
            [NewEvent(timeMicroseconds: 0, body: .genesis(schema: "", seed: seed.writeSet))],
            expecting: 0
        ) { _ in }
        func count(_ field: String, _ value: JSONValue) throws -> Int {
            var search = RecordSearch(type: "Thing")
            search.field = (field, value)
            return try History(journal).recordPage(search, at: 1, limits(9)).lineCount
        }
        #expect(try count("size", 3) == 1)
        #expect(try count("count", 3.0) == 1)
        #expect(try count("count", 3.5) == 0)
        #expect(try count("owner", "ann") == 1)
        #expect(try count("owner", ["ref": "ann"]) == 1)
        #expect(try count("owner", "bob") == 0)
    }

    @Test func aStateThatIsTooFarIsAnError() throws {
        let recorded = try recorded()
        defer { withExtendedLifetime(recorded) {} }
        for history in recorded.both {
            let allowance = HistoryAllowance(events: 5)
            let error = #expect(throws: EventStoreError.self) {
                try history.within(allowance).statePage(at: 80, skip: 0, limits(10))
            }
            #expect(error?.code == .limitExceeded)
            #expect(allowance.spent == 0, "it is known in advance")
        }
        // What is at a checkpoint needs no event.
        _ = try recorded.files.within(HistoryAllowance(events: 1)).statePage(
            at: 90, skip: 0, limits(10))
    }

    @Test func whatNobodyWaitsForEnds() throws {
        let recorded = try recorded()
        defer { withExtendedLifetime(recorded) {} }
        for history in recorded.both {
            let allowance = HistoryAllowance(events: 1_000)
            allowance.giveUp()
            let given = history.within(allowance)
            func code(_ body: () throws -> HistoryPage) -> EventStoreError.Code? {
                #expect(throws: EventStoreError.self) { _ = try body() }?.code
            }
            #expect(
                code { try given.eventPage(in: .init(), EventFilter(), limits(9), now: 0) }
                    == .cancelled)
            #expect(code { try given.statePage(at: 80, skip: 0, limits(9)) } == .cancelled)
            #expect(
                code {
                    try given.blamePage(
                        BlameTarget(record: "r7"), showsLayers: false, before: nil, skip: 0,
                        limits(9))
                } == .cancelled)
            #expect(
                code { try given.page(about: .sequence(9), skip: 0, limits(9), now: 0) }
                    == .cancelled)
        }
    }

    @Test func aKeptStateIsStartedFromAndDropped() throws {
        let recorded = try recorded()
        defer { withExtendedLifetime(recorded) {} }
        let history = recorded.memory
        let kept = PassedStates()
        let first = HistoryAllowance(events: 1_000)
        _ = try history.within(first, from: kept).statePage(at: 300, skip: 0, limits(1))
        #expect(first.spent >= 300)
        let second = HistoryAllowance(events: 10)
        let page = try history.within(second, from: kept).statePage(
            at: 305, skip: 0, limits(1_000))
        #expect(
            text(page)
                == Array(try history.snapshot(at: 305).recordLines).map { $0 + "\n" }.joined())
        #expect(kept.dropUnused())
        #expect(!kept.dropUnused())
    }

    @Test func regularExpressionsAreFoundInConditions() throws {
        func hasPatterns(_ text: String) throws -> Bool {
            try EventCondition(parsing: text, now: 0).hasPatterns
        }
        #expect(try hasPatterns("not (kind == schema or operation matches \"(a+)+$\")"))
        #expect(try !hasPatterns("kind == schema and not (records contains x or viewer)"))
    }
}
