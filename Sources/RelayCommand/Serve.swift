import ArgumentParser
import EventLog
import EventStore
import Foundation
import Logging
import RelayServer

/// `relay serve`: a schema, served from a log.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve a GraphQL schema from an append-only log.",
        discussion: """
            Prints "listening on ws://HOST:PORT/graphql" when clients can come. SIGTERM and SIGINT \
            stop it in order. Every option can be given in the environment as well: --data as \
            RELAY_DATA, --allow-origin as RELAY_ALLOW_ORIGIN; lists are separated by commas.
            """)

    @Option(help: ArgumentHelp("The schema, in SDL.", valueName: "file"))
    var schema: String?

    @Option(help: ArgumentHelp("Where the log is kept. (default: ./relay-data)", valueName: "dir"))
    var data: String?

    @Flag(help: "Keep the log in memory only.")
    var memory = false

    @Option(help: ArgumentHelp("Records for an empty log, one a line.", valueName: "file"))
    var seed: String?

    @Option(help: "The address to listen on. (default: 127.0.0.1)")
    var host: String?

    @Option(help: "The port to listen on; 0 takes any that is free. (default: 8080)")
    var port: Int?

    @Option(help: "A token that lets a client in; may be given several times.")
    var token: [String] = []

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

    func run() async throws {
        let settings = Settings(environment: ProcessInfo.processInfo.environment)
        let logger = try makeLogger(settings)
        let configuration = try makeConfiguration(settings)
        let stop = StopSignals()
        let server = try await Server.start(configuration, logger: logger)
        printAtOnce("listening on \(server.url)\n")
        let signal = await stop.first()
        logger.info("Stopping on \(signal).")
        await server.stop()
        logger.info("Stopped.")
    }

    private func makeConfiguration(_ settings: Settings) throws -> Server.Configuration {
        guard let schemaFile = schema ?? settings.text("schema") else {
            throw ValidationError("Missing expected argument '--schema <file>'")
        }
        let isInMemory = try memory || settings.flag("memory")
        var options = EventStoreOptions()
        options.log.durability = try settings.choice(durability, "durability", default: .always)
        let storage: Server.Storage =
            isInMemory
            ? .memory : .directory(data ?? settings.text("data") ?? "relay-data", options)
        if isInMemory, data != nil {
            throw ValidationError("--memory and --data exclude each other.")
        }
        var configuration = Server.Configuration(
            schema: String(decoding: try readFile(schemaFile, "schema"), as: UTF8.self),
            schemaName: schemaFile, storage: storage)
        if let seedFile = seed ?? settings.text("seed") {
            configuration.seed = try readFile(seedFile, "seed")
        }
        configuration.host = host ?? settings.text("host") ?? configuration.host
        configuration.port = try port ?? settings.number("port") ?? configuration.port
        guard 0...65_535 ~= configuration.port else {
            throw ValidationError("--port must be from 0 to 65535, not \(configuration.port).")
        }
        configuration.tokens = token.isEmpty ? settings.list("token") : token
        return configuration
    }

    private func makeLogger(_ settings: Settings) throws -> Logger {
        let level: Logger.Level = try settings.choice(logLevel, "log-level", default: .info)
        let format: LogFormat = try settings.choice(logFormat, "log-format", default: .text)
        return Logger(label: "relay") { _ in LineLogHandler(format: format, logLevel: level) }
    }
}

/// Options that were given in the environment: `--allow-origin` as `RELAY_ALLOW_ORIGIN`.
struct Settings {
    let environment: [String: String]

    func text(_ option: String) -> String? {
        let value = environment[name(option)]
        return value?.isEmpty == true ? nil : value
    }

    func list(_ option: String) -> [String] {
        (text(option) ?? "").split(separator: ",").map(String.init)
    }

    func number(_ option: String) throws -> Int? {
        guard let text = text(option) else { return nil }
        guard let number = Int(text) else {
            throw ValidationError("\(name(option)) must be a whole number, not \"\(text)\".")
        }
        return number
    }

    func flag(_ option: String) throws -> Bool {
        switch text(option)?.lowercased() {
        case nil, "0", "false", "no": return false
        case "1", "true", "yes": return true
        case let other?:
            throw ValidationError("\(name(option)) must be true or false, not \"\(other)\".")
        }
    }

    /// One of a closed set of words, given as an option or in the environment.
    func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ given: String?, _ option: String, default fallback: Choice
    ) throws -> Choice {
        guard let text = given ?? text(option) else { return fallback }
        guard let choice = Choice(rawValue: text) else {
            let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--\(option) must be one of \(choices), not \"\(text)\".")
        }
        return choice
    }

    private func name(_ option: String) -> String {
        "RELAY_" + option.uppercased().replacing("-", with: "_")
    }
}
