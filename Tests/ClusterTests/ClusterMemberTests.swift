import BoundedTesting
import EventLog
import PostgreSQL
import PostgreSQLTesting
import SharedJournal
import Testing
import Threads

@testable import Cluster
@testable import EventStore
@_spi(Rooms) @testable import RelayRecords

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Nodes of a cluster, each with a directory and threads of its own, on a PostgreSQL of the test's.
@Suite(.bounded, .needsPostgreSQL, .timeLimit(.minutes(10)), .serialized)
struct ClusterMemberTests {
    private let server: PostgreSQLServer
    private let place: URL

    init() throws {
        server = try PostgreSQLServer.shared.get()
        place = FileManager.default.temporaryDirectory
            .appending(path: "relay-cluster-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    }

    private func address() throws -> JournalAddress {
        try JournalAddress(parsing: server.url(schema: PostgreSQLServer.newSchema()))
    }

    private func directory(_ name: String) -> String { place.appending(path: name).path() }

    private func options(_ journal: JournalAddress, _ name: String) -> MemberOptions {
        var options = MemberOptions(journal: journal, node: name, address: "ws://\(name)/graphql")
        options.lease = .milliseconds(800)
        options.pollInterval = .milliseconds(50)
        return options
    }

    private func nodes(_ journal: JournalAddress, _ count: Int) throws -> [Node] {
        try (0..<count).map { try Node(options(journal, "n\($0)"), directory("n\($0)")) }
    }

    @Test func oneLeadsAndTheOthersFollow() throws {
        let nodes = try nodes(address(), 3)
        defer { for node in nodes { node.stop() } }
        let leader = try Node.leader(of: nodes)
        for number in 0..<20 { try leader.append("\(number)") }
        try Node.settle(nodes)
        #expect(Set(nodes.map(\.hash)).count == 1)
        #expect(nodes.map(\.texts).allSatisfy { $0 == (0..<20).map { "\($0)" } })
        for node in nodes where node !== leader {
            // It hears of it when it looks at the lease again.
            try eventually { node.member.status.leader == leader.member.options.address }
            let refusal = #expect(throws: JournalError.self) { try node.append("late") }
            #expect(refusal?.code == .overtaken(by: node.sequence))
        }
    }

    @Test func aStoppedLeaderIsFollowedAtOnce() throws {
        let journal = try address()
        var nodes = try nodes(journal, 2)
        let first = try Node.leader(of: nodes)
        try first.append("one")
        first.stop()
        nodes.removeAll { $0 === first }
        let second = try Node.leader(of: nodes)
        try second.append("two")
        // It comes back and follows, from what it has.
        let again = try Node(options(journal, first.member.options.node), first.directory)
        defer { for node in nodes + [again] { node.stop() } }
        try Node.settle(nodes + [again])
        #expect(again.texts == ["one", "two"])
        #expect(again.hash == second.hash)
    }

    /// As after SIGSTOP and SIGCONT: it believes to lead, and the journal knows better.
    @Test func aLeaderThatWasAsleepGetsNothingIn() throws {
        let journal = try address()
        let nodes = try nodes(journal, 2)
        defer { for node in nodes { node.stop() } }
        let old = try Node.leader(of: nodes)
        let new = try #require(nodes.first { $0 !== old })
        try old.append("one")
        let connection = try JournalConnection(journal, abandonment: Abandonment())
        let term = try connection.raiseTerm(
            after: connection.term().term, by: new.member.options.candidate)
        let refusal = #expect(throws: JournalError.self) { try old.append("lost") }
        if case .overtaken? = refusal?.code {
        } else {
            Issue.record("\(String(describing: refusal))")
        }
        try eventually { old.member.status.role == .follower }
        // Nobody works for that term: its lease runs out.
        let leader = try Node.leader(of: nodes)
        #expect(leader.member.status.term > term)
        try leader.append("two")
        try Node.settle(nodes)
        #expect(nodes.map(\.texts) == [["one", "two"], ["one", "two"]])
    }

    /// The second one ends, and the first one's lease goes on.
    @Test func aSecondNodeOfTheLeadersNameIsRefused() throws {
        let journal = try address()
        let nodes = try (0..<3).map { number in
            var options = options(journal, "n\(number)")
            // The leader is to be heard of in time, however slow this machine is.
            options.lease = .seconds(4)
            return try Node(options, directory("n\(number)"))
        }
        defer { for node in nodes { node.stop() } }
        let leader = try Node.leader(of: nodes)
        let before = leader.member.status
        let name = leader.member.options.node
        try server.connect().noteGivenUpLeases(of: journal)
        let second = try Node(leader.member.options, directory("second"))
        try eventually { second.failure != nil }
        #expect(second.failure?.contains("calls itself \(name)") == true)
        second.stop()
        // The leader's next renewal would hide it from whoever looks later.
        let rows = try server.connect().run("SELECT FROM \(journal.schema).given_up")
        #expect(rows.count == 0)
        try leader.append("still")
        try Node.settle(nodes)
        #expect(leader.member.status.term == before.term && leader.isLeading)
        #expect(leader.member.status.failovers == before.failovers)
    }

    /// Its own row, from before PostgreSQL's clock was set back.
    @Test func aRowThatWasSeenLaterThanNowIsNotAnotherServersName() throws {
        let journal = try address()
        let before = try Node(options(journal, "n"), directory("n"))
        try before.append(whenLeading: "one")
        before.stop()
        try server.connect().run(
            """
            INSERT INTO \(journal.schema).nodes (node, address, role, term, sequence, instance, seen)
            VALUES ('n', '', 'writer', 1, 1, 1, clock_timestamp() + interval '1 hour')
            """)
        let node = try Node(options(journal, "n"), directory("n"))
        defer { node.stop() }
        try node.append(whenLeading: "two")
        try eventually {
            let rows = try server.connect().run(
                "SELECT FROM \(journal.schema).nodes WHERE node = 'n' AND instance <> 1")
            return node.failure != nil || rows.count == 1
        }
        #expect(node.failure == nil)
    }

    @Test func anotherStoreIsNotTouched() throws {
        let path = directory("other")
        let store = try EventStore.open(path)
        store.journal.close()
        let error = #expect(throws: (any Error).self) {
            try ClusterMember.join(options(address(), "n"), directory: path)
        }
        #expect("\(String(describing: error))".contains("give another --data"))
    }

    /// In the segment where the copy goes on, and in one that only the fold reads.
    @Test(arguments: [true, false])
    func aDamagedCopyIsMovedIntoItselfAndFetchedAgain(_ isInTheLastSegment: Bool) throws {
        let journal = try address()
        let path = directory("n")
        let node = try Node(options(journal, "n"), path)
        _ = try Node.leader(of: [node])
        // The first segment has a megabyte.
        let texts = (0..<24).map { "\($0) " + String(repeating: "x", count: 100_000) }
        for text in texts { try node.append(text) }
        node.stop()
        let segments = try FileManager.default.contentsOfDirectory(atPath: path + "/segments")
            .filter { $0.hasSuffix(".log") }.sorted()
        try #require(segments.count > 1)
        let name = try #require(isInTheLastSegment ? segments.last : segments.first)
        let file = URL(filePath: path + "/segments/" + name)
        var bytes = try Data(contentsOf: file)
        // What is not used yet is zeros.
        let used = try #require(bytes.lastIndex { $0 != 0 })
        bytes[used / 2] ^= 1
        try bytes.write(to: file)
        let again = try Node(options(journal, "n"), path)
        #expect(again.texts == texts)
        #expect(try Data(contentsOf: URL(filePath: path + "/damaged-1/segments/" + name)) == bytes)
        // Nothing is in the way of what runs on the directory now.
        try again.append(whenLeading: "more")
        again.stop()
        let third = try Node(options(journal, "n"), path)
        defer { third.stop() }
        #expect(third.texts == texts + ["more"])
    }

    @Test func aJournalThatLostEventsStopsTheNode() throws {
        let journal = try address()
        let node = try Node(options(journal, "n"), directory("n"))
        defer { node.stop() }
        _ = try Node.leader(of: [node])
        for number in 0..<3 { try node.append("\(number)") }
        node.stop()
        try server.connect().run(
            "DELETE FROM \(journal.schema).frames WHERE last = \(node.sequence)", [])
        #expect(throws: (any Error).self) {
            try ClusterMember.join(options(journal, "n"), directory: directory("n"))
        }
    }

