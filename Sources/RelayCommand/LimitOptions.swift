import ArgumentParser
import RelayServer

/// What clients may ask of `relay serve`; each option can be given in the environment as well.
struct LimitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Bytes in a document. (default: 262144)", valueName: "n"))
    var maxDocumentBytes: Int?

    @Option(help: ArgumentHelp("Tokens in a document. (default: 20000)", valueName: "n"))
    var maxTokens: Int?

    @Option(
        help: ArgumentHelp(
            "Selection sets inside each other, fragments included. (default: 100)", valueName: "n"))
    var maxDepth: Int?

    @Option(help: ArgumentHelp("Aliases in a document. (default: 500)", valueName: "n"))
    var maxAliases: Int?

    @Option(help: ArgumentHelp("Directives in a document. (default: 500)", valueName: "n"))
    var maxDirectives: Int?

    @Option(help: ArgumentHelp("Root fields of an operation. (default: 500)", valueName: "n"))
    var maxRootFields: Int?

    @Option(
        help: ArgumentHelp(
            """
            Fields in a result, estimated from \"first\" and \"last\" before it is made. (default: \
            1000000)
            """, valueName: "n"))
    var maxComplexity: Int?

    @Option(
        help: ArgumentHelp(
            "How long --max-complexity takes a list without \"first\" or \"last\" to be. (default: 50)",
            valueName: "n"))
    var assumedListSize: Int?

    @Option(
        help: ArgumentHelp("Mutations that wait for the writer. (default: 65536)", valueName: "n"))
    var maxWaitingMutations: Int?

    @Option(help: ArgumentHelp("Connections. (default: 20000)", valueName: "n"))
    var maxConnections: Int?

    @Option(help: ArgumentHelp("Bytes in a WebSocket message. (default: 4194304)", valueName: "n"))
    var maxMessageBytes: Int?

    @Option(
        help: ArgumentHelp("Bytes in the body of a request. (default: 4194304)", valueName: "n"))
    var maxBodyBytes: Int?

    func apply(to configuration: inout Server.Configuration, _ settings: Settings) throws {
        let options: [(String, Int?, WritableKeyPath<Server.Configuration, Int>)] = [
            ("max-document-bytes", maxDocumentBytes, \.limits.document.bytes),
            ("max-tokens", maxTokens, \.limits.document.tokens),
            ("max-depth", maxDepth, \.limits.document.depth),
            ("max-aliases", maxAliases, \.limits.document.aliases),
            ("max-directives", maxDirectives, \.limits.document.directives),
            ("max-root-fields", maxRootFields, \.limits.document.rootFields),
            ("max-complexity", maxComplexity, \.limits.document.complexity),
            ("assumed-list-size", assumedListSize, \.limits.document.assumedListSize),
            ("max-waiting-mutations", maxWaitingMutations, \.limits.waitingMutations),
            ("max-connections", maxConnections, \.connectionLimits.connections),
            ("max-message-bytes", maxMessageBytes, \.connectionLimits.messageBytes),
            ("max-body-bytes", maxBodyBytes, \.connectionLimits.bodyBytes),
        ]
        for (name, given, limit) in options {
            guard let number = try given ?? settings.number(name) else { continue }
            guard number > 0 else {
                throw ValidationError("--\(name) must be at least 1, not \(number).")
            }
            configuration[keyPath: limit] = number
        }
    }
}
