public import Foundation
public import Publishing
public import Relay
public import RelayArtifacts
import RelayJSON
public import RelayLink
import WebSocketIO

/// Operations of all three kinds over one WebSocket connection (graphql-transport-ws).
///
///     let network = try WebSocketNetwork(url: "wss://example.org/graphql")
///     let environment = Environment(network: network, store: Store())
///
/// The connection is made when the first operation needs it. When it breaks off it is made again, later
/// and later, and what has not ended goes on: queries and mutations are sent again, a mutation by its id,
/// so that it is carried out once; streams are resumed behind the last event that came.
///
/// Responses are delivered on the concurrent pool, one after the other in the order in which they came; those
/// of queries and subscriptions that wait together are written to the store in one step. It stops when it and
/// all of its publishers are gone.
public final class WebSocketNetwork: RespondingNetwork {
    /// How a network behaves.
    public struct Options: Sendable {
        /// Asked for a token, which is sent in `connection_init`; nil: no token.
        public var tokens: TokenProvider?
        /// A file with the certificates, in PEM, of those who may vouch for the server; nil: the
        /// system's.
        public var authorityFile: String?
        /// Offer the server compression (permessage-deflate, RFC 7692). It saves bytes and costs time at both ends,
        /// and up to 270 KB at each while messages come; whether it is used is the server's to say.
        public var offersCompression = false
        /// Names mutations. Give networks of one client the same.
        public var mutationIDs = MutationIDs()
        /// When a connection that came to nothing is tried again.
        public var retry = RetryPolicy()
        /// Connections in a row that may come to nothing before queries that wait fail. Mutations and
        /// subscriptions go on waiting, as long as `retry` allows it.
        public var queryAttempts = 5
        /// Whether a mutation whose answer got lost is sent again. Right for servers that know mutation
        /// ids; for others it may be false, and such a mutation fails as `interrupted`.
        public var resendsMutations = true
        /// Connections that may end after a mutation was sent and before it is answered; then it fails as
        /// `gaveUp`, so that it does not keep those behind it waiting for ever. With a store on disk the
        /// count survives a restart. nil: no limit.
        public var maximumInterruptions: Int? = 10
        /// Mutations that the server may have before it has answered them. With 1 they are carried out in
        /// the order in which they were begun.
        public var maximumMutationsInFlight = 1
        /// Operations at a time, those that wait included; further ones fail as `tooManyOperations`.
        public var maximumOperations = 10_000
        /// Responses of one stream that wait to be taken. Beyond it the stream is stopped at the server,
        /// and resumed behind the last of them once half are taken; one that cannot be resumed fails as
        /// `overflow`.
        public var responseCapacity = 256
        /// Whether live streams ask the server for what changed in place of whole results
        /// (`extensions.relay.records`). The program gets whole results in either case. For servers that refuse
        /// requests with extensions that they don't know it may be false.
        public var takesRecordPatches = true
        /// Time in which there must be a token, in which a connection must then be made, and in which that must be
        /// acknowledged. A provider of tokens that is still busy by then is not asked again before it has answered.
        public var connectTimeout: Duration = .seconds(10)
        /// A connection that was idle for so long is closed; nil: never.
        public var idleTimeout: Duration? = .seconds(60)
        /// After so much silence the server is asked whether it is there; after twice as much it is not.
        public var keepAlive: Duration = .seconds(30)
        /// Told what happens to the connection, in order, on the network's thread; must not block.
        public var onEvent: (@Sendable (NetworkEvent) -> Void)?

        /// Nothing but what is usual.
        public init() {}
    }

    private let link: SocketLink
    private let options: Options
    let order = DeliveryOrder()
    var takesRecords: Bool { options.takesRecordPatches }

    /// Connects nothing yet.
    ///
    /// - Parameters:
    ///   - url: `ws://…` or `wss://…`.
    ///   - options: what is not as usual.
    /// - Throws: a `TransportError` with `invalidURL`, or `stopped` where no network thread can be made.
    public convenience init(url: String, options: Options = Options()) throws(TransportError) {
        try self.init(url: url, options: options, inputs: NetworkInputs())
    }

    init(url: String, options: Options, inputs: NetworkInputs) throws(TransportError) {
        self.options = options
        let address = try ServerAddress(networkURL: url)
        var socket = WebSocketClient.Options(
            subprotocols: ["graphql-transport-ws"], authorityFile: options.authorityFile)
        socket.offersCompression = options.offersCompression
        socket.connectTimeout = options.connectTimeout
        socket.keepAlive = options.keepAlive
        var outside = SocketLink.Outside(tokens: options.tokens, socket: socket)
        outside.inputs = inputs
        outside.report = options.onEvent ?? { _ in }
        link = SocketLink(
            to: address, options.link, outside, on: try NetworkLoop.loop())
    }

    deinit { link.stop() }

    /// Gives the present connection up and makes another one at once, over which everything goes on. For
    /// programs that learn that the way to the server has changed, or is there again.
    public func reconnect() { link.reconnect() }

    /// Operations begin for each subscriber anew, when it subscribes.
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
        publisher(of: request, variables, cacheConfig)
    }

    /// Begins an operation.
    package func responses(
        to request: RequestParameters, variables: VariableData, metadata: RelayMetadata? = nil,
        transactionID: String? = nil, asksForRecords: Bool = false,
        interruptions: Interruptions? = nil
    ) -> Responses {
        let operation = OperationRequest(
            request, variables: variables, metadata: metadata, transactionID: transactionID,
            options.mutationIDs)
        return link.begin(
            operation, capacity: options.responseCapacity, asksForRecords: asksForRecords,
            interruptionCount: interruptions?.count ?? 0, onInterruption: interruptions?.note,
            keeping: self)
    }
}

extension WebSocketNetwork.Options {
    fileprivate var link: LinkOptions {
        var link = LinkOptions()
        link.retry = retry
        link.queryAttempts = queryAttempts
        link.maximumOperations = maximumOperations
        link.maximumMutationsInFlight = max(1, maximumMutationsInFlight)
        link.resendsMutations = resendsMutations
        link.maximumInterruptions = maximumInterruptions.map { UInt64(max(1, $0)) }
        link.connectTimeout = connectTimeout
        link.idleTimeout = idleTimeout
        link.asksForTokens = tokens != nil
        return link
    }
}
