import ArgumentParser
import RelayServer
import StoreEngine

/// What clients may ask of `relay serve`; each option can be given in the environment as well.
struct LimitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Bytes in a document. (default: 262144)", valueName: "n"))
    var maxDocumentBytes: Int?

    @Option(help: ArgumentHelp("Tokens in a document. (default: 20000)", valueName: "n"))
    var maxTokens: Int?

    @Option(
        help: ArgumentHelp(
            "Nested selection sets, including fragments. (default: 100, at most 500)",
            valueName: "n"))
    var maxDepth: Int?

    @Option(help: ArgumentHelp("Aliases in a document. (default: 500)", valueName: "n"))
    var maxAliases: Int?

    @Option(help: ArgumentHelp("Directives in a document. (default: 500)", valueName: "n"))
    var maxDirectives: Int?

    @Option(help: ArgumentHelp("Root fields of an operation. (default: 500)", valueName: "n"))
    var maxRootFields: Int?

    @Option(
        help: ArgumentHelp(
            "Selections of an operation, including its fragments in each place. (default: 20000)",
            valueName: "n"))
    var maxSelections: Int?

    @Option(
        help: ArgumentHelp(
            """
            Fields in a result, estimated from \"first\" and \"last\" in advance. (default: \
            1000000)
            """, valueName: "n"))
    var maxComplexity: Int?

    @Option(
        help: ArgumentHelp(
            "Assumed length of a list without \"first\" or \"last\". (default: 50)",
            valueName: "n"))
    var assumedListSize: Int?

    @Option(
        help: ArgumentHelp(
            "Bytes in a result; a larger one is replaced by an error. (default: 67108864)",
            valueName: "n"))
    var maxResultBytes: Int?

    @Option(
        help: ArgumentHelp(
            """
            Elements of lists that are looked at for a result, those that a filter leaves out \
            included. (default: 10000000)
            """, valueName: "n"))
    var maxVisitedElements: Int?

    @Option(
        help: ArgumentHelp(
            "Bytes that one mutation may write, including its arguments. (default: 67108864)",
            valueName: "n"))
    var maxMutationBytes: Int?

    @Option(
        help: ArgumentHelp(
            """
            Bytes that all subscriptions and live queries may keep in memory, estimated; the one \
            that would keep more ends. (default: 1073741824)
            """, valueName: "n"))
    var maxSubscriptionBytes: Int?

    @Option(
        help: ArgumentHelp(
            "Mutations accepted and not yet answered. (default: 65536)", valueName: "n"))
    var maxWaitingMutations: Int?

    @Option(
        help: ArgumentHelp(
            "Mutations whose handlers are waiting. (default: 1024)", valueName: "n"))
    var maxWaitingHandlers: Int?

    @Option(help: ArgumentHelp("Connections. (default: 20000)", valueName: "n"))
    var maxConnections: Int?

    @Option(help: ArgumentHelp("Bytes in a WebSocket message. (default: 4194304)", valueName: "n"))
    var maxMessageBytes: Int?

    @Option(
        help: ArgumentHelp("Bytes in the body of a request. (default: 4194304)", valueName: "n"))
    var maxBodyBytes: Int?

    @Option(
        help: ArgumentHelp(
            "Operations in progress on a connection, subscriptions included. (default: 10000)",
            valueName: "n"))
    var maxOperations: Int?

    @Option(
        help: ArgumentHelp(
            """
            Bytes of the messages that started a connection's operations in progress; a single \
            operation may always have as many as a message. (default: 16777216)
            """, valueName: "n"))
    var maxOperationBytes: Int?

    @Option(
        help: ArgumentHelp(
            """
            Queries and mutations in progress on a connection; beyond that, nothing is read from \
            it. (default: 1024)
            """, valueName: "n"))
    var maxRequestsInProgress: Int?

    @Option(
        help: ArgumentHelp(
            """
            Operations that a connection may start per second; a faster one is not read from for a \
            while. (default: no limit)
            """, valueName: "n"))
    var maxRequestsPerSecond: Int?

    @Option(
        help: ArgumentHelp(
            """
            Bytes that may be queued for a client before its live results are coalesced and its \
            event streams end with SLOW_CONSUMER. (default: 1048576)
            """, valueName: "n"))
    var maxStreamQueueBytes: Int?

    @Option(
        help: ArgumentHelp(
            "Bytes that may be queued for a client, else it is closed with 1013. (default: 16777216)",
            valueName: "n"))
    var maxQueuedBytes: Int?

    @Option(
        help: ArgumentHelp(
            "WebSocket connections that may use permessage-deflate. (default: none)",
            valueName: "n"))
    var maxCompressedConnections: Int?

    @Option(
        help: ArgumentHelp(
            "Events that may be folded to answer one query from the past. (default: 500000)",
            valueName: "n"))
    var maxPastEvents: Int?

    @Option(
        help: ArgumentHelp(
            "Commits kept in memory for subscriptions that are resumed. (default: 4096)",
            valueName: "n"))
    var recentCommits: Int?

    @Option(
        help: ArgumentHelp(
            """
            Events that may be folded to resume a subscription for which those commits are not \
            enough; an older cursor gets \"recovered\": false. (default: 1000000)
            """, valueName: "n"))
    var maxResumeEvents: Int?

    @Option(
        help: ArgumentHelp(
            "How long a client may take for a handshake or request. (default: 10)",
            valueName: "seconds"))
    var handshakeTimeout: Int?

    @Option(
        help: ArgumentHelp(
            "Silence after which a client is told how far everything is delivered. (default: 15)",
            valueName: "seconds"))
    var progressInterval: Int?

    @Option(
        help: ArgumentHelp(
            "Silence after which a client is pinged; after twice that it is closed. (default: 30)",
            valueName: "seconds"))
    var keepAlive: Int?

    @Option(
        help: ArgumentHelp(
            "A client that takes nothing for this long is closed, with 1013. (default: 10)",
            valueName: "seconds"))
    var writeTimeout: Int?

    func apply(to limits: inout Server.Limits, _ settings: Settings) throws {
        let counts: [(String, Int?, WritableKeyPath<Server.Limits, Int>)] = [
            ("max-document-bytes", maxDocumentBytes, \.documentBytes),
            ("max-tokens", maxTokens, \.documentTokens),
            ("max-depth", maxDepth, \.documentDepth),
            ("max-aliases", maxAliases, \.documentAliases),
            ("max-directives", maxDirectives, \.documentDirectives),
            ("max-root-fields", maxRootFields, \.rootFields),
            ("max-selections", maxSelections, \.selections),
            ("max-complexity", maxComplexity, \.resultFields),
            ("assumed-list-size", assumedListSize, \.assumedListSize),
            ("max-result-bytes", maxResultBytes, \.resultBytes),
            ("max-visited-elements", maxVisitedElements, \.visitedElements),
            ("max-mutation-bytes", maxMutationBytes, \.mutationBytes),
            ("max-subscription-bytes", maxSubscriptionBytes, \.subscriptionBytes),
            ("max-waiting-mutations", maxWaitingMutations, \.waitingMutations),
            ("max-waiting-handlers", maxWaitingHandlers, \.waitingHandlers),
            ("max-connections", maxConnections, \.connections),
            ("max-message-bytes", maxMessageBytes, \.messageBytes),
            ("max-body-bytes", maxBodyBytes, \.bodyBytes),
            ("max-operations", maxOperations, \.operations),
            ("max-operation-bytes", maxOperationBytes, \.operationBytes),
            ("max-requests-in-progress", maxRequestsInProgress, \.requestsInProgress),
            ("max-requests-per-second", maxRequestsPerSecond, \.requestsPerSecond),
            ("max-stream-queue-bytes", maxStreamQueueBytes, \.streamQueueBytes),
            ("max-queued-bytes", maxQueuedBytes, \.queuedBytes),
            ("max-compressed-connections", maxCompressedConnections, \.compressedConnections),
            ("max-past-events", maxPastEvents, \.pastEvents),
            ("recent-commits", recentCommits, \.recentCommits),
            ("max-resume-events", maxResumeEvents, \.resumeEvents),
        ]
        let times: [(String, Int?, WritableKeyPath<Server.Limits, Duration>)] = [
            ("handshake-timeout", handshakeTimeout, \.handshakeTimeout),
            ("progress-interval", progressInterval, \.progressInterval),
            ("keep-alive", keepAlive, \.keepAlive),
            ("write-timeout", writeTimeout, \.writeTimeout),
        ]
        func number(_ name: String, _ given: Int?) throws -> Int? {
            guard let number = try given ?? settings.number(name) else { return nil }
            if number > 0 { return number }
            throw ValidationError("--\(name) must be at least 1, not \(number).")
        }
        for (name, given, limit) in counts {
            guard let number = try number(name, given) else { continue }
            if limit == \.documentDepth, number > Server.Limits.greatestDepth {
                throw ValidationError(
                    "--\(name) must be at most \(Server.Limits.greatestDepth), not \(number).")
            }
            limits[keyPath: limit] = number
        }
        for (name, given, limit) in times {
            if let number = try number(name, given) { limits[keyPath: limit] = .seconds(number) }
        }
    }
}
