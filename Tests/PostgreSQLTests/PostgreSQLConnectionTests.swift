import BoundedTesting
import Foundation
import PostgreSQLTesting
import Testing
import Threads

@testable import PostgreSQL

@Suite(.bounded, .needsPostgreSQL, .timeLimit(.minutes(5)))
struct PostgreSQLConnectionTests {
    let server: PostgreSQLServer

    init() throws { server = try PostgreSQLServer.shared.get() }

    @Test func valuesComeBackAsTheyWereSent() throws {
        let connection = try server.connect()
        let bytes: [UInt8] = [0, 1, 0xFF, 0x27]
        let rows = try connection.run(
            "SELECT $1::bigint, $2::text, $3::bytea, $4::boolean, $5::bigint, $6::bytea, $7::bytea",
            [
                .int(-7), .text("an ä; 'quoted' \\ text"), .bytes(bytes), .bool(true), .noInt,
                .noBytes, .bytes([]),
            ])
        #expect(rows.count == 1)
        #expect(try rows.int(0, 0) == -7)
        #expect(try rows.text(0, 1) == "an ä; 'quoted' \\ text")
        #expect(try rows.bytes(0, 2) == bytes)
        #expect(try rows.bool(0, 3))
        #expect(try rows.intIfAny(0, 4) == nil)
        #expect(try rows.bytesIfAny(0, 5) == nil)
        #expect(try rows.bytesIfAny(0, 6) == [])
    }

    @Test(arguments: [0, 1, 3]) func arraysAreUnderstood(_ count: Int) throws {
        let numbers = (0..<count).map { Int64($0) - 1 }
        let strings = (0..<count).map { [UInt8](repeating: 0xA0, count: $0) }
        let rows = try server.connect().run(
            "SELECT a, b FROM unnest($1::bigint[], $2::bytea[]) AS t(a, b)",
            [.ints(numbers), .byteStrings(strings)])
        #expect(try (0..<rows.count).map { try rows.int($0, 0) } == numbers)
        #expect(try (0..<rows.count).map { try rows.bytes($0, 1) } == strings)
    }

    @Test func anAnswerOfAnotherFormIsAnError() throws {
        let rows = try server.connect().run("SELECT 1::int, NULL::bigint")
        #expect(throws: PostgreSQLError.self) { try rows.int(0, 0) }
        #expect(throws: PostgreSQLError.self) { try rows.int(0, 1) }
        #expect(throws: PostgreSQLError.self) { try rows.int(1, 0) }
        #expect(throws: PostgreSQLError.self) { try rows.text(0, 2) }
    }

