import ArgumentParser
import Console
import RelayServer
import SharedJournal

/// The options of a server that shares a journal with others.
struct ClusterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Share the log with other servers, in a PostgreSQL database: postgres://USER@HOST/DB. --data is this \
            server's copy of it.
            """, valueName: "url"))
    var journal: String?

    @Option(
        help: ArgumentHelp(
            "With --journal: the server's name, which no other has. (default: HOST:PORT of --advertise)",
            valueName: "name"))
    var node: String?

    @Option(
        help: ArgumentHelp(
            """
            With --journal: where the other servers reach this one, ws://HOST:PORT or wss://HOST:PORT. (default: \
            the address that it listens on)
            """, valueName: "url"))
    var advertise: String?

    @Option(
        help: ArgumentHelp(
            """
            With --journal: /readyz answers 503 while this server is more events behind the others. (default: 1000)
            """, valueName: "events"))
    var maxLag: Int?

    /// - Parameters:
    ///   - copy: the directory of the server's copy; nil if everything is to be in memory.
    ///   - onFailure: told why the server cannot go on.
    /// - Returns: nil if there is no journal.
    func storage(
        copy: String?, hasDurability: Bool, _ settings: Settings,
        onFailure: @escaping @Sendable (String) -> Void
    ) throws -> Server.Storage? {
        let node = try settings.given(node, "node")
        let advertised = try settings.given(advertise, "advertise")
        let maxLag = try maxLag ?? settings.number("max-lag")
        guard let url = try settings.given(journal, "journal") else {
            guard node == nil, advertised == nil, maxLag == nil else {
                throw ValidationError("--node, --advertise and --max-lag need --journal.")
            }
            return nil
        }
        guard let copy else {
            throw ValidationError("--memory and --journal exclude each other.")
        }
        if hasDurability {
            throw ValidationError(
                "--durability and --journal exclude each other: every mutation is answered after PostgreSQL's sync."
            )
        }
        guard let lag = UInt64(exactly: maxLag ?? 1_000) else {
            throw ValidationError("--max-lag must not be negative.")
        }
        do {
            return try .journal(
                url, copy: copy, node: node, advertised: advertised, maxLag: lag,
                onFailure: onFailure)
        } catch let error as ConfigurationError {
            throw ValidationError("\(error)")
        } catch let error as SharedJournalError where error.code == .address {
            throw ValidationError("--journal: \(error)")
        }
    }
}
