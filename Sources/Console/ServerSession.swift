package import GraphQLLanguage
import RelayArtifacts
package import RelayJSON
package import RelayLink
import Threads
package import WebSocketIO

/// What a command has to do with a server, over one connection after the other: the next one is made when one breaks
/// off, and operations go on over it. Each outage is a line for the user.
package struct ServerSession: Sendable {
    private let loop: IOLoop
    private let link: SocketLink
    /// What the server tells of its log, if it is one of ours.
    package let history: HistoryClient
    private let ending: FirstValue<TransportError>
    private let ids = MutationIDs()

    /// Results of an operation that wait to be read, and their bytes. Beyond either, a stream is resumed later if the
    /// server can do that, and fails otherwise.
    private static let capacity = 16_384
    private static let byteCapacity = 64 << 20

    /// Connects, and returns once the server has acknowledged.
    /// - Parameter note: what a line for the user is given to.
    /// - Throws: why there is no connection; there is no retry.
    package static func connect(
        _ server: ServerOptions, _ url: String,
        note: @escaping @Sendable (String) -> Void = { complain($0) }
    ) async throws -> ServerSession {
        let address = try ServerAddress(argument: url)
        let opening = FirstValue<TransportError?>()
        let outages = Outages(note)
        let session = try ServerSession(
            address, token: server.resolvedToken, authorityFile: server.ca, lifetime: .session,
            retry: aboutHalfAMinute,
            report: { event in
                if case .connected = event { opening.give(nil) }
                outages.report(event)
            }, ended: { opening.give($0) })
        let failure = await opening.value(ifCancelled: .stopped("connect to \(address)"))
        if let failure {
            await session.close()
            throw failure
        }
        return session
    }

    /// Begins to connect, again and again for as long as it takes.
    /// - Parameters:
    ///   - authorityFile: certificates to verify the server with, as PEM.
    ///   - retry: how long it waits between two attempts.
    ///   - report: told what happens to the connection, on the session's thread.
    package static func open(
        _ address: ServerAddress, token: String?, authorityFile: String?,
        retry: RetryPolicy = RetryPolicy(maximumDelay: .seconds(5)),
        report: @escaping @Sendable (NetworkEvent) -> Void
    ) throws -> ServerSession {
        try ServerSession(
            address, token: token, authorityFile: authorityFile, lifetime: .whileRunning,
            retry: retry, report: report)
    }

    private static let aboutHalfAMinute = RetryPolicy(
        maximumDelay: .seconds(5), maximumAttempts: 10)

    private init(
        _ address: ServerAddress, token: String?, authorityFile: String?,
        lifetime: LinkOptions.Lifetime, retry: RetryPolicy,
        report: @escaping @Sendable (NetworkEvent) -> Void,
        ended: @escaping @Sendable (TransportError) -> Void = { _ in }
    ) throws {
        let ending = FirstValue<TransportError>()
        var outside = SocketLink.Outside(
            tokens: token.map { .constant($0) },
            socket: WebSocketClient.Options(
                subprotocols: ["graphql-transport-ws"], authorityFile: authorityFile))
        outside.report = report
        outside.ended = { error in
            ended(error)
            ending.give(error)
        }
        var options = LinkOptions()
        options.lifetime = lifetime
        options.idleTimeout = nil
        options.asksForTokens = outside.tokens != nil
        options.retry = retry
        options.queryAttempts = .max
        // What is typed in order is sent in order; how much is too much, the server says.
        options.maximumMutationsInFlight = .max
        options.maximumOperations = .max
        loop = try IOLoop.start()
        self.ending = ending
        history = HistoryClient(address, token: token, ca: authorityFile, on: loop)
        link = SocketLink(to: address, options, outside, on: loop)
        link.open()
    }

    /// Starts an operation.
    ///
    /// - Parameters:
    ///   - parameters: `query`, and perhaps `operationName` and `variables`.
    ///   - title: what errors call it; nil: its name.
    ///   - relay: the members of `extensions.relay`.
    ///   - namesMutation: whether a mutation has an id. It is then sent again when a connection breaks, which a server
    ///     that does not know such ids may carry out twice. The session is a client whose answers the server keeps, so
    ///     a command for a single operation does without.
    /// - Returns: its results. They throw when it cannot continue.
    package func run(
        _ parameters: JSONObject, called title: String? = nil, relay: JSONObject = [:],
        namesMutation: Bool = false
    ) -> OperationResults {
        let (name, kind) = Self.operation(in: parameters)
        let request = OperationRequest(
            name: title ?? name, kind: kind, parameters: parameters, relay: relay,
            mutationID: namesMutation && kind == .mutation ? ids.next() : nil)
        return OperationResults(
            responses:
                link.begin(request, capacity: Self.capacity, byteCapacity: Self.byteCapacity))
    }

    private static func operation(in parameters: JSONObject) -> (name: String, OperationKind) {
        let name = parameters["operationName"]?.string
        let document = parameters["query"]?.string.flatMap { try? Document(parsing: $0) }
        let operation = document?.operations.first { name == nil || $0.name?.value == name }
        // What cannot be read here may be read there. A mutation is not done twice.
        let kind = operation.flatMap { OperationKind(rawValue: $0.operation.rawValue) } ?? .mutation
        return (name ?? operation?.name?.value ?? "without a name", kind)
    }

    /// Waits until the session has ended, and says why. One task, once.
    package func ended() async -> TransportError {
        await ending.value(ifCancelled: .stopped("go on"))
    }

    /// Says goodbye and ends the session.
    package func close() async {
        await link.end()
        await loop.stop()
    }
}

