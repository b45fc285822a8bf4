import BoundedTesting
import EventLog
import EventStore
import Foundation
import RelayJSON
import StoreEngine
import Synchronization
import Testing
import Threads

@testable import RelayServer

/// Clients that were away while the server was started anew: what a resume costs follows from what was missed, however the
/// server ended and wherever its checkpoints are.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct ResumeAfterStartTests {
    enum End: CaseIterable, Sendable {
        case stop
        /// The next server has what was on the disk when the first one was killed.
        case kill
    }

    private static let todoAdded = "subscription { todoAdded { todo { text } } }"
    private let directory = FileManager.default.temporaryDirectory
        .appending(path: "relay-resume-\(UUID())").path()

    init() throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false)
    }

    /// A server of 20 commits in memory that writes checkpoints after events 61, 121, …, or never.
    private func serve(
        _ name: String, writesCheckpoints: Bool, _ written: LastSequence? = nil,
        _ body: (RunningServer) async throws -> Void
    ) async throws {
        var options = EventStoreOptions()
        options.log.segmentsAhead = 0
        options.log.deflatesSealedSegments = false
        options.checkpointInterval.events = writesCheckpoints ? 60 : .max
        options.onCheckpoint = { outcome in
            if case .success(let report) = outcome { written?.set(report.sequence) }
        }
        try await RunningServer.run {
            $0.storage = .directory(directory + "/" + name, options)
            $0.limits.recentCommits = 20
        } _: {
            try await body($0)
        }
    }

    @Test(arguments: End.allCases, [false, true])
    func whoMissedThreeCommitsNeedsNothingFromTheLog(
        _ end: End, _ hasLateCheckpoint: Bool
    ) async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let checkpoint = LastSequence()
        let cursor = Lock("")
        try await serve("data", writesCheckpoints: hasLateCheckpoint, checkpoint) { server in
            for number in 0..<31 {
                let answer = try await server.post([
                    "query": .string(EngineUnderTest.addTodo("\(number)"))
                ])
                // The checkpoint, where there is one, is between the cursor and the end: after event 61 of 63.
                if number == 27 {
                    let seen = answer.json?["extensions"]?["relay"]?["cursor"]?.string
                    cursor.withLock { $0 = seen ?? "" }
                }
            }
            if hasLateCheckpoint {
                try await eventually("the checkpoint") { checkpoint.value == 61 ? true : nil }
            }
            if end == .kill {
                try FileManager.default.copyItem(
                    atPath: directory + "/data", toPath: directory + "/disk")
            }
        }
        let name = end == .kill ? "disk" : "data"
        try await serve(name, writesCheckpoints: false) { server in
            let client = try await GraphQLClient(server)
            client.subscribe(
                "1", Self.todoAdded, relay: ["resume": .string(cursor.withLock { $0 })])
            #expect(try await client.result().recovered == true)
            for number in 28..<31 {
                #expect(try await client.result().text(of: "todoAdded") == "\(number)")
            }
            let read = try await server.metrics()["relay_resume_log_events_total"]
            #expect(read == "0")
        }
    }

    /// Who was away for longer costs what lies between the checkpoint before and the present.
    @Test func whatIsReadFromTheLogIsCounted() async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let cursor = Lock("")
        try await serve("data", writesCheckpoints: false) { server in
            for number in 0..<31 {
                let answer = try await server.post([
                    "query": .string(EngineUnderTest.addTodo("\(number)"))
                ])
                if number > 0 { continue }
                let seen = answer.json?["extensions"]?["relay"]?["cursor"]?.string
                cursor.withLock { $0 = seen ?? "" }
            }
            let client = try await GraphQLClient(server)
            client.subscribe(
                "1", Self.todoAdded, relay: ["resume": .string(cursor.withLock { $0 })])
            for _ in 0..<31 { _ = try await client.result() }
            let read = try await server.metrics()["relay_resume_log_events_total"]
            #expect(read == "63")
        }
    }
}

/// The last number that somebody was told.
final class LastSequence: Sendable {
    private let number = Atomic<UInt64>(0)

    var value: UInt64 { number.load(ordering: .acquiring) }

    func set(_ new: UInt64) { number.store(new, ordering: .releasing) }
}