    /// A commit that waits for a standby that is gone.
    @Test func aNodeSaysForHowLongAnAppendHasHadNoAnswer() throws {
        let server = try PostgreSQLServer()
        let journal = try JournalAddress(
            parsing: server.url(schema: PostgreSQLServer.newSchema()))
        let node = try Node(options(journal, "n"), directory("n"))
        defer { node.stop() }
        try node.append(whenLeading: "one")
        #expect(node.member.status.appendTime == .zero)
        try server.waitForStandby()
        let append = Append("two", to: node)
        try eventually { node.member.status.appendTime > node.member.options.lease * 2 }
        // Another one could not append either.
        #expect(node.isLeading)
        try server.endWaitForStandby()
        try append.outcome()
        #expect(node.member.status.appendTime == .zero)
    }

    /// For a role that is made here, and may be locked out.
    private func guardedAddress(
        of server: PostgreSQLServer, _ schema: String, _ connection: PostgreSQLConnection
    ) throws -> JournalAddress {
        let (user, password) = (PostgreSQLServer.guardedUser, PostgreSQLServer.password)
        try connection.run("CREATE ROLE \(user) SUPERUSER LOGIN PASSWORD '\(password)'")
        return try JournalAddress(
            parsing: server.url(schema: schema).replacing(
                PostgreSQLServer.user + "@", with: user + ":open%3Asesame%2F7@"))
    }

