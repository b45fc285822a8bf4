import ArgumentParser
import Console
import EventStore
import Logging
import RelayServer

/// How a recorded history is served.
struct ServingOptions: ParsableArguments {
    @Flag(
        help: """
            Serve the history to clients as it happened, in real time, from the point on or from \
            the beginning. Prints "listening on ws://HOST:PORT/graphql"; the first client's first \
            request starts the clock. Mutations are refused. With --step each Enter on standard \
            input plays one event.
            """)
    var serve = false

    @Option(help: "Playback speed: 2 is twice as fast, 0.5 half. (default: 1)")
    var speed: Double?

    @Option(
        help: ArgumentHelp(
            "The longest pause between two events: 2s, 1m.", valueName: "duration"))
    var longestPause: String?

    @Flag(help: "Do not wait for a client: start the clock at once.")
    var now = false

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 picks a free one.")
    var port = 8080

    @Option(help: "A token that clients may use; may be given several times.")
    var token: [String] = []

    @Flag(help: "Without --token: serve everybody, also on an address that others can reach.")
    var open = false

    @Option(
        help: ArgumentHelp(
            "Without --token: a name by which clients may call this server; may be given several times.",
            valueName: "name"))
    var allowHost: [String] = []

    @Flag(
        inversion: .prefixedNo,
        help: "Serve the explorer at /. (default: on loopback addresses only)")
    var explorer: Bool?

    func validate() throws {
        if let speed, !(speed > 0 && speed.isFinite) {
            throw ValidationError("--speed must be a number greater than 0.")
        }
        guard 0...65_535 ~= port else {
            throw ValidationError("--port must be from 0 to 65535, not \(port).")
        }
        if token.contains("") {
            throw ValidationError("--token must not be empty: that would let everyone in.")
        }
        _ = try makePace()
        if !serve, speed != nil || longestPause != nil || now {
            throw ValidationError("--speed, --longest-pause and --now need --serve.")
        }
    }

    func makePace() throws -> ReplayServer.Pace {
        var pace = ReplayServer.Pace()
        if let speed { pace.speed = speed }
        if let longestPause {
            guard let pause = HistoryPoint.microseconds(ofDuration: longestPause) else {
                throw ValidationError("--longest-pause must be a duration such as 2s or 1m30s.")
            }
            pace.longestPause = .microseconds(pause)
        }
        return pace
    }
}

/// Serves a recorded history until SIGINT or SIGTERM.
struct ServedReplay {
    private let options: ServingOptions
    private let isStepped: Bool
    /// How an event that was let happen is printed.
    private let form: SummaryForm

    init(_ options: ServingOptions, isStepped: Bool, form: SummaryForm) {
        self.options = options
        self.isStepped = isStepped
        self.form = form
    }

    /// - Parameter start: the event after which to begin.
    func run(_ history: History, from start: UInt64) async throws {
        let logger = Logger(label: "relay") { _ in
            LineLogHandler(format: .text, logLevel: .warning)
        }
        var configuration = ReplayServer.Configuration(start: start)
        configuration.host = options.host
        configuration.port = options.port
        configuration.tokens = options.token
        configuration.isOpen = options.open
        configuration.allowedHosts = options.allowHost
        configuration.explorer = options.explorer
        let pace = try options.makePace()
        let stop = StopSignals()
        let server = try await ReplayServer.start(history, configuration, logger: logger)
        printAtOnce("listening on \(server.url)\n")
        let (isStepped, form, waits, end) = (isStepped, form, !options.now, stop.end)
        let playing = Task { () -> (any Error)? in
            do {
                if isStepped {
                    try await Self.step(server, history, form)
                    end()
                } else {
                    try await Self.play(server, history, pace, waitsForClient: waits)
                }
                return nil
            } catch {
                end()
                return error
            }
        }
        _ = await stop.first()
        playing.cancel()
        let error = await playing.value
        await server.stop()
        if let error, !(error is CancellationError) { throw error }
    }

    private static func play(
        _ server: ReplayServer, _ history: History, _ pace: ReplayServer.Pace,
        waitsForClient: Bool
    ) async throws {
        while waitsForClient, !server.hasClients { try await Task.sleep(for: .milliseconds(10)) }
        let start = server.sequence
        let progress = ProgressBar("Replaying")
        try await server.play(pace) { progress.show($0 - start, of: server.end - start) }
        ProgressBar.clear()
        sayTheEnd(server, history, "Clients are served until Ctrl-C.")
    }

    /// Says that no event follows, and, if that is because of damage, where the history continues.
    private static func sayTheEnd(
        _ server: ReplayServer, _ history: History, _ rest: String? = nil
    ) {
        let last = server.sequence
        var sentences = ["Event \(last) was the last."]
        if last < server.end {
            sentences = ["Event \(last) was the last that can be played: the next is damaged."]
            if let next = try? history.nextState(after: last) {
                sentences.append("--at \(next) starts after the damage.")
            }
        }
        complain((sentences + [rest].compactMap(\.self)).joined(separator: " "))
    }

    /// Lets an event happen for each line that comes, until the input ends or says q.
    private static func step(
        _ server: ReplayServer, _ history: History, _ form: SummaryForm
    ) async throws {
        if StandardStream.input.isTerminal {
            complain("Enter plays the next event; q and Enter, or Ctrl-D, ends.")
        }
        for await line in inputLines() {
            if ["q", "quit"].contains(line) { return }
            if let event = try await server.step() {
                printAtOnce(form.text(of: event) + "\n")
            } else {
                sayTheEnd(server, history)
            }
        }
    }
}
