public import Foundation
import HTTPMessages
public import Publishing
public import Relay
public import RelayArtifacts
import RelayJSON
public import RelayLink
import Synchronization
import Threads
import WebSocketIO

/// Queries and mutations, each in its own HTTP request (GraphQL over HTTP); subscriptions as server-sent
/// events (graphql-sse, distinct connections).
///
///     let network = try HTTPNetwork(url: "https://example.org/graphql")
///
/// An interrupted subscription is resumed after the last event received (`Last-Event-ID`). If another network
/// is given for subscriptions, they go over that.
public final class HTTPNetwork: RespondingNetwork {
    /// How a network behaves.
    public struct Options: Sendable {
        /// Provides tokens, sent as `Authorization: Bearer …`; nil: no token. Requests that need one at the same
        /// time share the answer.
        public var tokens: TokenProvider?
        /// Further header fields.
        public var headers: [String: String] = [:]
        /// A PEM file with the certificate authorities to trust; nil: the system's.
        public var authorityFile: String?
        /// Names mutations. Share it between networks of one client.
        public var mutationIDs = MutationIDs()
        /// When a failed request is sent again; three times by default. A mutation that
        /// `Environment.resumeMutations` resends waits for an unreachable server as long as it takes,
        /// with these delays.
        public var retry = RetryPolicy(maximumAttempts: 4)
        /// Whether a mutation whose answer was lost is sent again. Right for servers that know mutation
        /// ids; set it to false for others, and such a mutation fails as `interrupted`.
        public var resendsMutations = true
        /// How many requests with a mutation may be interrupted before the answer arrives, or answered with 503 or
        /// without a GraphQL response while other requests are answered; then it fails as `gaveUp`. With a store on
        /// disk the count survives a restart. nil: no limit except that of `retry`.
        public var maximumInterruptions: Int? = 10
        /// The limit of mutations in flight. Others wait, so that with 1, the default, they are carried out in the
        /// order in which they were started. A mutation between two attempts counts as in flight; a cancelled one
        /// does not, although the server may still carry it out.
        public var maximumMutationsInFlight = 1
        /// How many mutations may wait for those before them; further ones fail as `tooManyOperations`.
        public var maximumWaitingMutations = 10_000
        /// From the first packet of a request to the last byte of its response. The token provider has the same time;
        /// after that it counts as having failed, but is not called again while it is busy.
        public var timeout: Duration = .seconds(30)
        /// When an interrupted subscription is resumed; without limit by default.
        public var streamRetry = RetryPolicy()
        /// A subscription that is silent for this long, comments included, counts as interrupted.
        public var streamTimeout: Duration = .seconds(60)
        /// How many responses of one subscription may wait to be read. Beyond that the connection is
        /// closed, and the subscription is resumed after the last of them once half were read; one that
        /// cannot be resumed fails as `overflow`.
        public var responseCapacity = 256
        /// Whether all subscriptions show what waiting mutations of others are expected to do, as those do whose
        /// ``RelayMetadata`` says so. For Relay servers.
        public var showsOptimistic = false
        /// The network for subscriptions; nil: server-sent events.
        public var subscriptions: WebSocketNetwork?

        /// The defaults.
        public init() {}
    }

    let address: ServerAddress
    let options: Options
    let order = DeliveryOrder()
    private let turns: MutationTurns
    /// Queries and mutations that got a GraphQL response from the server. It shows a request that never gets one that
    /// the server answers others.
    let answeredCount = Atomic<UInt64>(0)
    /// Mutations of an earlier run of the program that the server has refused since it last answered one, by their ids.
    /// Each environment has one refused at a time. Beyond ``mostRefused`` environments a refusal is not counted.
    private let refused = Lock<[String: Refusal]>([:])
    private static let mostRefused = 1_000

    private struct Refusal {
        let interruptions: Interruptions
        /// The token that it was sent with.
        let token: String?
    }
    /// nil if no tokens are sent.
    let tokenCalls: TokenCalls?
    let inputs: NetworkInputs
    let loop: IOLoop

