import ArgumentParser
import Console
import EventLog
import EventStore
import Logging
import RelayServer

/// `relay serve`: a schema, served from a log.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve a GraphQL schema from an append-only log.",
        discussion: """
            Prints "listening on ws://HOST:PORT/graphql" when clients can connect. SIGTERM and \
            SIGINT shut it down gracefully. Every option can also be set in the environment: \
            --data as RELAY_DATA, --allow-origin as RELAY_ALLOW_ORIGIN; lists are separated by \
            commas.
            """)

    @Option(
        help: ArgumentHelp(
            "The schema, in SDL; may be given several times: all files together are the schema.",
            valueName: "file"))
    var schema: [String] = []

    @Option(help: ArgumentHelp("Where the log is kept. (default: ./relay-data)", valueName: "dir"))
    var data: String?

    @Flag(help: "Keep the log in memory only.")
    var memory = false

    @OptionGroup(title: "Several servers") var cluster: ClusterOptions

    @Option(help: ArgumentHelp("Records for an empty log, one per line.", valueName: "file"))
    var seed: String?

    @Option(help: "The address to listen on. (default: 127.0.0.1)")
    var host: String?

    @Option(help: "The port to listen on; 0 picks a free one. (default: 8080)")
    var port: Int?

    @Option(
        help: ArgumentHelp(
            "Threads that serve connections. (default: as many as processors, at most 4)",
            valueName: "n"))
    var loops: Int?

    @Option(
        help: ArgumentHelp(
            "Whoever shows this token may do everything; may be given several times.",
            valueName: "secret"))
    var token: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Whoever shows this token is that viewer; may be given several times.
            """, valueName: "name=secret"))
    var tokenFor: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Keys for JSON Web Tokens, as a JWK Set or PEM: whoever shows a token that one of them has \
            signed is the viewer that it names. A file is read again when it has changed; from a \
            https:// URL they are fetched again now and then, and when a token names an unknown one.
            """, valueName: "file|url"))
    var jwtKeys: String?

    @Option(help: "What \"iss\" of a JSON Web Token must be.")
    var jwtIssuer: String?

    @Option(help: "What \"aud\" of a JSON Web Token must be, or contain.")
    var jwtAudience: String?

    @Option(
        help: ArgumentHelp(
            "The claim of a JSON Web Token that is the viewer's id. (default: sub)",
            valueName: "claim"))
    var jwtViewer: String?

    @Option(
        help: ArgumentHelp(
            "By how much clocks may be wrong where JSON Web Tokens are checked. (default: 30s)",
            valueName: "duration"))
    var jwtLeeway: String?

    @Option(
        help: ArgumentHelp(
            """
            Viewers with this claim may see the whole history (/log/…), whatever the rules say, as clients with \
            a --token may.
            """, valueName: "claim"))
    var historyClaim: String?

    @Flag(
        help: """
            Without tokens: serve everybody, also on an address that other machines can reach.
            """)
    var open = false

    @Option(
        help: ArgumentHelp(
            """
            Without tokens: a name by which clients may call this server, besides localhost and, \
            with --open, names for private use; * allows any. May be given several times.
            """, valueName: "name"))
    var allowHost: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Web pages of this origin may use the server; may be given several times, * means all. \
            (default: those of the same host)
            """, valueName: "origin"))
    var allowOrigin: [String] = []

    @Flag(
        inversion: .prefixedNo,
        help: """
            Serve the explorer at /: a page to look at schema, data and history with. (default: on loopback \
            addresses only)
            """)
    var explorer: Bool?

    @Option(help: ArgumentHelp("The server's certificate chain, as PEM.", valueName: "file"))
    var tlsCert: String?

    @Option(help: ArgumentHelp("The private key of --tls-cert, as PEM.", valueName: "file"))
    var tlsKey: String?

    @Option(
        help: ArgumentHelp(
            "Persisted operations: a JSON object from ids to documents.", valueName: "file"))
    var persisted: String?

    @Flag(help: "Run persisted operations only.")
    var persistedOnly = false

    @Option(
        help: """
            When a mutation is answered: always (after its sync to disk), batch (before; synced in \
            the background), none (never synced). (default: always)
            """)
    var durability: String?

    @Option(help: "trace, debug, info, notice, warning, error or critical. (default: info)")
    var logLevel: String?

    @Option(help: "text or json. (default: text)")
    var logFormat: String?

    @OptionGroup(title: "Limits") var limits: LimitOptions

    func run() async throws {
        let settings = Settings()
        let logger = try makeLogger(settings)
        let stop = StopSignals()
        let configuration = try makeConfiguration(settings, onFreeze: stop.fail)
        let server = try await Server.start(configuration, logger: logger)
        if let page = server.explorerURL { logger.info("The explorer is at \(page)") }
        printAtOnce("listening on \(server.url)\n")
        let reason = await stop.first()
        switch reason {
        case .signal(let name): logger.info("Stopping on \(name).")
        case .failure(let message): logger.critical("Stopping: \(message)")
        case .done: break
        }
        await server.stop()
        logger.info("Stopped.")
        // The last write, or sync, may have been the one that failed.
        if let failure = stop.failure { throw CommandFailure(failure) }
    }

    /// - Parameter onFreeze: called when a failed write or sync has frozen the log; what is acknowledged is
    ///   safe, and nothing more can be.
    private func makeConfiguration(
        _ settings: Settings, onFreeze: @escaping @Sendable (String) -> Void
    ) throws -> Server.Configuration {
        let schemaFiles = schema.isEmpty ? settings.list("schema") : schema
        guard let schemaFile = schemaFiles.first else {
            throw ValidationError("Missing expected argument '--schema <file>'")
        }
        let storage = try makeStorage(settings, onFreeze: onFreeze)
        let tls = try tlsFiles(settings)
        let origins = try makeOrigins(settings)
        let persisted = try persistedOperations(settings)
        var configuration = Server.Configuration(
            schema: try readText(schemaFile, "schema"),
            schemaName: schemaFile, storage: storage)
        for file in schemaFiles.dropFirst() {
            configuration.add(schema: try readText(file, "schema"), name: file)
        }
        if let seedFile = seed ?? settings.text("seed") {
            configuration.seed = try readFile(seedFile, "seed")
            configuration.seedName = seedFile
        }
        configuration.host = host ?? settings.text("host") ?? configuration.host
        configuration.port = try port ?? settings.number("port") ?? configuration.port
        guard 0...65_535 ~= configuration.port else {
            throw ValidationError("--port must be from 0 to 65535, not \(configuration.port).")
        }
        configuration.loops = try loops ?? settings.number("loops") ?? configuration.loops
        guard 1...64 ~= configuration.loops else {
            throw ValidationError("--loops must be from 1 to 64, not \(configuration.loops).")
        }
        if let tls {
            configuration.useTLS(certificateFile: tls.certificate, keyFile: tls.key)
        }
        configuration.tokens = try tokens(settings)
        configuration.viewerTokens = try viewerTokens(settings)
        configuration.webTokens = try webTokens(settings)
        configuration.historyClaim = try settings.given(historyClaim, "history-claim")
        configuration.isOpen = try open || settings.flag("open")
        configuration.allowedHosts = try allowedHosts(settings)
        configuration.explorer = try explorer ?? settings.flagIfGiven("explorer")
        configuration.allow(origins: origins)
        if let (documents, isExclusive) = persisted {
            configuration.usePersistedOperations(documents, isExclusive: isExclusive)
        }
        try limits.apply(to: &configuration.limits, settings)
        configuration.echoes = try settings.flag("ws-echo")
        return configuration
    }

    /// A list that is empty by mistake would be taken for none.
    private func allowedHosts(_ settings: Settings) throws -> [String] {
        let names = allowHost.isEmpty ? settings.elements("allow-host") : allowHost
        if names.contains("") {
            throw ValidationError("--allow-host and RELAY_ALLOW_HOST must not be empty.")
        }
        return names
    }

    /// An empty token would let everyone in; a variable that is set and empty is meant to hold one.
    private func tokens(_ settings: Settings) throws -> [String] {
        if token.contains("") { throw ValidationError("--token must not be empty.") }
        if !token.isEmpty { return token }
        let tokens = settings.elements("token")
        guard !tokens.contains("") else {
            throw ValidationError(
                """
                RELAY_TOKEN is set and holds an empty token, which would let everyone in. Unset it to serve without tokens.
                """)
        }
        return tokens
    }

    private func viewerTokens(_ settings: Settings) throws -> [Server.ViewerToken] {
        let given = tokenFor.isEmpty ? settings.elements("token-for") : tokenFor
        return try given.map { text in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                // It may be a secret, so it is not printed.
                throw ValidationError(
                    "Each --token-for (RELAY_TOKEN_FOR) is NAME=SECRET, and neither is empty.")
            }
            return Server.ViewerToken(viewer: String(parts[0]), token: String(parts[1]))
        }
    }

    private func webTokens(_ settings: Settings) throws -> Server.WebTokenOptions? {
        let issuer = try settings.given(jwtIssuer, "jwt-issuer")
        let audience = try settings.given(jwtAudience, "jwt-audience")
        let viewer = try settings.given(jwtViewer, "jwt-viewer")
        let leeway = try settings.given(jwtLeeway, "jwt-leeway")
        guard let keys = try settings.given(jwtKeys, "jwt-keys") else {
            guard [issuer, audience, viewer, leeway].allSatisfy({ $0 == nil }) else {
                throw ValidationError(
                    "--jwt-issuer, --jwt-audience, --jwt-viewer and --jwt-leeway need --jwt-keys.")
            }
            return nil
        }
        // What is given in place of a file may be secret, and is not printed.
        let isName =
            keys.contains("/") || keys.contains(".") || (try? readFile(keys, "keys")) != nil
        if keys.contains("{") || keys.contains("-----BEGIN") || !isName {
            throw ValidationError(
                "--jwt-keys (RELAY_JWT_KEYS) is the name of a file with keys, or their URL.")
        }
        let isURL = keys.contains("://")
        if isURL {
            do { _ = try KeyAddress(keys) } catch {
                throw ValidationError("--jwt-keys (RELAY_JWT_KEYS): \(error).")
            }
        }
        var options =
            isURL
            ? Server.WebTokenOptions(keysURL: keys) : Server.WebTokenOptions(keysFile: keys)
        options.issuer = issuer
        options.audience = audience
        if let viewer { options.viewerClaim = viewer }
        if let leeway {
            guard let time = HistoryPoint.microseconds(ofDuration: leeway) else {
                throw ValidationError("--jwt-leeway must be a duration such as 30s or 1m.")
            }
            options.leeway = .microseconds(time)
        }
        return options
    }

    private func makeStorage(
        _ settings: Settings, onFreeze: @escaping @Sendable (String) -> Void
    ) throws -> Server.Storage {
        if memory, data != nil {
            throw ValidationError("--memory and --data exclude each other.")
        }
        // What is given on the command line counts more than what the environment says.
        let isInMemory = try memory || data == nil && settings.flag("memory")
        let directory = data ?? (memory ? nil : settings.text("data"))
        if isInMemory, directory != nil {
            throw ValidationError("RELAY_MEMORY and RELAY_DATA exclude each other.")
        }
        if isInMemory, durability != nil {
            throw ValidationError("--memory and --durability exclude each other.")
        }
        let copy = isInMemory ? nil : directory ?? "relay-data"
        if let storage = try cluster.storage(
            copy: copy, hasDurability: durability != nil, settings, onFailure: onFreeze)
        {
            return storage
        }
        var options = EventStoreOptions()
        options.log.durability = try settings.choice(durability, "durability", default: .always)
        options.log.onFreeze = { onFreeze($0.message) }
        return copy.map { .directory($0, options) } ?? .memory
    }

    private func tlsFiles(_ settings: Settings) throws -> (certificate: String, key: String)? {
        // Without TLS, tokens would travel in the clear.
        let certificate = try settings.given(tlsCert, "tls-cert")
        switch (certificate, try settings.given(tlsKey, "tls-key")) {
        case (nil, nil): return nil
        case (let certificate?, let key?): return (certificate, key)
        default: throw ValidationError("--tls-cert and --tls-key need each other.")
        }
    }

    private func makeOrigins(_ settings: Settings) throws -> [String] {
        let origins = allowOrigin.isEmpty ? settings.list("allow-origin") : allowOrigin
        for origin in origins where !OriginPolicy.isOrigin(origin) {
            throw ValidationError(
                "\"\(origin)\" is not an origin; write --allow-origin https://HOST or *.")
        }
        return origins
    }

    private func persistedOperations(
        _ settings: Settings
    ) throws -> (documents: [String: String], isExclusive: Bool)? {
        _ = try settings.given(nil, "persisted-only")
        let isExclusive = try persistedOnly || settings.flag("persisted-only")
        guard let file = persisted ?? settings.text("persisted") else {
            if isExclusive { throw ValidationError("--persisted-only needs --persisted.") }
            return nil
        }
        let bytes = try readFile(file, "persisted operations")
        do throws(PersistedFileError) {
            return (try PersistedFile.read(bytes), isExclusive)
        } catch {
            throw CommandFailure("Could not read the persisted operations in \(file). \(error)")
        }
    }

    private func makeLogger(_ settings: Settings) throws -> Logger {
        let level: Logger.Level = try settings.choice(logLevel, "log-level", default: .info)
        let format: LogFormat = try settings.choice(logFormat, "log-format", default: .text)
        return Logger(label: "relay") { _ in LineLogHandler(format: format, logLevel: level) }
    }
}
