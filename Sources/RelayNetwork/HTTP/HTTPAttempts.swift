import HTTPMessages
import Relay
import RelayJSON
import RelayLink
import WebSocketIO

/// What happens to one request over HTTP, from attempt to attempt. Pure.
struct HTTPAttempts: Sendable {
    enum Step {
        /// The answer is a GraphQL response.
        case deliver([UInt8])
        case fail(TransportError)
        /// Try again with a fresh token.
        case authorize
        /// Try again after a while.
        case wait(failures: Int)
    }

    private let retry: RetryPolicy
    /// A request that may have reached the server may be sent again.
    private let isRepeatable: Bool
    private let asksForTokens: Bool
    /// Wait for an unreachable server as long as it takes.
    private let waitsForServer: Bool
    private var hasFreshToken = false
    private var failures = 0
    /// Whether the request has failed because its last attempt got no connection, or no token.
    private(set) var isUnreachable = false
    /// For a mutation: how often a request that may have reached the server was interrupted, or was the only one
    /// that the server did not answer.
    private var interruptions: Interruptions?
    /// How many other requests had had their responses when this one was last answered; nil: it was not.
    private var othersAnswered: UInt64?

    private struct Interruptions {
        let name: String
        var count: UInt64
        let limit: UInt64?
        /// The last one has not been reported yet.
        var isNew = false
    }

    init(
        _ retry: RetryPolicy, isRepeatable: Bool, asksForTokens: Bool, waitsForServer: Bool = false
    ) {
        self.retry = retry
        self.isRepeatable = isRepeatable
        self.asksForTokens = asksForTokens
        self.waitsForServer = waitsForServer
    }

    /// Counts how often the request is interrupted, starting from the count of an earlier run of the program.
    mutating func countInterruptions(from count: UInt64, name: String, limit: UInt64?) {
        interruptions = Interruptions(name: name, count: count, limit: limit)
    }

    /// Why the request is given up, if it was interrupted too often.
    var exhaustion: TransportError? {
        guard let interruptions, let limit = interruptions.limit, interruptions.count >= limit
        else { return nil }
        return TransportError.gaveUp(interruptions.name, after: interruptions.count)
    }

    /// Whether the request has been interrupted since the last call.
    mutating func takeInterruption() -> Bool {
        defer { interruptions?.isNew = false }
        return interruptions?.isNew ?? false
    }

    private mutating func interrupted() {
        interruptions?.count += 1
        interruptions?.isNew = true
    }

    /// A stream has delivered something: earlier failures no longer count.
    mutating func began() {
        failures = 0
        hasFreshToken = false
    }

    /// The server has answered.
    /// - Parameter othersAnswered: how many other requests have had their GraphQL responses so far.
    mutating func answered(
        _ answer: HTTPResponse, from address: ServerAddress, othersAnswered: UInt64 = 0
    ) -> Step {
        let isServerWell = self.othersAnswered.map { $0 < othersAnswered } ?? false
        self.othersAnswered = othersAnswered
        if answer.status == 401, asksForTokens, !hasFreshToken {
            hasFreshToken = true
            return .authorize
        }
        if answer.isGraphQL { return .deliver(answer.body) }
        let error = TransportError(
            code: answer.status == 401 ? .unauthenticated : .refused(status: answer.status),
            message: """
                \(address) answered with HTTP status \(answer.status)\
                \(answer.status / 100 == 2 ? ", without a GraphQL response" : "")\
                \(answer.body.isEmpty ? "" : ": ")\(Self.firstLine(answer.body))
                """)
        switch answer.status {
        // A rate limit applies to all requests, so whether others are answered says nothing.
        case 429: return tryAgain(error)
        // 503 says that nothing was done, and a page with a success status comes from a proxy, such as a captive
        // portal, in place of the server: neither is an interruption, however often. But if others were answered
        // meanwhile, it is this request that the server cannot handle, unless it says why it puts it off.
        case 503:
            if isServerWell, !answer.putsOffMutation { interrupted() }
            return tryAgain(error)
        case 200..<300:
            if isServerWell { interrupted() }
            return isRepeatable ? tryAgain(error) : .fail(error)
        // After other server errors it is unknown what was done.
        case 500...:
            interrupted()
            return isRepeatable ? tryAgain(error) : .fail(error)
        default: return .fail(error)
        }
    }

    /// No token is available to send the request with.
    mutating func hadNoToken(_ error: TransportError) -> Step {
        tryAgain(error, isUnreachable: true)
    }

    /// There was no answer.
    mutating func failed(_ failure: any Error) -> Step {
        let loss = ConnectionLoss(failure)
        guard loss.remedy == .retry else { return .fail(loss.error) }
        // If no connection was made, nothing was done.
        guard isRepeatable || (failure as? IOError)?.code == .cannotConnect else {
            return .fail(
                TransportError(
                    code: .interrupted,
                    message: "\(loss.error) Whether the mutation was carried out is not known.",
                    cause: failure))
        }
        let isUnreachable = (failure as? IOError)?.code == .cannotConnect
        if !isUnreachable { interrupted() }
        return tryAgain(loss.error, isUnreachable: isUnreachable)
    }

    private mutating func tryAgain(_ error: TransportError, isUnreachable: Bool = false) -> Step {
        if let error = exhaustion { return .fail(error) }
        failures += 1
        if waitsForServer || retry.allowsAnotherAttempt(afterFailures: failures) {
            return .wait(failures: failures)
        }
        self.isUnreachable = isUnreachable
        return .fail(error)
    }

    private static func firstLine(_ body: [UInt8]) -> String {
        String(decoding: body.prefix { $0 != UInt8(ascii: "\n") }.prefix(200), as: UTF8.self)
    }
}

extension HTTPResponse {
    /// The `content-type` without parameters, in lower case; empty if there is none.
    var mediaType: String {
        let value = headers["content-type"]?.prefix { $0 != ";" } ?? ""
        return value.split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased()
    }

    /// Whether it is a GraphQL response that puts a mutation off.
    fileprivate var putsOffMutation: Bool {
        guard ["application/graphql-response+json", "application/json"].contains(mediaType),
            let response = try? JSONValue(parsing: body), response["data"] == nil
        else { return false }
        let error = response["errors"]?.array?.first
        return GraphQLError.putsOffMutation(error?["extensions"]?["code"]?.string)
    }

    /// GraphQL over HTTP: the media type for responses makes one whatever the status; plain JSON only counts
    /// with a success status. 401 and 503 come from a proxy in front of the server.
    fileprivate var isGraphQL: Bool {
        if status == 401 || status == 503 { return false }
        switch mediaType {
        case "application/graphql-response+json": return true
        case "application/json": return status / 100 == 2
        default: return false
        }
    }
}
