import Foundation
import RelayServer
import Testing

@testable import StoreEngine

/// Finds queues that nobody has given a bound: every member of a type in the rooms where things wait that can hold any
/// number of elements has a line here, with what bounds it. A new one without a line fails.
@Suite(.bounded) struct QueueLintTests {
    /// Of rooms whose sources are looked at.
    private static let rooms = [
        "Cluster", "EventLog", "EventStore/Checkpoint", "EventStore/History", "EventStore/Journal",
        "HTTPMessages", "LogTools", "StoreEngine",
        "PostgreSQL", "RelayServer/Cluster", "RelayServer/Explorer", "RelayServer/Front",
        "RelayServer/Past", "RelayRecords/Events", "SharedJournal", "Threads", "WebSocketIO",
    ]

    /// Files whose types are values that one call makes and hands over, or throws away at its end.
    private static let values: Set<String> = [
        "EventLog/Format/LogEvent.swift", "EventLog/Format/LogMetadata.swift",
        "EventLog/Housekeeping/SegmentDeflater.swift", "EventLog/Recover/Recovery.swift",
        "EventLog/Write/AppendBenchmark.swift",
        "LogTools/LogExamination.swift", "LogTools/RepairPlan.swift",
        "LogTools/SegmentExamination.swift",
        "EventStore/Checkpoint/Checkpoint+Snapshot.swift",
        "EventStore/Checkpoint/StateDecoder.swift", "EventStore/Checkpoint/StateEncoder.swift",
        "EventStore/History/BlameFold.swift", "EventStore/History/DamageNotes.swift",
        "EventStore/History/EventSummary.swift", "EventStore/History/History+Parts.swift",
        "EventStore/History/ReversedSummaries.swift",
        "EventStore/History/TouchingEvents.swift", "EventStore/History/WhatIf.swift",
        "StoreEngine/MutationRunner.swift", "StoreEngine/OptimisticWrites.swift",
        "StoreEngine/Subscriptions/CatchUpPass.swift",
        "StoreEngine/Writer/WriterTurn.swift",
        "StoreEngine/Past/PastSubscription.swift", "RelayServer/Past/ReExecution.swift",
        "RelayServer/Past/ReplayServer.swift", "RelayServer/Past/ReplayedHistory.swift",
        "StoreEngine/Requests/ComplexityEstimate.swift",
        "StoreEngine/Requests/DocumentShapeCheck.swift", "RelayServer/Front/PersistedFile.swift",
        "RelayRecords/Events/ByteCoding.swift", "RelayRecords/Events/Event.swift",
        "RelayRecords/Events/EventCoding.swift", "RelayRecords/Events/RFC3339.swift",
        "RelayRecords/Events/WriteSet.swift",
        "HTTPMessages/DeflateAgreement.swift", "HTTPMessages/HTTPHeaders.swift",
        "HTTPMessages/RequestTarget.swift",
    ]

