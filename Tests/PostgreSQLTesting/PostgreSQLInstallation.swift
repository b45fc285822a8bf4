import Foundation
import Threads

/// PostgreSQL's programs on this machine, and a directory of data that was initialized once and is copied for each
/// server.
final class PostgreSQLInstallation: Sendable {
    /// Of this process, or why there is none.
    static let shared = Result { try PostgreSQLInstallation() }

    static let isThere: Bool = {
        let isThere = newestBinaries() != nil
        if !isThere {
            let text = """

                *** SKIPPED: the tests of the PostgreSQL journal. There is no PostgreSQL on this machine; \
                script/setup test installs it. ***


                """
            FileHandle.standardError.write(Data(text.utf8))
        }
        return isThere
    }()

    private let binaries: String
    private let root: URL
    private let template: URL
    private let copies = Lock(0)
    /// Removes everything when its input ends, and that is when this process does.
    private let reaper: Process
    private let reaperInput: FileHandle

    /// Debian's places, newest first, then the search path.
    private static func newestBinaries() -> String? {
        let debian = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []
        let paths = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        let candidates =
            versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(debian)/\($0)/bin" }
            + paths.map(String.init)
        return candidates.first {
            FileManager.default.isExecutableFile(atPath: $0 + "/postgres")
                && FileManager.default.isExecutableFile(atPath: $0 + "/initdb")
        }
    }

    private init() throws {
        guard let binaries = Self.newestBinaries() else { throw NoPostgreSQL() }
        self.binaries = binaries
        root = URL(fileURLWithPath: "/tmp/relay-postgresql-\(UUID().uuidString)")
        template = root.appendingPathComponent("template")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        (reaper, reaperInput) = try Self.startReaper(root)
        // PostgreSQL does not run as root.
        if getuid() == 0 {
            guard let user = getpwnam("postgres") else { throw NoPostgreSQL() }
            guard chown(root.path, user.pointee.pw_uid, user.pointee.pw_gid) == 0 else {
                throw NoPostgreSQL()
            }
        }
        let password = root.appendingPathComponent("password")
        try Data("\n".utf8).write(to: password)
        // What is not synced here is synced by the servers: they run with fsync.
        try run(
            "initdb",
            [
                "-D", template.path, "-U", PostgreSQLServer.user, "-A", "trust", "-E", "UTF8",
                "--locale=C.UTF-8", "--no-sync",
            ])
        let access = """
            host all \(PostgreSQLServer.guardedUser) 127.0.0.1/32 scram-sha-256
            host all \(PostgreSQLServer.user) 127.0.0.1/32 trust
            local all all trust

            """
        try write(access, to: "pg_hba.conf")
        let settings = """
            fsync = on
            full_page_writes = on
            max_connections = 60
            shared_buffers = 16MB
            autovacuum_naptime = 5s
            log_min_messages = fatal

            """
        try write(settings, to: "postgresql.auto.conf")
    }

    private func write(_ text: String, to name: String) throws {
        let file = template.appendingPathComponent(name)
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }

    private static func startReaper(_ root: URL) throws -> (Process, FileHandle) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw NoPostgreSQL() }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let reaper = Process()
        reaper.executableURL = URL(fileURLWithPath: "/bin/sh")
        let script = """
            cat >/dev/null
            for file in "$1"/*/postmaster.pid; do
                [ -f "$file" ] && kill -QUIT "$(head -n 1 "$file")"
            done
            for try in 1 2 3 4 5 6 7 8 9 10; do
                rm -rf "$1" && exit
                sleep 0.2
            done
            """
        reaper.arguments = ["-c", script, "sh", root.path]
        let input = FileHandle(fileDescriptor: ends[0], closeOnDealloc: false)
        reaper.standardInput = input
        try reaper.run()
        close(ends[0])
        return (reaper, FileHandle(fileDescriptor: ends[1], closeOnDealloc: true))
    }

    /// A directory for one server.
    func copyTemplate() throws -> URL {
        let number = copies.withLock { count in
            count += 1
            return count
        }
        let copy = root.appendingPathComponent("server-\(number)")
        let process = try spawn("/bin/cp", ["-a", template.path, copy.path])
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw NoPostgreSQL() }
        return copy
    }

    private func run(_ program: String, _ arguments: [String]) throws {
        let process = try spawn(program, arguments)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw NoPostgreSQL() }
    }

    /// Starts one of PostgreSQL's programs, or another by its path, as a user who may run it.
    func spawn(_ program: String, _ arguments: [String]) throws -> Process {
        let path = program.hasPrefix("/") ? program : binaries + "/" + program
        let process = Process()
        var command = [path] + arguments
        if getuid() == 0 {
            command =
                ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
                + command
        }
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.currentDirectoryURL = root
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        if ProcessInfo.processInfo.environment["RELAY_POSTGRESQL_LOG"] == nil {
            process.standardError = FileHandle.nullDevice
        }
        try process.run()
        return process
    }
}

struct NoPostgreSQL: Error, CustomStringConvertible {
    let description = "PostgreSQL could not be started; RELAY_POSTGRESQL_LOG=1 shows what it says"
}