    @Test func aRefusedStatementSaysWhyAndTheConnectionGoesOn() throws {
        let connection = try server.connect()
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.run("SELECT * FROM nowhere")
        }
        #expect(error?.code == .refused)
        #expect(error?.sqlState == .undefinedTable)
        #expect(error?.message.contains("relation \"nowhere\" does not exist") == true)
        #expect(try connection.run("SELECT 1::bigint").int(0, 0) == 1)
    }

    /// The rows of a statement come before its commit, which may fail.
    @Test func aStatementThatIsUndoneAtItsCommitIsRefused() throws {
        let connection = try server.connect()
        let name = PostgreSQLServer.newSchema()
        for statement in [
            "CREATE SCHEMA \(name)", "CREATE TABLE \(name).t (n bigint)",
            """
            CREATE FUNCTION \(name).no() RETURNS trigger LANGUAGE plpgsql
            AS $$ BEGIN RAISE EXCEPTION 'not this one'; END $$
            """,
            """
            CREATE CONSTRAINT TRIGGER late AFTER INSERT ON \(name).t DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION \(name).no()
            """,
        ] {
            try connection.run(statement)
        }
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.run("INSERT INTO \(name).t VALUES (1) RETURNING n")
        }
        #expect(error?.code == .refused && error?.message.contains("not this one") == true)
        let rows = try connection.run("SELECT count(*) FROM \(name).t")
        #expect(try rows.int(0, 0) == 0)
    }

    @Test func theServerEndsAStatementThatTakesTooLong() throws {
        var timeouts = PostgreSQLTimeouts()
        timeouts.statement = .milliseconds(50)
        let connection = try PostgreSQLConnection(
            server.address, timeouts: timeouts, abandonment: Abandonment())
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.run("SELECT pg_sleep(30)")
        }
        #expect(error?.code == .refused)
        #expect(error?.sqlState == .queryCanceled)
    }

    @Test func aServerThatSaysNothingIsGivenUp() throws {
        var timeouts = PostgreSQLTimeouts()
        timeouts.statement = .milliseconds(100)
        let connection = try PostgreSQLConnection(
            server.address, timeouts: timeouts, abandonment: Abandonment())
        // As a server does that is stopped.
        try connection.run("SET statement_timeout = 0")
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.run("SELECT pg_sleep(300)")
        }
        #expect(error?.code == .lost)
        #expect(!connection.isOpen)
        #expect(throws: PostgreSQLError.self) { try connection.run("SELECT 1") }
    }

    @Test func anotherThreadCanGiveUpAStatement() throws {
        let abandonment = try Abandonment()
        let connection = try PostgreSQLConnection(server.address, abandonment: abandonment)
        let pid = try connection.run("SELECT pg_backend_pid()::bigint").int(0, 0)
        let thread = BlockingThread { [server] in
            // Not before it runs.
            guard let observer = try? server.connect() else { return }
            while (try? observer.isRunning(pid)) != true {}
            abandonment.abandon()
        }
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.run("SELECT pg_sleep(300)")
        }
        thread.join()
        #expect(error?.code == .abandoned)
        #expect(throws: PostgreSQLError.self) {
            try PostgreSQLConnection(server.address, abandonment: abandonment)
        }
    }

    @Test func aBackendThatIsEndedIsALostConnection() throws {
        let connection = try server.connect()
        let pid = try connection.run("SELECT pg_backend_pid()::bigint").int(0, 0)
        try server.connect().run("SELECT pg_terminate_backend($1::int, 10000)", [.int(pid)])
        let error = #expect(throws: PostgreSQLError.self) { try connection.run("SELECT 1") }
        #expect(error?.code == .lost)
        #expect(!connection.isOpen)
    }

    @Test func whatIsSentAndTakenMayBeLarge() throws {
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let rows = try server.connect().run("SELECT $1::bytea", [.bytes(bytes)])
        #expect(try rows.bytes(0, 0) == bytes)
    }

    @Test func nobodyListensAtThePort() throws {
        let address = try PostgreSQLAddress(parsing: "postgres://relay@127.0.0.1:1/none")
        let error = #expect(throws: PostgreSQLError.self) {
            try PostgreSQLConnection(address, abandonment: Abandonment())
        }
        #expect(error?.code == .notConnected)
        #expect(error?.message.contains("postgres://relay@127.0.0.1:1/none") == true)
    }

    /// As a server that hangs.
    @Test func aServerThatDoesNotGreetIsGivenUp() throws {
        let silent = try SilentListener(backlog: 1)
        var timeouts = PostgreSQLTimeouts()
        timeouts.connect = .milliseconds(100)
        let error = #expect(throws: PostgreSQLError.self) {
            try PostgreSQLConnection(
                PostgreSQLAddress(parsing: "postgres://relay@127.0.0.1:\(silent.port)/none"),
                timeouts: timeouts, abandonment: Abandonment())
        }
        #expect(error?.code == .notConnected)
        #expect(error?.message.contains("nothing was heard") == true)
    }

    /// The first accepts the connection and says nothing; the second is behind a firewall that drops everything.
    @Test func serversThatSayNothingAreGivenUpForTheNextOne() throws {
        let (silent, hole) = (try SilentListener(backlog: 1), try SilentListener(backlog: 0))
        try hole.fill()
        var timeouts = PostgreSQLTimeouts()
        timeouts.connect = .milliseconds(500)
        let ports = [silent.port, hole.port, server.port]
        let places = ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
        let connection = try PostgreSQLConnection(
            PostgreSQLAddress(parsing: "postgres://relay@\(places)/postgres"), timeouts: timeouts,
            abandonment: Abandonment())
        #expect(try connection.run("SELECT 1::bigint").int(0, 0) == 1)
    }

    /// A name may have several IP addresses, which libpq tries by itself, as it does with the hosts of a service file.
    @Test func anIPAddressThatDropsEverythingIsGivenUpForTheNextOne() throws {
        let hole = try SilentListener(backlog: 0)
        try hole.fill()
        let file = FileManager.default.temporaryDirectory
            .appending(path: "relay-service-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(
            """
            [two]
            host=127.0.0.1,127.0.0.1
            port=\(hole.port),\(server.port)
            user=relay
            dbname=postgres

            """.utf8
        ).write(to: file)
        setenv("PGSERVICEFILE", file.path(), 1)
        defer { unsetenv("PGSERVICEFILE") }
        let address = try PostgreSQLAddress(parsing: "postgres://?service=two")
        var timeouts = PostgreSQLTimeouts()
        // The system finds out when it has sent for the second time, after a second at the earliest.
        timeouts.connect = .seconds(2)
        let connection = try PostgreSQLConnection(
            address, timeouts: timeouts, abandonment: Abandonment())
        #expect(try connection.run("SELECT 1::bigint").int(0, 0) == 1)
    }

    @Test func listenersAreToldOfWhatOthersCommit() throws {
        let listener = try server.connect()
        let channel = PostgreSQLServer.newSchema()
        try listener.listen(to: channel)
        #expect(try listener.nextNotification(within: .zero) == nil)
        try server.connect().run("SELECT pg_notify($1, '7')", [.text(channel)])
        #expect(try listener.nextNotification(within: .testDeadline) == "7")
        #expect(try listener.nextNotification(within: .milliseconds(1)) == nil)
    }

    @Test func whatWasToldSoFarCanBeForgottenAtOnce() throws {
        let listener = try server.connect()
        let channel = PostgreSQLServer.newSchema()
        try listener.listen(to: channel)
        let other = try server.connect()
        for number in 0..<100 {
            try other.run("SELECT pg_notify($1, $2)", [.text(channel), .text("\(number)")])
        }
        // They come before an answer.
        try listener.run("SELECT 1")
        try listener.forgetNotifications()
        #expect(try listener.nextNotification(within: .zero) == nil)
        try other.run("SELECT pg_notify($1, 'new')", [.text(channel)])
        #expect(try listener.nextNotification(within: .testDeadline) == "new")
    }

    /// So that the server, too, notices that a client's machine is gone.
    @Test func theServerLooksWhetherItsClientIsThere() throws {
        var timeouts = PostgreSQLTimeouts()
        timeouts.network = .seconds(6)
        let connection = try PostgreSQLConnection(
            server.address, timeouts: timeouts, abandonment: Abandonment())
        let rows = try connection.run(
            """
            SELECT current_setting('tcp_keepalives_idle'), current_setting('tcp_keepalives_interval'),
                current_setting('tcp_keepalives_count'), current_setting('tcp_user_timeout')
            """)
        #expect(try (0..<4).map { try rows.text(0, $0) } == ["3", "1", "3", "6000"])
    }

    @Test func aListenerCanBeGivenUp() throws {
        let abandonment = try Abandonment()
        let listener = try PostgreSQLConnection(server.address, abandonment: abandonment)
        try listener.listen(to: "nothing")
        let thread = BlockingThread { abandonment.abandon() }
        let error = #expect(throws: PostgreSQLError.self) {
            try listener.nextNotification(within: .testDeadline)
        }
        thread.join()
        #expect(error?.code == .abandoned)
    }

    @Test func aProxyCutsBeforeAndAfterAStatement() throws {
        let proxy = try CuttingProxy(to: server.port)
        defer { proxy.stop() }
        let table = PostgreSQLServer.newSchema()
        let observer = try server.connect()
        try observer.run("CREATE TABLE \(table) (n bigint)")
        for (number, cut) in [CuttingProxy.Cut.afterBytesSent(0), .atAnswer].enumerated() {
            let connection = try PostgreSQLConnection(
                PostgreSQLAddress(parsing: server.url(port: proxy.port)),
                abandonment: Abandonment())
            proxy.arm(cut)
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.run("INSERT INTO \(table) VALUES ($1)", [.int(Int64(number))])
            }
            #expect(error?.code == .lost)
        }
        let rows = try observer.run("SELECT n FROM \(table)")
        #expect(rows.count == 1)
        #expect(try rows.int(0, 0) == 1)
    }

    @Test func passwordsAreUsedAndNeverTold() throws {
        let connection = try server.connect()
        let (user, password) = (PostgreSQLServer.guardedUser, PostgreSQLServer.password)
        // Another run of this test may be at it.
        try connection.run("SELECT pg_advisory_lock(1)")
        if try connection.run("SELECT FROM pg_roles WHERE rolname = $1", [.text(user)]).count == 0 {
            try connection.run("CREATE ROLE \(user) LOGIN PASSWORD '\(password)'")
        }
        let written = "open%3Asesame%2F7"
        let place = "127.0.0.1:\(server.port)/postgres"
        let address = try PostgreSQLAddress(parsing: "postgres://\(user):\(written)@\(place)")
        let guarded = try PostgreSQLConnection(address, abandonment: Abandonment())
        #expect(try guarded.run("SELECT session_user::text").text(0, 0) == user)
        #expect(address.description == "postgres://\(user)@\(place)")

        let wrong = try PostgreSQLAddress(parsing: "postgres://\(user):sesame8@\(place)")
        let error = #expect(throws: PostgreSQLError.self) {
            try PostgreSQLConnection(wrong, abandonment: Abandonment())
        }
        #expect(error?.code == .notConnected)
        #expect(error?.message.contains("password authentication failed") == true)
        #expect(error?.message.contains("sesame8") == false)
    }
}

extension PostgreSQLConnection {
    /// Whether another connection is at a statement.
    func isRunning(_ pid: Int64) throws -> Bool {
        try run(
            "SELECT FROM pg_stat_activity WHERE pid = $1 AND state = 'active' AND wait_event = 'PgSleep'",
            [.int(pid)]
        ).count == 1
    }
}

/// A port where nobody accepts connections.
private final class SilentListener {
    let port: Int
    private var sockets: [Int32]

    init(backlog: Int32) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        sockets = [listener]
        var address = loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) | listen(listener, backlog)
                    | getsockname(listener, $0, &length)
            }
        }
        port = Int(in_port_t(bigEndian: address.sin_port))
        try #require(result == 0)
    }

    deinit { for socket in sockets { close(socket) } }

    /// Takes the places for connections that wait to be accepted: the system drops what others send.
    func fill() throws {
        while true {
            let client = socket(
                AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            sockets.append(client)
            var address = loopback(port)
            _ = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            // On loopback it is connected at once, or not at all.
            var wanted = pollfd(fd: client, events: Int16(POLLOUT), revents: 0)
            if poll(&wanted, 1, 200) == 0 { return }
            try #require(sockets.count < 16)
        }
    }
}