    /// Does not connect yet.
    ///
    /// - Parameters:
    ///   - url: `http://…` or `https://…`.
    ///   - options: deviations from the defaults.
    /// - Throws: a `TransportError` with `invalidURL`, or `stopped` where no network thread can be made.
    public convenience init(url: String, options: Options = Options()) throws(TransportError) {
        try self.init(url: url, options: options, inputs: NetworkInputs())
    }

    init(url: String, options: Options, inputs: NetworkInputs) throws(TransportError) {
        address = try ServerAddress(networkURL: url)
        self.options = options
        turns = MutationTurns(
            maximum: options.maximumMutationsInFlight, limit: options.maximumWaitingMutations)
        tokenCalls = options.tokens.map {
            TokenCalls($0, patience: options.timeout * inputs.timeoutsOfPatience)
        }
        self.inputs = inputs
        loop = try NetworkLoop.loop()
    }

    /// Each subscriber sends its own request, when it subscribes.
    ///
    /// The `metadata` may be ``RelayMetadata``; the `transactionID`, if it has the form `CLIENT:N`, names
    /// the mutation.
    public func execute(
        request: RequestParameters, variables: VariableData, cacheConfig: CacheConfig
    ) -> AnyPublisher<Data, any Error> {
        executeBytes(request: request, variables: variables, cacheConfig: cacheConfig)
            .map { Data($0) }.eraseToAnyPublisher()
    }

    package func executeBytes(
        request: RequestParameters, variables: VariableData, cacheConfig: CacheConfig
    ) -> AnyPublisher<[UInt8], any Error> {
        if request.operationKind == .subscription, let network = options.subscriptions {
            return network.executeBytes(
                request: request, variables: variables, cacheConfig: cacheConfig)
        }
        return publisher(of: request, variables, cacheConfig)
    }

    /// Sends an operation.
    package func responses(
        to request: RequestParameters, variables: VariableData, metadata: RelayMetadata? = nil,
        transactionID: String? = nil, asksForRecords: Bool = false,
        interruptions: Interruptions? = nil
    ) -> Responses {
        if request.operationKind == .subscription, let network = options.subscriptions {
            return network.responses(
                to: request, variables: variables, metadata: metadata,
                transactionID: transactionID, asksForRecords: asksForRecords,
                interruptions: interruptions)
        }
        let operation = OperationRequest(
            request, variables: variables, metadata: metadata, transactionID: transactionID,
            options.mutationIDs, showsOptimistic: options.showsOptimistic)
        if operation.kind == .subscription { return events(of: operation) }
        let channel = ResponseChannel(capacity: 1) {}
        // Here, and not in the task: tasks start in any order.
        let turn =
            operation.kind == .mutation
            ? turns.take(waitsForServer: interruptions?.isResumed ?? false) : nil
        if operation.kind == .mutation, turn == nil {
            let message =
                "Mutation \(operation.name) was not sent: \(turns.limit) mutations are already waiting."
            channel.finish(TransportError(code: .tooManyOperations, message: message))
            return Responses(channel) {}
        }
        let task = Task {
            if let error = await turn?.comes() { return channel.finish(error) }
            defer { if let turn { self.turns.leave(turn) } }
            do throws(TransportError) {
                _ = channel.push(try await self.send(operation, interruptions, turn))
                channel.finish(nil)
            } catch {
                channel.finish(error)
            }
        }
        return Responses(channel) { [turns] in
            // First, because what it has not sent yet must not be sent after the next mutation.
            task.cancel()
            if let turn { turns.leave(turn) }
        }
    }

