import StoreEngine
import Threads
import WebSocketIO

/// The loops of one server. Each has a thread and serves its share of the connections.
struct NetworkLoops: Sendable {
    /// At least one. The first accepts connections.
    let loops: [IOLoop]

    /// - Throws: `IOError`; then no loop is left running.
    static func start(_ count: Int) async throws -> NetworkLoops {
        var loops: [IOLoop] = []
        do {
            for _ in 0..<max(count, 1) { loops.append(try IOLoop.start()) }
        } catch {
            await NetworkLoops(loops: loops).stop()
            throw error
        }
        return NetworkLoops(loops: loops)
    }

    /// As many as there are processors for this process, but not more than four: a loop only moves bytes, and
    /// the rest of the server needs processors too.
    static var defaultCount: Int { min(IOLoop.usableProcessors, 4) }

    /// Returns when everything that was handed to ``deliver(_:)`` has been taken by the sinks.
    func settle() async {
        for loop in loops { _ = try? await loop.run {} }
    }

    func stop() async {
        for loop in loops { await loop.stop() }
    }

    // MARK: Deliveries

    /// Hands deliveries to their connections, with one wake-up of each loop that has some of them. What a sink is told
    /// keeps its order, since a sink has one loop. A fan-out to many holds up nothing else on their loops.
    func deliver(_ deliveries: [Delivery]) {
        if loops.count == 1 { return Self.hand(deliveries, to: loops[0], nil) }
        var parts = Array(repeating: [Delivery](), count: loops.count)
        var frames = SharedFrames.Plan(loops: loops.count)
        for delivery in deliveries {
            guard let loop = Self.loop(of: delivery.sink),
                let index = loops.firstIndex(where: { $0 === loop })
            else { continue }
            parts[index].append(delivery)
            if let response = delivery.event.response { frames.add(response, loop: index) }
        }
        let shared = SharedFrames(frames)
        for (loop, part) in zip(loops, parts) where !part.isEmpty {
            Self.hand(part, to: loop, shared)
        }
    }

    private static func loop(of sink: any SubscriptionSink) -> IOLoop? {
        (sink as? OperationSink)?.loop ?? (sink as? EventStream)?.loop
    }

    /// So many deliveries are made on a loop before it may turn to what else is due.
    static let partLimit = 256

    private static func hand(_ deliveries: [Delivery], to loop: IOLoop, _ frames: SharedFrames?) {
        let handing = Handing(frames)
        for start in stride(from: 0, to: deliveries.count, by: partLimit) {
            let part = deliveries[start..<min(start + partLimit, deliveries.count)]
            loop.perform { handing.hand(part) }
        }
    }
}

/// Hands the sinks of one loop their part of a batch of deliveries.
private final class Handing: Sendable {
    /// Deliveries of one response follow each other: its frame, or event, is looked for once.
    private struct Latest {
        var frame: (response: Response, frame: OutgoingMessage)?
        var event: (response: Response, event: [UInt8])?
    }

    private let frames: SharedFrames?
    /// Goes from one part of the batch to the next.
    private let latest = Lock(Latest())

    init(_ frames: SharedFrames?) { self.frames = frames }

    /// On the loop's thread.
    func hand(_ part: ArraySlice<Delivery>) {
        let now = ContinuousClock.now
        var latest = self.latest.withLock { $0 }
        func frame(_ response: Response) -> OutgoingMessage {
            if let latest = latest.frame, latest.response === response { return latest.frame }
            let frame = frames?.frame(of: response) ?? GraphQLSocket.message(response)
            latest.frame = (response, frame)
            return frame
        }
        func event(_ response: Response) -> [UInt8] {
            if let latest = latest.event, latest.response === response { return latest.event }
            let event = EventStream.event(response)
            latest.event = (response, event)
            return event
        }
        for delivery in part {
            if let sink = delivery.sink as? OperationSink {
                sink.take(delivery.event, at: now, frame)
            } else if let sink = delivery.sink as? EventStream {
                sink.take(delivery.event, encode: event)
            }
        }
        self.latest.withLock { $0 = latest }
    }
}

/// The frames of responses that connections on several loops get: the first loop that needs one makes it for all.
final class SharedFrames: Sendable {
    /// Which responses go to how many loops.
    struct Plan {
        fileprivate var entries: [ObjectIdentifier: Entry] = [:]
        private var latest: [ObjectIdentifier?]

        init(loops: Int) { latest = Array(repeating: nil, count: loops) }

        mutating func add(_ response: Response, loop: Int) {
            let id = ObjectIdentifier(response)
            if latest[loop] == id { return }
            latest[loop] = id
            entries[id, default: Entry(response: response)].loops += 1
        }
    }

    fileprivate struct Entry {
        /// Held, so that no other gets its identity.
        let response: Response
        /// Those that will still ask.
        var loops = 0
        var frame: OutgoingMessage?
    }

    private let entries: Lock<[ObjectIdentifier: Entry]>

    init(_ plan: Plan) { entries = Lock(plan.entries.filter { $0.value.loops > 1 }) }

    /// What the last loop has asked for is released.
    func frame(of response: Response) -> OutgoingMessage {
        let id = ObjectIdentifier(response)
        return entries.withLock { entries in
            guard var entry = entries[id] else { return GraphQLSocket.message(response) }
            let frame = entry.frame ?? GraphQLSocket.message(response)
            entry.frame = frame
            entry.loops -= 1
            entries[id] = entry.loops > 0 ? entry : nil
            return frame
        }
    }
}

extension Delivery.Event {
    /// The response that is sent, unless the peer is behind.
    fileprivate var response: Response? {
        switch self {
        case .next(let response), .missed(let response), .latest(let response),
            .patch(let response, full: _):
            response
        case .began, .caughtUp, .failed, .completed: nil
        }
    }
}
