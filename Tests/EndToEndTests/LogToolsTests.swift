import Foundation
import RelayJSON
import Testing

/// `relay log` on a small log of the built server.
@Suite(.bounded)
struct LogToolsTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    // MARK: Reading

    @Test func aListIsSelectedByKindOperationRecordTimeAndNumber() async throws {
        let log = try await SmallLog(in: sandbox)
        func sequences(_ options: String...) async throws -> [Int64] {
            let child = try sandbox.start(["log", "list", log.directory, "--json"] + options)
            return try await child.finish().output.compactMap {
                try JSONValue(parsing: $0)["sequence"]?.int
            }
        }
        #expect(try await sequences() == Array(1...9))
        #expect(try await sequences("-n", "2") == [1, 2])
        #expect(try await sequences("-n", "2", "--reversed") == [9, 8])
        #expect(try await sequences("--kind", "response") == [3, 5, 7, 9])
        #expect(try await sequences("--operation", "addTodo") == [4, 5])
        #expect(try await sequences("--where", "sequence > 4 and kind == response") == [5, 7, 9])
        #expect(try await sequences("--where", "sequence > 90") == [])
        #expect(try await sequences("--record", SmallLog.unicorn) == [1, 3, 7])
        #expect(try await sequences("--since", "8") == [8, 9])
        #expect(try await sequences("--since", "@-2", "--until", "@-1") == [7, 8])
        #expect(try await sequences("--since", "1h") == Array(1...9))
        #expect(try await sequences("--until", "@now-1h") == [])
        #expect(try await sequences("--since", "2999-01-01T00:00:00Z") == [])
    }

    @Test func anOperationIsAlsoFoundByItsField() async throws {
        let server = try await sandbox.serve()
        _ = try await server.data(
            #"mutation Plan { addTodo(input: {text: "Ride it"}) { todo { id } } }"#)
        #expect(try await server.stop() == .code(0))
        for name in ["Plan", "addTodo"] {
            let events = try await sandbox.json(
                "log", "list", sandbox.path("data"), "--operation", name)
            #expect(events.map { $0["sequence"] } == [2, 3])
            #expect(events.map { $0["operation"] } == ["Plan", "Plan"])
            // Nobody was named, and what is absent has no key.
            #expect(events.allSatisfy { $0["viewer"] == nil })
        }
    }

    @Test func aTailGoesOnWithWhatARunningServerAppends() async throws {
        let server = try await sandbox.serve()
        let tail = try sandbox.start(["log", "tail", sandbox.path("data"), "--json", "--follow"])
        let genesis = try JSONValue(parsing: await tail.nextLine())
        #expect(genesis["kind"] == "genesis")
        _ = try await server.data(
            #"mutation { addTodo(input: {text: "Ride it"}) { todo { id } } }"#)
        let mutation = try JSONValue(parsing: await tail.nextLine())
        #expect(mutation["operation"] == "addTodo" && mutation["sequence"] == 2)
        let response = try JSONValue(parsing: await tail.nextLine())
        #expect(response["kind"] == "response" && response["operation"] == "addTodo")
        tail.send(signal: SIGINT)
        #expect(try await tail.finish().exit == .code(0))
    }

    @Test func anEventIsShownWithWhatItChangedAndWhereItIs() async throws {
        let log = try await SmallLog(in: sandbox)
        let event = try #require(try await sandbox.json("log", "show", log.directory, "3").first)
        #expect(event["kind"] == "response" && event["operation"] == "changeTodoStatus")
        #expect(event["mutationId"] == "cli:1" && event["mutation"] == 2)
        #expect(event["arguments"]?["input"]?["complete"] == true)
        #expect(
            event["changes"] == [
                [
                    "record": .string(SmallLog.unicorn), "field": "complete", "before": false,
                    "after": true,
                ]
            ])
        let frame = try #require(event["frame"])
        #expect(frame["firstSequence"] == 2 && frame["lastSequence"] == 3)
        #expect(frame["chain"]?.string?.wholeMatch(of: /[0-9a-f]{64}/) != nil)
        let text = try await sandbox.relay("log", "show", log.directory, "3")
        #expect(
            text.output.contains {
                $0.contains("\(SmallLog.unicorn).complete") && $0.hasSuffix("false -> true")
            })
        let hex = try await sandbox.relay("log", "show", log.directory, "3", "--hex")
        #expect(hex.output.first?.hasPrefix("00000000  ") == true)
    }

    @Test func statsCountKindsOperationsAndRecords() async throws {
        let log = try await SmallLog(in: sandbox)
        let stats = try #require(try await sandbox.json("log", "stats", log.directory).first)
        #expect(stats["kinds"] == ["genesis": 1, "mutation": 4, "response": 4])
        #expect(
            stats["operations"] == [
                "addTodo": 1, "changeTodoStatus": 1, "renameTodo": 1, "removeTodo": 1,
            ])
        // me, the unicorn, and the one that was added.
        #expect(stats["records"] == 3)
        #expect(stats["segments"] == 1)
        let size = try FileManager.default.attributesOfItem(
            atPath: log.directory + "/segments/00000000000000000001.log")[.size]
        #expect(stats["bytes"]?.int.map(Int.init) == (size as? NSNumber)?.intValue)
        #expect(stats["bytes"]?.int ?? 0 > 0)
        let verified = try #require(try await sandbox.json("log", "verify", log.directory).first)
        #expect(stats["head"] == verified["head"]?["hash"])
    }

    // MARK: Damage

    @Test func verifyPrintsTheHeadHashOfASoundLog() async throws {
        let log = try await SmallLog(in: sandbox)
        let report = try #require(
            try await sandbox.json("log", "verify", log.directory, "--deep").first)
        #expect(report["intact"] == true && report["events"] == 9)
        let hash = try #require(report["head"]?["hash"]?.string)
        let text = try await sandbox.relay("log", "verify", log.directory)
        #expect(text.exit == .code(0) && text.errors.isEmpty)
        #expect(text.output.contains { $0.contains(hash) })
    }

    @Test func aFlippedBitIsFoundByVerifyAndCutByRepair() async throws {
        let log = try await SmallLog(in: sandbox)
        try removeCheckpoints(of: log)
        let offset = try await flipBit(ofEvent: 5, in: log.directory)

        let verified = try await sandbox.relay("log", "verify", log.directory)
        #expect(verified.exit == .code(2))
        #expect(verified.errors.count == 1)
        #expect(verified.output.contains { $0.contains(".log at byte ") })
        let report = try await sandbox.json("log", "verify", log.directory, exit: 2)
        let damage = try #require(report.first?["damages"]?.array?.first)
        #expect(damage["offset"] == .int(offset) && damage["sequence"] == 4)

        let listed = try await sandbox.relay("log", "list", log.directory)
        #expect(listed.exit == .code(2) && listed.errors.count == 1)
        // What is before and behind the damage can still be read.
        #expect(
            listed.output.compactMap { $0.first.map(String.init) } == [
                "1", "2", "3", "6", "7", "8", "9",
            ])
        let behind = try await sandbox.relay("log", "show", log.directory, "7")
        #expect(
            behind.exit == .code(2)
                && behind.output.contains { $0.hasPrefix("changes       unknown") })
        let writes = try await sandbox.json(
            "blame", log.directory, "\(SmallLog.unicorn).text", exit: 2)
        #expect(writes.map { $0["sequence"] } == [7, 1])
        let lost = try await sandbox.relay("replay", log.directory, "state", "--at", "7")
        #expect(lost.exit == .code(2) && lost.errors.first?.contains("that after event 3") == true)
        let state = try await sandbox.json(
            "replay", log.directory, "state", "\(SmallLog.unicorn).complete", exit: 2)
        #expect(state.first?["fields"] == ["complete": true])

        let plan = try #require(
            try await sandbox.json("log", "repair", log.directory, "--plan", exit: 2).first)
        #expect(plan["repaired"] == false && plan["lastSequence"] == 3)
        #expect(plan["lost"] == ["from": 4, "through": 9] && plan["forgotten"] == nil)
        let repaired = try #require(try await sandbox.json("log", "repair", log.directory).first)
        #expect(repaired["repaired"] == true && repaired["lastSequence"] == 3)
        for key in ["lost", "copies", "rebuilt", "epoch"] { #expect(repaired[key] == plan[key]) }
        let again = try await sandbox.json("log", "verify", log.directory)
        #expect(again.first?["intact"] == true && again.first?["events"] == 3)
        #expect(try await sandbox.serve().stop() == .code(0))
    }

    /// A log of 9,000 events of which those about 7,900 are damaged; a checkpoint is at 8,800.
    private func damagedLog() async throws -> String {
        let directory = sandbox.path("large")
        let made = try await sandbox.relay(
            "bench", "log", directory, "--events", "9000", "--records", "50", "--plain",
            "--checkpoint", "8800")
        #expect(made.exit == .code(0), "\(made)")
        _ = try await flipBit(ofEvent: 7900, in: directory)
        return directory
    }

    /// A log that was compacted in the middle of a segment keeps events from before the first state that it has.
    @Test func anEventBeforeTheFirstStateIsShownWithoutWhatItChanged() async throws {
        let directory = sandbox.path("large")
        let made = try await sandbox.relay(
            "bench", "log", directory, "--events", "9000", "--records", "50", "--plain",
            "--checkpoint", "8800")
        #expect(made.exit == .code(0), "\(made)")
        let report = try await sandbox.json("log", "compact", directory, "--at", "8900")
        let first = try #require(report.first?["firstSequence"]?.int)
        #expect((2..<8799).contains(first))
        let shown = try await sandbox.relay("log", "show", directory, "8799")
        #expect(shown.exit == .code(0), "\(shown)")
        #expect(shown.output.contains { $0.hasPrefix("changes       unknown") })
        let newest = try await sandbox.relay("log", "show", directory, "8999")
        #expect(newest.exit == .code(0))
        #expect(!newest.output.contains { $0.hasPrefix("changes       unknown") }, "\(newest)")
    }

    /// What a server can read it tells, and then where the damage is, as the tools say of a directory.
    @Test func aServerSaysWhereItsLogIsDamaged() async throws {
        let directory = try await damagedLog()
        let child = try sandbox.start([
            "serve", "--schema", Sandbox.todoSchema, "--data", directory, "--port", "0",
        ])
        let server = try await RunningServer(child)
        let whole = try await sandbox.relay("log", "list", directory)
        #expect(whole.exit == .code(2))
        let place = try #require(whole.errors.first?.split(separator: " at byte ").last)
        func sequence(_ line: String?) -> Int { Int(line?.prefix { $0.isNumber } ?? "") ?? 0 }
        let lines = whole.output.map { sequence($0) }
        let gap = try #require(zip(lines, lines.dropFirst()).first { $0 + 1 < $1 })

        let list = try await sandbox.relay("log", "list", server.url)
        #expect(list.exit == .code(2))
        #expect(list.output == whole.output.filter { sequence($0) <= gap.0 })
        #expect(list.errors.count == 1)
        #expect(
            list.errors.first?.hasPrefix(
                "Error: Events \(gap.0 + 1) to \(gap.1 - 1) cannot be read: ") == true
                && list.errors.first?.contains(" at byte \(place.prefix { $0 != ":" })") == true,
            "\(list.errors)")
        let reversed = try await sandbox.relay("log", "list", server.url, "--reversed")
        #expect(reversed.exit == .code(2))
        #expect(reversed.output.last.map { sequence($0) } == gap.1)
        let behind = try await sandbox.relay("log", "list", server.url, "--since", "\(gap.1)")
        #expect(behind.exit == .code(0))
        #expect(behind.output.first.map { sequence($0) } == gap.1)

        // Of writes before the checkpoint at 8,800 nobody knows what was there before.
        let record = try await sandbox.json(
            "log", "list", directory, "--since", "8900", "--kind", "response"
        ).last?["records"]?.array?.first?.string
        let path = try #require(record) + ".__typename"
        for path in [try #require(record), path] {
            let blame = try await sandbox.relay("blame", server.url, path)
            #expect(blame.exit == .code(2))
            #expect(blame.output.allSatisfy { sequence($0) > 8_800 }, "\(blame)")
            #expect(blame.errors.first?.contains("(event \(gap.0 + 1))") == true)
        }
        #expect(try await server.stop() == .code(0))
    }

    /// What the condition says of sequences is where reading begins and ends, so that damage elsewhere is not met.
    @Test func aConditionOnSequencesReadsNothingElse() async throws {
        let directory = try await damagedLog()
        let lists: [(String, [Int64], ChildProcess.Exit)] = [
            ("sequence > 8997", [8998, 8999, 9000], .code(0)),
            ("sequence < 3", [1, 2], .code(0)),
            ("sequence == 8999 and kind == response", [8999], .code(0)),
            ("sequence > 7897 and sequence < 7899", [], .code(2)),
        ]
        for (condition, expected, exit) in lists {
            let listed = try await sandbox.relay(
                "log", "list", directory, "--json", "--where", condition)
            #expect(listed.exit == exit, "\(condition): \(listed.errors)")
            guard exit == .code(0) else { continue }
            let sequences = try listed.output.map { try JSONValue(parsing: $0)["sequence"]?.int }
            #expect(sequences == expected, "\(condition)")
        }
    }

    @Test func beforeDamageAServedHistoryEndsAndSaysWhereItGoesOn() async throws {
        let directory = try await damagedLog()
        let server = try await RunningServer(
            sandbox.start([
                "replay", directory, "--serve", "--port", "0", "--now", "--at", "7700",
                "--longest-pause", "0s",
            ]))
        let line = try await server.process.errorLine(containing: "the next is damaged")
        let place = try #require(line.firstMatch(of: /--at (\d+) starts after the damage\./)?.1)
        #expect(try 8800...9000 ~= #require(Int(place)))
        #expect(try await server.data("{ __typename }") == ["__typename": "Query"])
        #expect(try await server.stop() == .code(2))
        let later = try await RunningServer(
            sandbox.start([
                "replay", directory, "--serve", "--port", "0", "--now", "--at", String(place),
                "--longest-pause", "0s",
            ]))
        _ = try await later.process.errorLine(containing: "Event 9000 was the last.")
        _ = try await later.stop()
    }

    @Test func everyEnterShowsAnEventAlsoAtDamage() async throws {
        let directory = try await damagedLog()
        let steps = try await sandbox.relay(
            "replay", directory, "--step", "--at", "7700", "--json")
        let sequences = try steps.output.compactMap { try JSONValue(parsing: $0)["sequence"]?.int }
        let last = try #require(sequences.last { $0 < 7900 })
        let next = try #require(sequences.first { $0 > 7900 })
        let terminal = try await Terminal(sandbox)
        // Without a screen there are lines.
        try await terminal.type("TERM=dumb relay replay \(directory) --step --at \(last)\n")
        _ = try await terminal.screen { $0.contains("Enter shows the next event") }
        try await terminal.press("Enter")
        _ = try await terminal.screen { $0.contains("\n\(next) ") }
        try await terminal.type("q\n")
        _ = try await terminal.screen { $0.hasSuffix("\n$") }
        try await terminal.type("relay replay \(directory) --step\n")
        _ = try await terminal.screen {
            $0.hasPrefix("event 9000 of 9000 damaged")
        }
        // What cannot be read is said, and what is before it can.
        for (event, said) in [("7900", "cannot be"), (String(last), "▶ \(last) ")] {
            try await terminal.type("g")
            _ = try await terminal.screen { $0.contains("Go to") }
            try await terminal.type(event)
            try await terminal.press("Enter")
            _ = try await terminal.screen {
                $0.hasPrefix("event \(event) of 9000") && $0.contains(said)
            }
        }
        try await terminal.type("q")
        _ = try await terminal.screen { $0.hasSuffix("\n$") }
    }

    @Test func behindDamageToolsGoOnWithTheNextCheckpoint() async throws {
        let directory = try await damagedLog()
        let shown = try await sandbox.relay("log", "show", directory, "7900")
        #expect(shown.exit == .code(2), "\(shown)")
        #expect(shown.errors.last?.hasPrefix("Error: Event 7900 cannot be read: ") == true)
        let query = "{ user { completedCount } }"
        for options in [["--watch", query], ["--step", "--query", query]] {
            let finished = try await sandbox.start(
                ["replay", directory, "--at", "7700", "--json"] + options
            ).finish()
            #expect(finished.exit == .code(2) && finished.errors.count == 1, "\(finished.errors)")
            let sequences = try finished.output.compactMap {
                try JSONValue(parsing: $0)["sequence"]?.int
            }
            #expect(sequences == sequences.sorted() && sequences.contains { $0 < 7900 })
            #expect(!sequences.contains { (7900..<8800).contains($0) })
            #expect(sequences.contains { $0 > 8800 }, "\(options)")
        }
        // Both states can be had, so what is different is known.
        let difference = try await sandbox.relay("diff", directory, "7700", "9000")
        #expect(difference.exit == .code(2) && difference.errors.isEmpty, "\(difference.errors)")
        #expect(!difference.output.isEmpty)
        let lost = try await sandbox.relay("diff", directory, "7700", "8000")
        #expect(lost.exit == .code(2) && lost.errors.count == 1 && lost.output.isEmpty)
        let fork = sandbox.path("fork")
        let forked = try await sandbox.relay("log", "fork", directory, "--at", "9000", fork)
        #expect(forked.exit == .code(2) && forked.errors.count == 1)
        #expect(!FileManager.default.fileExists(atPath: fork))
        for options in [[], ["--dry-run"]] as [[String]] {
            let compacted = try await sandbox.start(["log", "compact", directory] + options)
                .finish()
            #expect(compacted.exit == .code(2) && compacted.errors.count == 1, "\(options)")
        }
    }

    private func removeCheckpoints(of log: SmallLog) throws {
        let directory = log.directory + "/checkpoints"
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
            try FileManager.default.removeItem(atPath: directory + "/" + name)
        }
    }

    @Test func aLaterCheckpointSavesWhatTheDamageDoesNotTouch() async throws {
        let log = try await SmallLog(in: sandbox)
        let state = try await sandbox.relay("replay", log.directory, "state").output
        // A copy has its checkpoint behind the last event and keeps every segment.
        let other = try await SmallLog(in: sandbox, named: "other")
        _ = try await sandbox.json("log", "compact", other.directory)
        let store = try #require(
            try FileManager.default.contentsOfDirectory(atPath: other.directory + "/checkpoints")
                .first { $0.hasSuffix(".checkpoint") })
        #expect(store == "00000000000000000009.checkpoint")
        let plan = try await sandbox.json("log", "repair", other.directory, "--plan")
        #expect(plan.first?["damaged"] == false)
        // Its only segment is gone; the checkpoint alone is enough to go on.
        let before = try await sandbox.relay("replay", other.directory, "state").output
        for name in try FileManager.default.contentsOfDirectory(
            atPath: other.directory + "/segments")
        {
            try Data([1, 2, 3]).write(
                to: URL(filePath: other.directory + "/segments/" + name))
        }
        let report = try #require(
            try await sandbox.json("log", "repair", other.directory).first)
        #expect(report["lastSequence"] == 9 && report["checkpoint"] == 9 && report["lost"] == nil)
        #expect(try await sandbox.relay("replay", other.directory, "state").output == before)
        #expect(before.count == state.count)
        let server = try await sandbox.serve("--data", other.directory)
        #expect(try await server.data("{ user { totalCount } }") == ["user": ["totalCount": 2]])
        #expect(try await server.stop() == .code(0))
    }

    @Test func aLogThatCannotBeStartedIsNotCalledIntact() async throws {
        let log = try await SmallLog(in: sandbox)
        let dry = try await sandbox.json("log", "compact", log.directory, "--dry-run")
        #expect(dry.first?["dryRun"] == true && dry.first?["firstSequence"] == 10)
        #expect(try await sandbox.json("log", "list", log.directory).count == 9)
        let done = try await sandbox.json("log", "compact", log.directory)
        #expect(done.first?["dryRun"] == false)
        for key in ["firstSequence", "removedSegments", "removedBytes"] {
            #expect(done.first?[key] == dry.first?[key])
        }
        #expect(try await sandbox.relay("log", "verify", log.directory).exit == .code(0))
        try removeCheckpoints(of: log)
        let verified = try await sandbox.relay("log", "verify", log.directory)
        #expect(verified.exit == .code(2) && verified.errors.count == 1)
        #expect(
            verified.errors.first?.contains(
                "the log begins with event 10, and there is no checkpoint that is good") == true)
    }

    @Test func aRunningLogIsIntactAndWhatCannotBeKnownIsSaid() async throws {
        let server = try await sandbox.serve()
        _ = try await server.data(
            #"mutation { addTodo(input: {text: "Ride it"}) { todo { id } } }"#)
        let data = sandbox.path("data")
        let open = try #require(try await sandbox.json("log", "verify", data).first)
        #expect(open["intact"] == true)
        #expect(
            open["notChecked"]?.array?.contains {
                $0.string?.hasPrefix("Whether there were events after 3") == true
            } == true)
        #expect(try await server.stop() == .code(0))
        let closed = try #require(try await sandbox.json("log", "verify", data, "--deep").first)
        #expect(closed["notChecked"] == [] && closed["certainThrough"] == 3)
        // The last events cut off at the border of a frame, and the mark behind them.
        let events = try await sandbox.json("log", "show", data, "3")
        let path = try #require(events.first?["frame"]?["segment"]?.string)
        let offset = try #require(events.first?["frame"]?["offset"]?.int)
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.truncate(atOffset: UInt64(offset))
        try file.close()
        let cut = try await sandbox.relay("log", "verify", data)
        #expect(cut.exit == .code(2))
        let start = try await sandbox.relay(
            "serve", "--schema", Sandbox.todoSchema, "--data", data, "--port", "0")
        #expect(
            start.exit == .code(1) && start.errors.contains { $0.contains("event 3 was written") })
    }

    @Test func verifyAndForkAgreeOnTheEpoch() async throws {
        let log = try await SmallLog(in: sandbox)
        let fork = sandbox.path("fork")
        let report = try await sandbox.json("log", "fork", log.directory, "--at", "5", fork)
        let verified = try await sandbox.json("log", "verify", fork)
        #expect(report.first?["epoch"] == 2)
        #expect(verified.first?["head"]?["epoch"] == 2)
        #expect(verified.first?["head"]?["hash"] == report.first?["head"])
    }

    /// Changes a byte of the frame that an event is in.
    /// - Returns: the frame's offset.
    private func flipBit(ofEvent sequence: Int, in directory: String) async throws -> Int64 {
        let event = try await sandbox.json("log", "show", directory, "\(sequence)").first
        let path = try #require(event?["frame"]?["segment"]?.string)
        let offset = try #require(event?["frame"]?["offset"]?.int)
        let length = try #require(event?["frame"]?["bytes"]?.int)
        let file = try FileHandle(forUpdating: URL(filePath: path))
        defer { try? file.close() }
        let place = UInt64(offset + length / 2)
        try file.seek(toOffset: place)
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: place)
        try file.write(contentsOf: Data([byte ^ 0x10]))
        return offset
    }

    // MARK: Copies

    @Test func anExportMakesTheSameLogAgain() async throws {
        let log = try await SmallLog(in: sandbox)
        let exported = try await sandbox.relay("log", "export", log.directory)
        #expect(exported.exit == .code(0) && exported.output.count == 9)
        let file = try sandbox.write(
            exported.output.joined(separator: "\n") + "\n", to: "events.ndjson")
        let copy = sandbox.path("copy")
        #expect(
            try await sandbox.json("log", "import", copy, file) == [["sequence": 9, "records": 3]])
        #expect(try await sandbox.relay("log", "export", copy).output == exported.output)
        let twice = try await sandbox.relay("log", "import", copy, file)
        #expect(twice.exit == .code(1) && twice.errors.count == 1)
    }

    @Test func anImportThatLeadsToNoStateMakesNoLog() async throws {
        let log = try await SmallLog(in: sandbox)
        let exported = try await sandbox.relay("log", "export", log.directory)
        let response = try #require(exported.output.dropFirst(2).first)
            .replacing(#""sequence":3"#, with: #""sequence":1"#)
        let file = try sandbox.write(response + "\n", to: "events.ndjson")
        let copy = sandbox.path("copy")
        let refused = try await sandbox.relay("log", "import", copy, file)
        #expect(refused.exit == .code(1))
        #expect(
            refused.errors == [
                "Error: Could not fold event 1: it ends mutation 2, which is not waiting for an answer. "
                    + "Nothing was changed."
            ])
        #expect(!FileManager.default.fileExists(atPath: copy))
    }

    @Test func anImportWithABadLineMakesNoLogAndNamesTheLine() async throws {
        let log = try await SmallLog(in: sandbox)
        var lines = try await sandbox.relay("log", "export", log.directory).output
        lines[5] = "no event"
        lines.insert("", at: 3)
        let file = try sandbox.write(lines.joined(separator: "\n"), to: "events.ndjson")
        let copy = sandbox.path("copy")
        let refused = try await sandbox.relay("log", "import", copy, file)
        #expect(refused.exit == .code(1))
        #expect(refused.errors.first?.hasPrefix("Error: Could not import line 7: ") == true)
        #expect(!FileManager.default.fileExists(atPath: copy))
        // A directory that was there stays, empty.
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        #expect(try await sandbox.relay("log", "import", copy, file).exit == .code(1))
        #expect(try FileManager.default.contentsOfDirectory(atPath: copy) == [])
    }

    @Test func recordsThatWereExportedMakeANewLog() async throws {
        let log = try await SmallLog(in: sandbox)
        let records = try await sandbox.relay("log", "export", log.directory, "--records")
        #expect(records.output.count == 3)
        let file = try sandbox.write(
            records.output.joined(separator: "\n") + "\n", to: "records.ndjson")
        let copy = sandbox.path("copy")
        let imported = try await sandbox.relay(
            "log", "import", copy, file, "--schema", Sandbox.todoSchema)
        #expect(imported.exit == .code(0), "\(imported)")
        let state = try await sandbox.relay("replay", copy, "state")
        #expect(state.output == records.output)
    }

    @Test func aForkBeginsAsItsOriginalAndGoesItsOwnWay() async throws {
        let log = try await SmallLog(in: sandbox)
        let fork = sandbox.path("fork")
        let report = try await sandbox.json("log", "fork", log.directory, "--at", "5", fork)
        #expect(report.first?["sequence"] == 5)
        let server = try await sandbox.serve("--data", fork)
        _ = try await server.data(#"mutation { addTodo(input: {text: "Other"}) { todo { id } } }"#)
        #expect(try await server.stop() == .code(0))
        let difference = try await sandbox.relay("diff", log.directory, fork)
        #expect(difference.exit == .code(2))
        #expect(difference.output.first == "The histories diverge with event 6.")
        #expect(try await sandbox.events().count == 9)
    }

    @Test func copiesThatPartedBeforeTheyBeginAreNotTheSame() async throws {
        let log = try await SmallLog(in: sandbox)
        let forks = [sandbox.path("one"), sandbox.path("two")]
        for fork in forks {
            _ = try await sandbox.json("log", "fork", log.directory, "--at", "5", fork)
            let server = try await sandbox.serve("--data", fork)
            _ = try await server.data(
                "mutation { addTodo(input: {text: \"\(fork.suffix(3))\"}) { todo { id } } }")
            #expect(try await server.stop() == .code(0))
            #expect(try await sandbox.relay("log", "compact", fork).exit == .code(0))
        }
        let difference = try await sandbox.relay("diff", forks[0], forks[1])
        #expect(difference.exit == .code(2))
        #expect(difference.output.first?.hasPrefix("The histories diverge before event") == true)
        #expect(difference.output.count > 1)
        #expect(try await sandbox.relay("diff", forks[0], forks[0]).exit == .code(0))
    }

    @Test func compactingKeepsTheStateAndDropsTheBeginning() async throws {
        let log = try await SmallLog(in: sandbox)
        let before = try await sandbox.relay("replay", log.directory, "state")
        let report = try await sandbox.json("log", "compact", log.directory)
        #expect(report.first?["firstSequence"] == 10)
        let after = try await sandbox.relay("replay", log.directory, "state")
        #expect(after.output == before.output)
        let search = try await sandbox.relay(
            "bisect", log.directory, "--query", "{ user { totalCount } }", "--expect", "{}")
        #expect(search.exit == .code(1) && search.errors.count == 1, "\(search)")
        let fork = sandbox.path("fork")
        #expect(
            try await sandbox.json("log", "fork", log.directory, "--at", "@", fork).first?[
                "sequence"] == 9)
        #expect(try await sandbox.relay("replay", fork, "state").output == before.output)
        let check = try await sandbox.json("replay", log.directory, "--check")
        #expect(
            check.first?["checkpoints"] == [["sequence": 9, "outcome": "beginning"]])
        let server = try await sandbox.serve()
        let data = try await server.data("{ user { totalCount } }")
        #expect(data == ["user": ["totalCount": 2]])
        _ = try await server.data(#"mutation { addTodo(input: {text: "Go"}) { todo { id } } }"#)
        // What is left is a history like any other.
        let counts = try await sandbox.json(
            "replay", log.directory, "--watch", "{ user { totalCount } }")
        #expect(counts.map { $0["sequence"] } == [9, 11])
        #expect(counts.map { $0["time"] == nil } == [true, false])
        let steps = try await sandbox.json("replay", log.directory, "--step")
        #expect(steps.map { $0["sequence"] } == [10, 11])
        let unicorn = try await sandbox.json(
            "blame", log.directory, "\(SmallLog.unicorn).text")
        #expect(unicorn.map { $0["value"] } == ["Buy two unicorns"])
        #expect(unicorn.map { $0["sequence"] } == [9] && unicorn.map { $0["inherited"] } == [true])
        let found = try await sandbox.json(
            "bisect", log.directory, "--query", "{ user { totalCount } }", "--expect",
            #"{"user": {"totalCount": 3}}"#)
        #expect(found == [["sequence": 11, "operation": "addTodo"]])
        #expect(try await server.stop() == .code(0))
    }

    @Test func aCompactedLogExportsItsRecordsAndSaysThatEventsAreGone() async throws {
        let log = try await SmallLog(in: sandbox)
        let before = try await sandbox.relay("log", "export", log.directory, "--records")
        _ = try await sandbox.json("log", "compact", log.directory)
        for options in [[], ["--at", "@"], ["--at", "9"]] {
            let records = try await sandbox.start(
                ["log", "export", log.directory, "--records"] + options
            )
            .finish()
            #expect(records.exit == .code(0) && records.output == before.output, "\(options)")
            let events = try await sandbox.start(["log", "export", log.directory] + options)
                .finish()
            #expect(events.exit == .code(1) && events.output.isEmpty, "\(options)")
            #expect(
                events.errors == [
                    "Error: Could not export events of \(log.directory): it was compacted and has none up to 9; the "
                        + "first one it keeps is 10. --records exports the state."
                ])
        }
        let server = try await sandbox.serve()
        _ = try await server.data(#"mutation { addTodo(input: {text: "Go"}) { todo { id } } }"#)
        #expect(try await server.stop() == .code(0))
        #expect(try await sandbox.relay("log", "export", log.directory).output.count == 2)
        #expect(
            try await sandbox.relay("log", "export", log.directory, "--at", "9").exit == .code(1))
    }

    // MARK: Who was told

    @Test func aRunningServerExplainsTheSame() async throws {
        let log = try await SmallLog(in: sandbox)
        let server = try await sandbox.serve("--data", log.directory)
        let document = "subscription ($user: ID!) { todoAdded(userId: $user) { todo { text } } }"
        for sequence in [4, 5] {
            let options = [
                "\(sequence)", "--document", document, "--variables", #"{"user": "you"}"#, "--json",
            ]
            let offline = try await sandbox.start(["log", "explain", log.directory] + options)
                .finish()
            let served = try await sandbox.start(["log", "explain", server.url] + options)
                .finish()
            #expect(served.output == offline.output)
            #expect(served.exit == .code(0) && offline.output.count == 1)
        }
        let wrong = try await sandbox.relay(
            "log", "explain", server.url, "99", "--document",
            "subscription { todoAdded { todo { text } } }")
        #expect(wrong.exit == .code(1) && wrong.errors.count == 1, "\(wrong)")
        #expect(try await server.stop() == .code(0))
    }

    @Test func explainSaysWhyASubscriberWasToldOrNot() async throws {
        let log = try await SmallLog(in: sandbox)
        func explain(
            _ sequence: Int, _ document: String, _ options: String...
        ) async throws -> JSONValue {
            let arguments = [
                "log", "explain", log.directory, "\(sequence)", "--document", document,
            ]
            let finished = try await sandbox.start(arguments + options + ["--json"]).finish()
            #expect(finished.exit == .code(0), "\(finished)")
            return try JSONValue(parsing: finished.output.first ?? "")
        }
        let added = "subscription { todoAdded { todo { text } } }"
        let told = try await explain(5, added)
        #expect(told["sequence"] == 5 && told["told"] == true && told["argument"] == nil)
        let other = try await explain(7, added)
        #expect(other["told"] == false && other["argument"] == nil)
        #expect(other["reason"]?.string?.contains("this is renameTodo") == true)
        let asked = try await explain(4, added)
        #expect(asked["told"] == false && asked["reason"]?.string?.contains("response") == true)
        let elsewhere = "subscription ($user: ID!) { todoAdded(userId: $user) { todo { text } } }"
        let kept = try await explain(5, elsewhere, "--variables", #"{"user": "you"}"#)
        #expect(kept["told"] == false && kept["argument"] == "userId")
        #expect(
            kept["reason"]
                == #"the argument userId is "you", the mutation's input has "VXNlcjptZQ==""#)
        let here = try await explain(5, elsewhere, "--variables", #"{"user": "me"}"#)
        #expect(here["told"] == true)
        let same = try await explain(
            5, "subscription { user { todos(first: 1) { edges { node { text } } } } }")
        #expect(same["told"] == false && same["argument"] == nil)
        #expect(same["reason"]?.string?.contains("the result stays the same") == true)
        let live = "query @live { user { totalCount } }"
        #expect(try await explain(5, live)["told"] == true)
        let unread = try await explain(7, live)
        #expect(unread["told"] == false)
        #expect(unread["reason"] == "it changes nothing that the result is read from")
        #expect(try await explain(1, live)["told"] == false)
        let wrong = try await sandbox.relay(
            "log", "explain", log.directory, "5", "--document", "{ nobody }")
        #expect(wrong.exit == .code(1) && wrong.errors.count == 1)
    }

    // MARK: Ends

    @Test(arguments: [
        "log verify nowhere", "log list nowhere", "log show data 99", "replay data state nobody",
        "log fork data --at 3 data", "blame data nobody.name", "log import data /dev/null",
        "log show data @-99",
    ])
    func whatCannotBeDoneIsSaidInOneLine(_ command: String) async throws {
        _ = try await SmallLog(in: sandbox)
        let finished = try await run(command)
        #expect(finished.exit == .code(1), "\(finished)")
        #expect(finished.output.isEmpty && finished.errors.count == 1, "\(finished)")
    }

    @Test(arguments: [
        "log list", "log list data --kind party", "log list data --number 0", "log show data",
        "what-if data --skip two", "diff data", "bench append --batch 0", "replay data past",
    ])
    func wrongUsageIsCode64(_ command: String) async throws {
        #expect(try await run(command).exit == .code(64))
    }

    @Test(arguments: [
        "diff data 1 soon", "replay data --at soon", "log list data --since soon",
        "bisect data --query {user{id}} --expect {", "replay data --query {user{id}} --variables {",
    ])
    func whatIsNoPointAndNoJSONIsWrongUsage(_ command: String) async throws {
        _ = try await SmallLog(in: sandbox)
        let finished = try await run(command)
        #expect(finished.exit == .code(64) && finished.output.isEmpty, "\(finished)")
    }

    private func run(_ command: String) async throws -> Finished {
        let arguments = command.split(separator: " ").map(String.init)
        return try await sandbox.start(arguments).finish()
    }

    @Test func aReaderThatLeavesIsNoFailure() async throws {
        let log = try await SmallLog(in: sandbox)
        for command in ["log list --follow", "log export", "replay --step"] {
            // Nobody ever reads from the pipe.
            let text = "{ relay \(command) \(log.directory); echo $? >&2; } | true"
            let finished = try await sandbox.start(["-c", text], program: "/bin/sh").finish()
            #expect(finished.errors == ["0"], "\(command)")
        }
    }

    #if os(Linux)
        @Test func anExportThatDoesNotFitFails() async throws {
            let log = try await SmallLog(in: sandbox)
            let text = "relay log export \(log.directory) > /dev/full"
            let finished = try await sandbox.start(["-c", text], program: "/bin/sh").finish()
            #expect(finished.exit == .code(1))
            #expect(
                finished.errors == [
                    "Error: Could not write to standard output: No space left on device."
                ])
        }
    #endif
}
