import Foundation
import LoopbackPorts
package import PostgreSQL
package import Testing
import Threads

/// A PostgreSQL of a test's own: its files in a temporary directory, its port on loopback, `fsync` on as ever.
///
/// It ends with its last reference, and with the process that runs the tests, however that ends.
package final class PostgreSQLServer: Sendable {
    package static let user = "relay"
    /// One that has to say ``password``.
    package static let guardedUser = "guarded"
    package static let password = "open:sesame/7"

    package let port: Int
    private let reserved: ReservedPort
    private let directory: URL
    private let settings: [String: String]
    private let process = Lock<Process?>(nil)

    /// For suites that do nothing to the server but ask it. Every test takes a schema of its own.
    package static let shared = Result { try PostgreSQLServer() }

    /// Starts one, with settings beside the usual.
    package init(_ settings: [String: String] = [:]) throws {
        let installation = try PostgreSQLInstallation.shared.get()
        reserved = try ReservedPort()
        port = reserved.number
        directory = try installation.copyTemplate()
        self.settings = settings
        try start()
    }

    deinit { end(SIGQUIT) }

    package var address: PostgreSQLAddress { get throws { try PostgreSQLAddress(parsing: url()) } }

    /// The journal's address, in a schema.
    package func url(schema: String? = nil, port: Int? = nil) -> String {
        "postgres://\(Self.user)@127.0.0.1:\(port ?? self.port)/postgres"
            + (schema.map { "?schema=\($0)" } ?? "")
    }

    /// A schema that no other test uses.
    package static func newSchema() -> String {
        "test_" + UUID().uuidString.lowercased().replacing("-", with: "")
    }

    /// Starts it again, on the same port and the same files.
    package func start() throws {
        let installation = try PostgreSQLInstallation.shared.get()
        var arguments = [
            "-D", directory.path, "-p", "\(port)", "-h", "127.0.0.1", "-k", directory.path,
        ]
        for (name, value) in settings { arguments += ["-c", "\(name)=\(value)"] }
        let process = try installation.spawn("postgres", arguments)
        self.process.withLock { $0 = process }
        // Ready is when it lets somebody in.
        let deadline = ContinuousClock.now + .seconds(60)
        let abandonment = try Abandonment()
        while true {
            do {
                _ = try PostgreSQLConnection(address, abandonment: abandonment)
                return
            } catch  where ContinuousClock.now < deadline && process.isRunning {
                _ = abandonment.sleep(for: .milliseconds(20))
            }
        }
    }

    /// Fast shutdown: clients are cut off, nothing is lost.
    package func stop() { end(SIGINT) }

    /// As a crash of the machine would, except that its memory is still the kernel's: the postmaster and its
    /// processes end at once. Nothing is carried out any more when this returns.
    package func crash() {
        guard let process = process.withLock({ $0 }) else { return }
        let postmaster = process.processIdentifier
        // Those that are left alone would finish what they are at before they notice.
        kill(postmaster, SIGSTOP)
        let children = try? String(
            contentsOfFile: "/proc/\(postmaster)/task/\(postmaster)/children", encoding: .utf8)
        kill(postmaster, SIGKILL)
        for child in children?.split(separator: " ").compactMap({ pid_t($0) }) ?? [] {
            kill(child, SIGKILL)
        }
        end(SIGKILL)
    }

    private func end(_ signal: Int32) {
        guard let process = process.withLock({ $0.take() }) else { return }
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
    }

    /// Has commits wait for a standby that never comes, until ``endWaitForStandby()``.
    package func waitForStandby() throws {
        let connection = try connect()
        try connection.run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try connection.run("SELECT pg_reload_conf()")
        // One of the server's processes tells the others, when it gets to it: only a commit that waits shows that it has.
        var timeouts = PostgreSQLTimeouts()
        timeouts.statement = .milliseconds(100)
        for _ in 0..<100 {
            let probe = try PostgreSQLConnection(
                address, timeouts: timeouts, abandonment: Abandonment())
            let pid = try probe.run("SELECT pg_backend_pid()::bigint").int(0, 0)
            // If it waits, that is given up.
            _ = try? probe.run("SELECT pg_logical_emit_message(true, '', '')")
            let waiting = try connection.run(
                "SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'SyncRep'",
                [.int(pid)])
            try connection.run("SELECT pg_terminate_backend($1::int, 10000)", [.int(pid)])
            if waiting.count == 1 { return }
        }
        throw NoPostgreSQL()
    }

    package func endWaitForStandby() throws {
        let connection = try connect()
        try connection.run("ALTER SYSTEM RESET synchronous_standby_names")
        try connection.run("SELECT pg_reload_conf()")
    }

    /// A connection with no settings of ours, for what a test does to the server.
    package func connect() throws -> PostgreSQLConnection {
        try PostgreSQLConnection(address, abandonment: Abandonment())
    }
}

extension Trait where Self == ConditionTrait {
    /// For suites that start PostgreSQL. Without it they are skipped, and standard error says so.
    package static var needsPostgreSQL: Self {
        .enabled(if: PostgreSQLInstallation.isThere, "PostgreSQL is not installed")
    }
}