    /// By file and member: `queue` names a line of ``QueueBound``, `flag` one of `relay serve`, `by` says what else it is.
    private static let bounds = """
        Cluster/ClusterMember.swift threads = by two
        RelayServer/Cluster/LeaderLink.swift waiting = flag --max-waiting-mutations
        RelayServer/Cluster/LeaderLink.swift again = flag --max-waiting-mutations
        RelayServer/Cluster/LeaderLink.swift returned = flag --max-waiting-mutations
        RelayServer/Cluster/LeaderLink.swift earlier = by changes of the leader within LeaderLink.farewell
        RelayServer/Cluster/LeaderConnection.swift sent = flag --max-waiting-mutations
        EventLog/Write/AppendQueue.swift waiters = queue events that the log has taken and not written
        EventLog/Read/FrameCursor.swift damages = by what one reading of a log finds
        EventLog/Housekeeping/Housekeeping.swift sealed = by the segments of the log, a number each
        EventLog/Housekeeping/Housekeeping.swift spares = by EventLogOptions.segmentsAhead
        RelayRecords/Events/HistoryTail.swift schemaChanges = by the events of a tail, which the newest commits bound
        EventStore/History/HistorySource.swift batch = by 128 events
        EventStore/History/PassedStates.swift families = by PassedStates.familyLimit and init(recordLimit:)
        EventStore/History/SpacedStates.swift states = by the limit that who keeps them names, and the checkpoints that lead around damage
        EventStore/History/NewestEntries.swift entries = by NewestEntries.Limit for a page; the tools print all
        EventStore/History/HistoryIndex.swift writes = by HistoryIndex.init(writeLimit:)
        EventStore/Journal/BackgroundQueue.swift waiting = by who asks: readers wait for the last answer, tries share one
        EventStore/Journal/CompletionQueue.swift entries = queue events on their way to the disk, and answers that wait for them
        EventStore/Journal/FileJournal.swift ahead = by EventFollower.batchEvents and batchBytes
        EventStore/Journal/FileJournal.swift roomAskers = queue tries of `/readyz` whether a full disk has room
        StoreEngine/DurableHead.swift waiters = queue requests that wait for a newer state
        StoreEngine/DurableHead.swift awaited = by the waiters
        StoreEngine/Subscriptions/RecentCommits.swift schemaChanges = by the recent commits: earlier ones are forgotten
        StoreEngine/Writer/ForeignEvents.swift schemaChanges = by the events of one frame
        StoreEngine/Writer/ForeignEvents.swift steps = by the events of one frame
        StoreEngine/SequenceSubscriptions.swift tasks = queue subscriptions to sequences of Swift code whose tasks run
        RelayServer/Past/HistoryLine.swift running = by HistoryLine.init(threads:)
        RelayServer/Past/HistoryLine.swift waiting = queue questions about the history that wait
        StoreEngine/Past/PastQueries.swift waiting = queue queries of the past that wait
        StoreEngine/Subscriptions/FailedReadings.swift retrying = queue subscriptions that wait for what they have missed
        StoreEngine/Subscriptions/KeptStates.swift sinks = queue subscriptions that wait for what they have missed
        StoreEngine/Subscriptions/CatchUp.swift waiting = queue subscriptions that wait for what they have missed
        StoreEngine/Subscriptions/LiveIndex.swift byMissingID = flag --max-operations
        StoreEngine/Subscriptions/LiveIndex.swift byRecord = flag --max-operations
        StoreEngine/Subscriptions/LiveIndex.swift byType = flag --max-operations
        StoreEngine/Subscriptions/SinkSet.swift positions = flag --max-operations
        StoreEngine/Subscriptions/SinkSet.swift sinks = flag --max-operations
        StoreEngine/Subscriptions/Subscription.swift newSinks = flag --max-operations
        StoreEngine/Subscriptions/BeginningSubscriptions.swift waiting = by the passes of CatchUp
        StoreEngine/Subscriptions/SharedMemory.swift parts = by the owners, of which each has a bound
        StoreEngine/Subscriptions/SubscriptionMemory.swift shares = flag --max-operations
        StoreEngine/Subscriptions/SubscriptionTable.swift behind = by the subscriptions that one batch of the publisher begins
        StoreEngine/Subscriptions/SubscriptionTable.swift deliveries = queue results on their way to connections
        StoreEngine/Subscriptions/SubscriptionTable.swift eventGroups = flag --max-operations
        StoreEngine/Subscriptions/SubscriptionTable.swift groupIDs = flag --max-operations
        StoreEngine/Subscriptions/SubscriptionTable.swift groups = flag --max-operations
        StoreEngine/Subscriptions/SubscriptionTable.swift groupsBySink = flag --max-operations
        StoreEngine/NewRecordIDs.swift made = by the records that one mutation makes
        StoreEngine/NewRecordIDs.swift unused = by the records of the refused mutation that had most
        StoreEngine/WaitingLine.swift actions = by who has one: CatchUp, FailedReadings, GraphQLSocket
        StoreEngine/WaitingLine.swift line = by the actions, of which it has at most twice as many
        StoreEngine/Writer/PendingHead.swift abandoned = queue mutations whose handlers wait
        StoreEngine/Writer/PendingHead.swift joined = queue repeats of a mutation whose handler waits
        StoreEngine/Writer/PendingHead.swift waiting = queue mutations that are taken and not answered
        StoreEngine/Writer/SerialQueue.swift batch = by SerialQueue.limit
        StoreEngine/Writer/SerialQueue.swift waiting = by SerialQueue.limit
        RelayServer/Front/ArrivalOrder.swift arrivals = flag --max-requests-in-progress
        RelayServer/Front/Authentication.swift claims = by the rules of the schema
        RelayServer/Front/EventStream.swift whenDrained = by the one pass that waits for its client
        RelayServer/Front/GraphQLSocket.swift arrivals = flag --max-requests-in-progress
        RelayServer/Front/GraphQLSocket.swift holding = flag --max-operations
        RelayServer/Front/GraphQLSocket.swift streams = flag --max-operations
        RelayServer/Front/GraphQLSocket.swift waiting = flag --max-operations
        RelayServer/Front/QueryLine.swift waiting = flag --max-requests-in-progress
        RelayServer/Front/QueryValues.swift values = by the parameters that there are
        RelayServer/Front/NetworkLoops.swift entries = queue results on their way to connections
        RelayServer/Front/NetworkLoops.swift latest = by the loops of a server
        RelayServer/Front/ProgressNotices.swift listeners = flag --max-connections
        StoreEngine/Requests/GenerationalCache.swift old = by GenerationalCache.generationCost
        StoreEngine/Requests/GenerationalCache.swift young = by GenerationalCache.generationCost
        RelayRecords/Events/DurableSequence.swift waiters = by the readers of a journal, one each
        RelayRecords/Events/InMemoryJournal.swift history = by nothing: it is the log
        RelayRecords/Events/NewestCommits.swift commits = flag --recent-commits
        PostgreSQL/PostgreSQLNotice.swift all = by NoticeBox.limit
        SharedJournal/FrameBatch.swift chains = by FrameBatch.maximumBytes
        SharedJournal/FrameBatch.swift contents = by FrameBatch.maximumBytes
        SharedJournal/FrameBatch.swift firsts = by FrameBatch.maximumBytes
        SharedJournal/FrameBatch.swift lasts = by FrameBatch.maximumBytes
        Threads/FIFO.swift elements = by who has one
        Threads/SignalWatch.swift handlers = by the program, which watches a few signals
        WebSocketIO/ByteStream.swift pending = by one write, of which the system has taken a part
        HTTPMessages/ChunkedBody.swift content = by HTTPServer.Limits.bodyBytes
        WebSocketIO/ClientTLS.swift contexts = by the program: one for each file of authorities that it names
        WebSocketIO/Compression.swift deflaters = by HTTPServer.Limits.compressedConnections
        WebSocketIO/Compression.swift inflaters = by HTTPServer.Limits.compressedConnections
        WebSocketIO/FrameReader.swift control = by 125 bytes
        WebSocketIO/FrameReader.swift head = by 14 bytes
        WebSocketIO/HTTPConnection.swift output = flag --max-queued-bytes
        HTTPMessages/HTTPRequest.swift body = by HTTPServer.Limits.bodyBytes
        HTTPMessages/HTTPRequestParser.swift buffer = by HTTPServer.Limits.bodyBytes and headBytes
        HTTPMessages/HTTPResponseParser.swift buffer = by the limits of HTTPClient
        WebSocketIO/HTTPServer.swift subprotocols = by the program
        WebSocketIO/HostResolver.swift line = by the connections that a program makes
        WebSocketIO/HostResolver.swift names = by the connections that a program makes
        WebSocketIO/HostResolver.swift waiting = by the connections that a program makes
        WebSocketIO/IOLoop.swift waiting = by what waited for the loop when it ended
        WebSocketIO/LibraryStream.swift addresses = by the addresses that a host has
        WebSocketIO/ListeningSockets.swift descriptors = by the addresses of a host to listen on
        WebSocketIO/LoopCore.swift clients = by the connections that a program makes
        WebSocketIO/LoopCore.swift flushQueue = flag --max-connections
        WebSocketIO/LoopCore.swift libraryStreams = by the connections that a program makes
        WebSocketIO/LoopCore.swift mail = by Mailbox.commands
        WebSocketIO/LoopCore.swift servers = by the program
        WebSocketIO/LoopCore.swift writeBuffer = by one write
        WebSocketIO/LoopThread.swift waiting = by who stops a loop
        WebSocketIO/Mailbox.swift commands = by who posts: a batch of results to each loop, an answer for each request in progress
        WebSocketIO/MessageAssembly.swift bytes = by HTTPServer.Limits.messageBytes
        WebSocketIO/SendQueue.swift later = flag --max-queued-bytes
        WebSocketIO/ServerLoad.swift connections = by the loops of a server
        WebSocketIO/ServerState.swift listeners = by the addresses of a host to listen on
        WebSocketIO/ServerState.swift peers = flag --max-connections
        WebSocketIO/ServerState.swift whenStopped = by who stops a server
        WebSocketIO/TimerQueue.swift timers = by the connections, a few timers each
        WebSocketIO/WebSocketClient.swift subprotocols = by the program
        WebSocketIO/WebSocketSession.swift pongs = by the pings of one read
        WebSocketIO/WebSocketSession.swift preamble = by the answer of a handshake
        WebSocketIO/WebSocketSession.swift unread = by one read
        """