    /// As with too many connections, before its first append: the one for the lease is there, and the writer gets none.
    @Test func aNewLeaderWhoseWriterIsNotLetInLeavesTheLeadToAnother() throws {
        let server = try PostgreSQLServer()
        let observer = try server.connect()
        let user = PostgreSQLServer.guardedUser
        let schema = PostgreSQLServer.newSchema()
        let second = try Node(
            options(JournalAddress(parsing: server.url(schema: schema)), "second"),
            directory("second"))
        defer { second.stop() }
        try second.append(whenLeading: "one")
        let first = try Node(
            options(try guardedAddress(of: server, schema, observer), "first"),
            directory("first"))
        defer { first.stop() }
        try Node.settle([first, second])
        second.stop()
        _ = try Node.leader(of: [first])
        try observer.run("ALTER ROLE \(user) NOLOGIN")
        let third = try Node(
            options(JournalAddress(parsing: server.url(schema: schema)), "third"),
            directory("third"))
        defer { third.stop() }
        try eventually {
            // Refused for certain, again and again.
            if first.isLeading { #expect(throws: JournalError.self) { try first.append("two") } }
            return third.isLeading
        }
        try third.append("three")
        try observer.run("ALTER ROLE \(user) LOGIN")
        try Node.settle([first, third])
        #expect(first.texts == ["one", "three"] && third.texts == first.texts)
    }

    /// PostgreSQL was restarted while an append waited for the standby: it can be seen, and is nowhere else.
    @Test func whatNoStandbyHasIsNotFollowed() throws {
        let server = try PostgreSQLServer()
        let journal = try JournalAddress(
            parsing: server.url(schema: PostgreSQLServer.newSchema()))
        let nodes = try ["first", "second"].map { name in
            var options = options(journal, name)
            // Nothing is heard for half as long again, and then it is tried anew.
            options.timeouts.statement = .milliseconds(200)
            return try Node(options, directory(name))
        }
        defer { for node in nodes { node.stop() } }
        let leader = try Node.leader(of: nodes)
        try leader.append("one")
        try Node.settle(nodes)
        let follower = try #require(nodes.first { $0 !== leader })
        try server.waitForStandby()
        let append = Append("two", to: leader)
        let before = try server.connect()
        try eventually {
            try before.run(
                """
                SELECT FROM pg_stat_activity
                WHERE wait_event = 'SyncRep' AND query LIKE '%append(%'
                """
            ).count == 1
        }
        server.crash()
        try server.start()
        let observer = try server.connect()
        // Both follow on new connections, and again and again; what was given up is ended.
        func waiting() throws -> [Int64] {
            let rows = try observer.run(
                """
                SELECT pid::bigint FROM pg_stat_activity
                WHERE wait_event = 'SyncRep' AND query LIKE '%emit_message%'
                """)
            return try (0..<rows.count).map { try rows.int($0, 0) }
        }
        var seen: Set<Int64> = []
        try eventually {
            seen.formUnion(try waiting())
            return seen.count > 6
        }
        try eventually { try waiting().count <= 2 }
        let rows = try observer.run("SELECT count(*) FROM \(journal.schema).frames WHERE last = 3")
        #expect(try rows.int(0, 0) == 1, "it can be seen")
        #expect(follower.texts == ["one"])
        #expect(follower.member.status.lastError == nil)
        try server.endWaitForStandby()
        _ = try? append.outcome()
        try eventually { follower.texts.contains("two") }
    }

    /// Its beginning was left half-made, or cannot be read.
    @Test(arguments: ["META", "checkpoints"])
    func aCopyThatBeginsLaterIsFetchedAgain(_ damaged: String) throws {
        let node = try Node(options(try address(), "n"), directory("n"))
        _ = try Node.leader(of: [node])
        for number in 0..<24 {
            try node.append("\(number) " + String(repeating: "x", count: 100_000))
        }
        node.stop()
        _ = try EventStore.compact(directory("n"))
        let journal = try address()
        _ = try JournalImport(directory("n"), to: journal, abandonment: Abandonment())
            .run(cursorKey: nil)
        let path = directory("m")
        func join() throws -> StateHash {
            let (_, store) = try ClusterMember.join(options(journal, "m"), directory: path)
            defer { store.journal.close() }
            return store.snapshot.stateHash
        }
        let hash = try join()
        var file = URL(filePath: path + "/" + damaged)
        if damaged == "META" {
            try FileManager.default.removeItem(at: file)
        } else {
            let names = try FileManager.default.contentsOfDirectory(atPath: file.path())
            try #require(names.count == 1)
            file.append(path: names[0])
            var bytes = try Data(contentsOf: file)
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: file)
        }
        #expect(try join() == hash)
        #expect(FileManager.default.fileExists(atPath: path + "/damaged-1/segments"))
        #expect(try join() == hash)
        #expect(!FileManager.default.fileExists(atPath: path + "/damaged-2"))
    }