    private func send(
        _ operation: OperationRequest, _ interruptions: Interruptions?, _ turn: MutationTurns.Turn?
    ) async throws(TransportError) -> [UInt8] {
        if Task.isCancelled { throw .stopped("send operation \(operation.name)") }
        let body = JSONValue.object(operation.payload()).bytes
        let isResumed = interruptions?.isResumed ?? false
        var attempts = HTTPAttempts(
            options.retry,
            isRepeatable: operation.kind == .query || options.resendsMutations,
            asksForTokens: options.tokens != nil,
            waitsForServer: isResumed)
        if operation.kind == .mutation {
            attempts.countInterruptions(
                from: interruptions?.count ?? 0, name: operation.name,
                limit: options.maximumInterruptions.map { UInt64(max(1, $0)) })
            if let error = attempts.exhaustion { throw error }
        }
        let answeredBefore = answeredCount.load(ordering: .relaxed)
        var token = RequestToken(from: tokenCalls)
        defer { token.leave(isCancelled: Task.isCancelled) }
        while true {
            let step: HTTPAttempts.Step
            let noToken = await token.fetch(within: options.timeout)
            if Task.isCancelled { throw .stopped("continue operation \(operation.name)") }
            if let error = noToken {
                step = attempts.hadNoToken(error)
            } else {
                do {
                    let answer = try await post(body, token.value)
                    step = attempts.answered(
                        answer, from: address,
                        othersAnswered: answeredCount.load(ordering: .relaxed))
                } catch {
                    // It was not interrupted but given up.
                    if Task.isCancelled {
                        throw .stopped("wait for the answer to operation \(operation.name)")
                    }
                    step = attempts.failed(error)
                }
            }
            if attempts.takeInterruption() { interruptions?.note() }
            switch step {
            case .deliver(let response):
                answeredCount.wrappingAdd(1, ordering: .relaxed)
                if operation.kind == .mutation { countRefusals(with: token.value) }
                return response
            case .fail(let error):
                let isServerWell = answeredCount.load(ordering: .relaxed) != answeredBefore
                if let turn, attempts.isUnreachable, !isServerWell {
                    turns.end(behind: turn, with: error)
                }
                if let interruptions, isResumed, error.isRefusal, !error.endsMutation {
                    let refusal = Refusal(interruptions: interruptions, token: token.value)
                    let id = operation.mutationID ?? ""
                    refused.withLock { refused in
                        if refused.count < Self.mostRefused || refused[id] != nil {
                            refused[id] = refusal
                        }
                    }
                }
                throw error
            case .authorize: token.isRefused()
            case .wait(let failures):
                try await pause(
                    options.retry.delay(afterFailures: failures, random: inputs.random()),
                    operation.name)
            }
            if Task.isCancelled { throw .stopped("continue operation \(operation.name)") }
        }
    }

    /// The server has answered a mutation. So the mutations that it refused with the same token were refused on their
    /// own account, and not, say, because no user was signed in.
    private func countRefusals(with token: String?) {
        let refused = refused.withLock { refused in
            defer { refused = [:] }
            return refused
        }
        for refusal in refused.values where refusal.token == token {
            refusal.interruptions.note()
        }
    }

    private func post(_ body: [UInt8], _ token: String?) async throws -> HTTPResponse {
        let headers = headers(
            accept: "application/graphql-response+json, application/json;q=0.9", token)
        var http = HTTPClient.Options(authorityFile: options.authorityFile)
        http.timeout = options.timeout
        return try await HTTPClient.send(
            "POST", to: address, headers: headers, body: body, http, on: loop)
    }

    func headers(accept: String, _ token: String?) -> HTTPHeaders {
        var headers: HTTPHeaders = ["content-type": "application/json", "accept": accept]
        for (name, value) in options.headers { headers.append(name, value) }
        if let token { headers.append("authorization", "Bearer \(token)") }
        return headers
    }

    /// Waits before the next attempt, or until the task is cancelled.
    /// - Throws: `stopped` when the loop has ended.
    func pause(_ delay: Duration, _ name: String) async throws(TransportError) {
        let end = FirstValue<Bool>()
        inputs.after(loop, delay) { [last = LastHolder { end.give(false) }] in
            end.give(true)
            withExtendedLifetime(last) {}
        }
        guard await end.value(ifCancelled: true) else {
            throw .stopped("continue operation \(name)")
        }
    }
}

/// Held by an action that a loop is to perform: detects that the loop, which has ended, dropped it.
private final class LastHolder: Sendable {
    private let onRelease: @Sendable () -> Void

    init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

    deinit { onRelease() }
}