    private static let repository = URL(filePath: #filePath).appending(path: "../../../..")
        .standardized

    /// By `file member`.
    private func known() throws -> [String: String] {
        var known: [String: String] = [:]
        for line in Self.bounds.split(separator: "\n") {
            let parts = try #require(line.firstRange(of: " = "), "\(line)")
            known[String(line[..<parts.lowerBound])] = String(line[parts.upperBound...])
        }
        return known
    }

    /// All members of the rooms that can grow, as `file member`.
    private func found() throws -> Set<String> {
        let sources = Self.repository.appending(path: "Sources")
        var found: Set<String> = []
        for room in Self.rooms {
            let paths = try FileManager.default.subpathsOfDirectory(
                atPath: sources.appending(path: room).path())
            for path in paths where path.hasSuffix(".swift") {
                let file = "\(room)/\(path)"
                if Self.values.contains(file) { continue }
                let source = try String(
                    contentsOf: sources.appending(path: file), encoding: .utf8)
                for member in GrowingMembers(in: source).names { found.insert("\(file) \(member)") }
            }
        }
        return found
    }

    @Test func everyMemberThatCanGrowHasABound() throws {
        let (known, found) = (try known(), try found())
        for member in found.sorted() where known[member] == nil {
            Issue.record("\(member) can grow, and nothing here says what bounds it")
        }
        for member in known.keys.sorted() where !found.contains(member) {
            Issue.record("\(member) is not there any more")
        }
    }

    @Test func theBoundsThatAreNamedExist() throws {
        let page = try String(
            contentsOf: Self.repository.appending(path: "docs/websocket.md"), encoding: .utf8)
        let queues = Set(QueueBound.all().map(\.name))
        for (member, bound) in try known() {
            let words = bound.split(separator: " ", maxSplits: 1).map(String.init)
            try #require(words.count == 2, "\(member)")
            switch words[0] {
            case "queue": #expect(queues.contains(words[1]), "\(member): there is no \(words[1])")
            case "flag": #expect(page.contains("`\(words[1])`"), "\(member): \(words[1])")
            case "by": continue
            default: Issue.record("\(member): \(bound)")
            }
        }
    }

    @Test func membersThatGrowAreFoundAndOthersAreNot() {
        let source = #"""
            final class Office {
                private struct State {
                    var waiting: [Job] = []
                    private(set) var known = Set<String>()
                    var count: Int { waiting.count }
                }
                private let line = Lock<[Job]>([])
                let names: [String]
                var all: [Job] { state.withLock { $0.waiting } }
                func take() {
                    var local: [Job] = []
                    let (signals, continuation) = AsyncStream.makeStream(of: Int.self)
                }
            }
            """#
        #expect(GrowingMembers(in: source).names == ["waiting", "known", "line", "AsyncStream"])
    }
}

/// The members of types in a source file that can hold any number of elements, and streams with a buffer without a bound.
/// It knows no grammar: it goes by braces and by how the formatter writes.
private struct GrowingMembers {
    private(set) var names: [String] = []

    init(in source: String) {
        /// For each open brace, whether it is that of a type.
        var scopes: [Bool] = []
        var isInText = false
        for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.contains("\"\"\"") { isInText.toggle() }
            if isInText || line.contains("\"\"\"") { continue }
            let bare = line.replacing(#/"(\\.|[^"\\])*"/#, with: "")
            let code = bare.firstRange(of: "//").map { bare[..<$0.lowerBound] } ?? bare
            if scopes.last ?? true, let name = Self.growingMember(code) { names.append(name) }
            if code.contains("AsyncStream.makeStream") && !code.contains("bufferingPolicy")
                || code.contains("AsyncThrowingStream { continuation in")
            {
                names.append("AsyncStream")
            }
            for (index, character) in zip(code.indices, code) {
                switch character {
                case "{": scopes.append(Self.opensType(code[..<index]))
                case "}": _ = scopes.popLast()
                default: continue
                }
            }
        }
    }

    private static func opensType(_ code: Substring) -> Bool {
        code.contains(#/\b(struct|class|actor|enum|extension|protocol) \w/#)
            && !code.contains("func ")
    }

    private static func growingMember(_ code: Substring) -> String? {
        let member =
            #/^\s*((?:@?\w+(?:\(\w+\))? )*)(var|let) (\w+)(?:: | = )(.*)$/#
        guard let match = code.firstMatch(of: member), !match.4.contains("{") else { return nil }
        let isVariable = match.2 == "var"
        let grows =
            #/^(\[|(Set|Dictionary|ArraySlice|FIFO|WaitingLine|ArrivalOrder|Heap)<)/#
        let isLocked = #/^(Lock|Monitor)(<\[|<ArraySlice|\(\[|\(FIFO)/#
        let isGrowing =
            isVariable && match.4.contains(grows) || match.4.contains(isLocked)
        return isGrowing ? String(match.3) : nil
    }
}