    /// The same when it has appended, and cannot find out what became of that.
    @Test func aNodeWhoseWriterIsNotLetInLeavesTheLeadToAnother() throws {
        let server = try PostgreSQLServer()
        let observer = try server.connect()
        let user = PostgreSQLServer.guardedUser
        let schema = PostgreSQLServer.newSchema()
        let first = try Node(
            options(try guardedAddress(of: server, schema, observer), "first"),
            directory("first"))
        defer { first.stop() }
        try first.append(whenLeading: "one")
        let second = try Node(
            options(JournalAddress(parsing: server.url(schema: schema)), "second"),
            directory("second"))
        defer { second.stop() }
        try observer.run("ALTER ROLE \(user) NOLOGIN")
        try observer.run(
            """
            SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
            WHERE query LIKE '%.append(%' AND pid <> pg_backend_pid()
            """)
        let append = Append("two", to: first)
        try second.append(whenLeading: "three")
        #expect(!first.isLeading)
        // It is in the way of nothing that comes after it.
        try observer.run("ALTER ROLE \(user) LOGIN")
        #expect(throws: JournalError.self) { try append.outcome() }
        try Node.settle([first, second])
        #expect(first.texts == ["one", "three"] && second.texts == first.texts)
    }

    @Test func aRunningNodeStopsIfTheJournalHasLostEvents() throws {
        let servers = try TwoServers(directory("exported"))
        let node = try Node(options(servers.journal, "n"), directory("n"))
        defer { node.stop() }
        try node.append(whenLeading: "one")
        let last = node.sequence
        try servers.copy(term: node.member.status.term)
        try node.append("two")
        servers.switchOver()
        servers.first.stop()
        try eventually { node.failure != nil }
        #expect(node.failure?.contains("ends with event \(last), and this server has") == true)
        #expect(try servers.connect().head(of: node.member.history).sequence == last)
    }