/// Tells the user of outages: of each once, however often a connection is tried.
private final class Outages: Sendable {
    private struct State {
        var loss: TransportError?
        var isTold = false
    }

    private let note: @Sendable (String) -> Void
    private let state = Lock(State())

    init(_ note: @escaping @Sendable (String) -> Void) { self.note = note }

    func report(_ event: NetworkEvent) {
        let line = state.withLock { state -> String? in
            switch event {
            case .disconnected(let error):
                state.loss = error
                return nil
            case .waiting:
                defer { state.isTold = true }
                return state.isTold ? nil : state.loss.map { "\($0) Reconnecting." }
            case .connected:
                state.isTold = false
                return nil
            case .resumed(_, isComplete: false):
                return "The server could not resume after the last result; some may be missing."
            case .connecting, .resumed, .closed:
                return nil
            }
        }
        if let line { note(line) }
    }
}

extension ServerSession {
    /// What a server says of itself.
    package struct Introspection: Sendable {
        package let schema: Schema
        /// How long the answer took.
        package let latency: Duration
        /// Whether it is one of our servers, which say where in their log a result is.
        package let isOurs: Bool
    }

    /// Whether it is one of our servers, which know the ids of mutations: to be asked before a mutation is named.
    package func isOurs() async throws -> Bool {
        for try await result in run(["query": "{ __typename }"]) {
            return Self.isOurs(result.json)
        }
        return false
    }

    private static func isOurs(_ result: JSONValue) -> Bool {
        result["extensions"]?["relay"]?["cursor"] != nil
    }

    /// Asks for the server's schema; an older server in its own words.
    /// - Throws: why there is no answer, or that the answer is no schema.
    package func introspection() async throws -> Introspection {
        var answer: ReceivedResult?
        var began = ContinuousClock.now
        for query in [Schema.introspectionQuery, Schema.plainIntrospectionQuery] {
            began = .now
            for try await result in run(["query": .string(query)]) { answer = result }
            if answer?.hasErrors == false { break }
        }
        let latency = ContinuousClock.now - began
        guard let answer else {
            throw CommandFailure("The server does not answer introspection: it sends no result.")
        }
        let json = answer.json
        if answer.hasErrors {
            let reason = json["errors"]?.array?.first?["message"]?.string
            throw CommandFailure(
                "The server does not answer introspection. \(reason ?? answer.line)")
        }
        return Introspection(
            schema: try Schema.build(introspection: json), latency: latency,
            isOurs: Self.isOurs(json))
    }
}
