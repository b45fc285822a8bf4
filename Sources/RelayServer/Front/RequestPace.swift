/// How much one connection may ask for. Flags of `relay serve` set them.
struct SocketLimits: Sendable {
    /// Operations in progress, subscriptions included; more are refused.
    var operations = 10_000
    /// Bytes of the messages that began the operations in progress, of one of them at least; more are refused.
    var operationBytes = 16 << 20
    /// Queries and mutations in progress; nothing is read from a connection with more. Nor is it where they have more
    /// than ``operationBytes``, also when the client has ended them meanwhile.
    var requestsInProgress = 1_024
    /// Operations begun in a second, 0 for any number; nothing is read from a connection that is faster.
    var requestsPerSecond = 0
    /// Bytes that may wait for a peer before its streams are slowed down or ended.
    var streamQueueBytes = 1 << 20
    /// How long a client may take to send connection_init.
    var initialisationTimeout: Duration = .seconds(10)
    /// Silence after which a peer is told how far everything has been delivered.
    var progressInterval: Duration = .seconds(15)
}

extension SocketLimits {
    /// For other servers of the cluster. They send what they have accepted from all their clients, which they count, as
    /// this one counts what it carries out: their connection is not limited once more. It is read from unless many
    /// answers wait for it.
    static let ofNodes: SocketLimits = {
        var limits = SocketLimits()
        limits.operations = .max
        limits.operationBytes = .max
        limits.requestsInProgress = .max
        limits.streamQueueBytes = 16 << 20
        return limits
    }()

    /// Bytes that may wait for another server: answers to what it has sent before it was no longer read from.
    static let queuedBytesOfNodes = 256 << 20
}

/// Decides when to read from a peer, which may ask for more than there is to be done at a time. Pure.
///
/// What has been read already is still done, so that nothing is refused: the peer's own sending blocks.
struct RequestPace: Sendable {
    enum Action: Equatable {
        case nothing
        /// Read no more; say when the peer has taken everything, and look again after a while, if there is
        /// one.
        case pause(Duration?)
        case resume
    }

    private let limits: (inProgress: Int, bytes: Int, perSecond: Int)
    private var inProgress = 0
    /// Of the messages of what is in progress.
    private var bytesInProgress = 0
    /// Operations that may begin at once; refilled as time goes by, up to a second's worth.
    private var allowance: Double
    private var refilled: ContinuousClock.Instant?
    private var isPaused = false
    /// Too much was in progress: nothing is read before half of what may be is left.
    private var isBusy = false
    /// Too much waits for the peer: nothing is read before it has taken all of it.
    private(set) var awaitsPeer = false
    /// A long message is being read, and what follows has to wait.
    private var isReading = false

    init(_ limits: SocketLimits) {
        self.limits = (
            limits.requestsInProgress, limits.operationBytes, limits.requestsPerSecond
        )
        allowance = Double(limits.requestsPerSecond)
    }

    /// An operation has come.
    /// - Parameters:
    ///   - bytes: of its message.
    ///   - isFull: more waits for the peer than should.
    mutating func begin(_ bytes: Int, now: ContinuousClock.Instant, isFull: Bool) -> Action {
        inProgress += 1
        bytesInProgress += bytes
        if limits.perSecond > 0 {
            refill(now)
            allowance -= 1
        }
        isBusy = isBusy || isAbove(1)
        guard delay != nil || isBusy || isFull else { return .nothing }
        isPaused = true
        awaitsPeer = awaitsPeer || isFull
        return .pause(delay)
    }

    /// A query or mutation has been answered, or a subscription has begun.
    mutating func end(_ bytes: Int) -> Action {
        inProgress -= 1
        bytesInProgress -= bytes
        isBusy = isBusy && isAbove(2)
        return goOn()
    }

    /// Whether more is in progress than this part of what may be.
    private func isAbove(_ divisor: Int) -> Bool {
        inProgress > limits.inProgress / divisor || bytesInProgress > limits.bytes / divisor
    }

    /// The peer has taken everything that waited for it.
    mutating func drained() -> Action {
        awaitsPeer = false
        return goOn()
    }

    /// The time of a pause is over.
    mutating func waited(now: ContinuousClock.Instant) -> Action {
        refill(now)
        if isPaused, let delay { return .pause(delay) }
        return goOn()
    }

    /// A long message is read elsewhere.
    mutating func beginReading() -> Action {
        isReading = true
        isPaused = true
        return .pause(nil)
    }

    /// It has been read.
    mutating func endReading() -> Action {
        isReading = false
        return goOn()
    }

    private mutating func goOn() -> Action {
        guard isPaused, !isReading, !awaitsPeer, !isBusy, delay == nil else { return .nothing }
        isPaused = false
        return .resume
    }

    private mutating func refill(_ now: ContinuousClock.Instant) {
        let elapsed = refilled.map { now - $0 } ?? .zero
        refilled = now
        allowance = min(
            Double(limits.perSecond),
            allowance + elapsed / .seconds(1) * Double(limits.perSecond))
    }

    /// How long until the next operation may begin; nil for now.
    private var delay: Duration? {
        guard limits.perSecond > 0, allowance < 0 else { return nil }
        return .seconds(-allowance / Double(limits.perSecond))
    }
}