    /// The writer has gone over to the PostgreSQL that leads by now, and the follow thread's connection has not: an
    /// address has moved on from a server that was stopped, and goes on. It finds out while it leads, or follows again.
    @Test(arguments: [true, false])
    func aConnectionToAPostgreSQLThatWasLeftBehindStopsNobody(_ isOvertaken: Bool) throws {
        let servers = try TwoServers(directory("exported"))
        let node = try Node(options(servers.journal, "n"), directory("n"))
        defer { node.stop() }
        try node.append(whenLeading: "one")
        try servers.copy(term: node.member.status.term)
        servers.switchOver()
        let first = try servers.first.connect()
        try first.run(
            """
            SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
            WHERE query LIKE '%.append(%' AND pid <> pg_backend_pid()
            """)
        try node.append("two")
        if isOvertaken {
            let connection = try servers.connect()
            _ = try connection.raiseTerm(
                after: connection.term().term,
                by: JournalCandidate(
                    node: "ghost", address: "ws://ghost", lease: .milliseconds(50)))
            #expect(throws: JournalError.self) { try node.append("refused") }
        }
        // The follow thread has left it.
        try eventually {
            let rows = try first.run(
                """
                SELECT FROM pg_stat_activity WHERE pid <> pg_backend_pid()
                AND (query LIKE '%frames ORDER BY seq DESC%' OR query LIKE 'LISTEN%')
                """)
            return node.failure != nil || rows.count == 0
        }
        #expect(node.failure == nil)
        servers.first.stop()
        try node.append(whenLeading: "three")
        #expect(node.texts == ["one", "two", "three"])
        #expect(
            try servers.connect().head(of: node.member.history).sequence == node.sequence)
    }

    /// Leaders end, are cut off or fall asleep at random; what was acknowledged is there once, in one order, everywhere.
    @Test func whateverHappensThereIsOneHistory() throws {
        let seed = UInt64.random(in: 1...1_000_000)
        var random = SeededGenerator(seed: seed)
        // One of its own, as it cuts everybody off.
        let server = try PostgreSQLServer()
        let journal = try JournalAddress(
            parsing: server.url(schema: PostgreSQLServer.newSchema()))
        let connection = try JournalConnection(journal, abandonment: Abandonment())
        var nodes = try nodes(journal, 3)
        defer { for node in nodes { node.stop() } }
        var acknowledged: [String] = []
        for round in 0..<40 {
            let leader = try Node.leader(of: nodes)
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                leader.stop()
                let place = try #require(nodes.firstIndex { $0 === leader })
                nodes[place] = try Node(leader.member.options, leader.directory)
            case 1:
                // Another one raises the term behind its back, and goes away.
                _ = try? connection.raiseTerm(
                    after: connection.term().term,
                    by: JournalCandidate(
                        node: "ghost", address: "ws://ghost", lease: .milliseconds(50)))
            case 2:
                try server.connect().run(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'
                    """, [])
            default: break
            }
            for number in 0..<5 {
                let text = "\(round).\(number)"
                if (try? Node.leader(of: nodes).append(text)) != nil { acknowledged.append(text) }
            }
        }
        _ = try Node.leader(of: nodes)
        try Node.settle(nodes)
        for node in nodes {
            #expect(node.texts == acknowledged, "seed \(seed)")
            #expect(node.failure == nil, "seed \(seed)")
        }
        #expect(Set(nodes.map(\.hash)).count == 1, "seed \(seed)")
    }
}

/// One on a thread of its own.
private final class Append: Sendable {
    private let result = Monitor<Result<Void, any Error>?>(nil)

    init(_ text: String, to node: Node) {
        _ = BlockingThread { [result] in
            let outcome = Result { try node.append(text) }
            result.update { $0 = outcome }
        }
    }

    func outcome() throws {
        let found = result.wait(milliseconds: .testDeadlineMilliseconds) { $0 }
        try #require(found).get()
    }
}

/// A PostgreSQL and one that takes over from it, under one address.
private final class TwoServers {
    let first: PostgreSQLServer
    let second: PostgreSQLServer
    /// By the address.
    let journal: JournalAddress
    private let proxy: CuttingProxy
    private let directory: String

    init(_ directory: String) throws {
        self.directory = directory
        first = try PostgreSQLServer()
        second = try PostgreSQLServer()
        proxy = try CuttingProxy(to: first.port)
        journal = try JournalAddress(
            parsing: first.url(schema: PostgreSQLServer.newSchema(), port: proxy.port))
    }

    deinit { proxy.stop() }

    /// The second gets what the first has.
    func copy(term: UInt64) throws {
        _ = try JournalExport(journal, to: directory).run(abandonment: Abandonment())
        let copy = try JournalAddress(parsing: second.url(schema: journal.schema))
        _ = try JournalImport(directory, to: copy, abandonment: Abandonment()).run(cursorKey: nil)
        try second.connect().run(
            "UPDATE \(journal.schema).term SET term = $1, connection = 0",
            [.int(Int64(clamping: term))])
    }

    /// New connections are to the second from now on.
    func switchOver() { proxy.lead(to: second.port) }

    /// To the one that the address leads to.
    func connect() throws -> JournalConnection {
        try JournalConnection(journal, abandonment: Abandonment())
    }
}

/// A node that folds what it follows and appends.
private final class Node: ClusterDelegate {
    let member: ClusterMember
    let directory: String
    private let journal: FileJournal
    private let state: Monitor<State>

    private struct State {
        var snapshot: Snapshot
        var texts: [String] = []
        var isLeading = false
        var failure: String?
        /// Those on their way.
        var appends = 0

        mutating func fold(_ event: Event) throws {
            var changes = ChangeSet()
            try snapshot.fold(event, changes: &changes)
            if case .update(let update) = event.body { texts.append(update.name) }
        }
    }

    init(_ options: MemberOptions, _ directory: String) throws {
        self.directory = directory
        let (member, store) = try ClusterMember.join(options, directory: directory)
        self.member = member
        journal = store.journal
        var state = State(snapshot: Snapshot())
        if store.snapshot.sequence > 0 {
            let history = try store.journal.history()
            let events = try history.events(in: 1...store.snapshot.sequence)
            while let event = try events.next() { try state.fold(event) }
        }
        self.state = Monitor(state)
        member.start(self)
    }

    var sequence: UInt64 { state.withLock { $0.snapshot.sequence } }
    var texts: [String] { state.withLock { $0.texts } }
    var hash: StateHash { state.withLock { $0.snapshot.stateHash } }
    var isLeading: Bool { state.withLock { $0.isLeading } }
    var failure: String? { state.withLock { $0.failure } }

    var hasRoomToFollow: Bool { true }

    func follow(_ events: [Event]) throws {
        try state.update { state in
            for event in events { try state.fold(event) }
        }
    }

    var stateMark: CheckpointMark? { nil }

    var isAside: Bool { state.withLock { !$0.isLeading && $0.appends == 0 } }

    func prepareToLead() throws {
        if sequence == 0 {
            try append(.genesis(schema: "type Query { a: Int }", seed: .empty))
        }
    }

    func lead() { state.update { $0.isLeading = true } }

    func followOthers(leader: String?) { state.update { $0.isLeading = false } }

    func fail(_ reason: String) { state.update { $0.failure = reason } }

    func append(_ text: String) throws {
        try append(
            .update(LocalUpdate(name: text, writes: .empty)))
    }

    private func append(_ body: EventBody) throws {
        let outcome = Monitor<Result<UInt64, JournalError>?>(nil)
        let expected = state.update { state in
            state.appends += 1
            return state.snapshot.sequence
        }
        journal.append([NewEvent(timeMicroseconds: 0, body: body)], expecting: expected) {
            [state] result in
            if case .success(let sequence) = result {
                state.update {
                    try? $0.fold(Event(sequence: sequence, timeMicroseconds: 0, body: body))
                }
            }
            state.update { $0.appends -= 1 }
            outcome.update { $0 = result }
        }
        _ = try outcome.wait { $0 }.get()
    }

    func append(whenLeading text: String) throws {
        _ = try Self.leader(of: [self])
        try append(text)
    }

    func stop() {
        member.stop()
        journal.close()
    }

    static func leader(of nodes: [Node]) throws -> Node {
        var found: Node?
        try eventually {
            found = nodes.first { $0.isLeading && $0.sequence > 0 }
            return found != nil
        }
        return try #require(found)
    }

    /// Waits until all have what the leader has.
    static func settle(_ nodes: [Node]) throws {
        try eventually {
            guard let leader = nodes.first(where: \.isLeading) else { return false }
            let last = leader.sequence
            return nodes.allSatisfy { $0.sequence == last }
        }
    }
}

extension PostgreSQLConnection {
    /// Has each lease that is given up become a row of `given_up`.
    fileprivate func noteGivenUpLeases(of journal: JournalAddress) throws {
        let schema = journal.schema
        for statement in [
            "CREATE TABLE \(schema).given_up (term bigint)",
            """
            CREATE FUNCTION \(schema).note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                INSERT INTO \(schema).given_up VALUES (NEW.term);
                RETURN NEW;
            END $$
            """,
            """
            CREATE TRIGGER noted AFTER UPDATE ON \(schema).lease FOR EACH ROW
            WHEN (NEW.expires <= clock_timestamp()) EXECUTE FUNCTION \(schema).note()
            """,
        ] {
            try run(statement)
        }
    }
}

/// Waits for a condition, until one generous deadline.
private func eventually(_ condition: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + .testDeadline
    let pause = Monitor(())
    while try !condition() {
        if ContinuousClock.now > deadline { throw InVain() }
        _ = pause.wait(milliseconds: 5) { _ in nil as Bool? }
    }
}

private struct InVain: Error {}
