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
/// The connection is made when the first operation needs it. When it breaks, it is made again with
/// growing delays, and what has not ended goes on: queries and mutations are sent again, a mutation with
/// its id, so that it is carried out once; streams are resumed after the last event received.
///
/// Responses are delivered on the concurrent pool, one after another in order of arrival; queued responses of
/// queries and subscriptions are written to the store in one step. The network stops when it and all of its
/// publishers are released.
public final class WebSocketNetwork: RespondingNetwork {
    /// How a network behaves.
    public struct Options: Sendable {
        /// Provides tokens, sent in `connection_init`; nil: no token.
        public var tokens: TokenProvider?
        /// A PEM file with the certificate authorities to trust; nil: the system's.
        public var authorityFile: String?
        /// Whether to offer compression (permessage-deflate, RFC 7692). It saves bytes and costs time at both ends,
        /// plus up to 270 KB at each while messages arrive; the server decides whether to use it.
        public var offersCompression = false
        /// Names mutations. Share it between networks of one client.
        public var mutationIDs = MutationIDs()
        /// When a failed connection is tried again.
        public var retry = RetryPolicy()
        /// Consecutive connections that may fail before waiting queries fail. Mutations and
        /// subscriptions keep waiting, as long as `retry` allows it.
        public var queryAttempts = 5
        /// Whether a mutation whose answer was lost is sent again. Right for servers that know mutation
        /// ids; set it to false for others, and such a mutation fails as `interrupted`.
        public var resendsMutations = true
        /// How many connections may end after a mutation was sent and before it is answered; then it
        /// fails as `gaveUp`, so that it does not block those after it forever. With a store on disk the
        /// count survives a restart. nil: no limit.
        public var maximumInterruptions: Int? = 10
        /// How many mutations may be in flight. With 1 they are carried out in the order in which they
        /// were started.
        public var maximumMutationsInFlight = 1
        /// Concurrent operations, including those that wait; further ones fail as `tooManyOperations`.
        public var maximumOperations = 10_000
        /// How many responses of one stream may wait to be read. Beyond that the stream is stopped at
        /// the server, and resumed after the last of them once half were read; one that cannot be
        /// resumed fails as `overflow`.
        public var responseCapacity = 256
        /// Whether live streams ask the server for changes instead of whole results
        /// (`extensions.relay.records`). The program gets whole results in either case. Set it to false for
        /// servers that reject requests with unknown extensions.
        public var takesRecordPatches = true
        /// Whether all live streams show what waiting mutations of others are expected to do, as those do whose
        /// ``RelayMetadata`` says so. For Relay servers.
        public var showsOptimistic = false
        /// Time limit for getting a token, then for connecting, and then for the acknowledgement. A token provider
        /// that is still busy by then is not called again until it has answered.
        public var connectTimeout: Duration = .seconds(10)
        /// How long a connection may be idle before it is closed; nil: forever.
        public var idleTimeout: Duration? = .seconds(60)
        /// After this much silence the server is pinged; after twice as much it counts as gone.
        public var keepAlive: Duration = .seconds(30)
        /// Called with each connection event, in order, on the network's thread; must not block.
        public var onEvent: (@Sendable (NetworkEvent) -> Void)?

        /// The defaults.
        public init() {}
    }

    private let link: SocketLink
    private let options: Options
    let order = DeliveryOrder()
    var takesRecords: Bool { options.takesRecordPatches }

    /// Does not connect yet.
    ///
    /// - Parameters:
    ///   - url: `ws://…` or `wss://…`.
    ///   - options: deviations from the defaults.
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

    /// Drops the current connection and makes another one at once, over which everything goes on. For
    /// programs that learn that the route to the server has changed or is back.
    public func reconnect() { link.reconnect() }

    /// Operations start anew for each subscriber, when it subscribes.
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

    /// Starts an operation.
    package func responses(
        to request: RequestParameters, variables: VariableData, metadata: RelayMetadata? = nil,
        transactionID: String? = nil, asksForRecords: Bool = false,
        interruptions: Interruptions? = nil
    ) -> Responses {
        let operation = OperationRequest(
            request, variables: variables, metadata: metadata, transactionID: transactionID,
            options.mutationIDs, showsOptimistic: options.showsOptimistic)
        return link.begin(
            operation, capacity: options.responseCapacity, asksForRecords: asksForRecords,
            interruptionCount: interruptions?.count ?? 0,
            isUnfinished: interruptions?.isResumed ?? false, onInterruption: interruptions?.note,
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
