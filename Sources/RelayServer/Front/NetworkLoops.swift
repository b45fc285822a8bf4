import Synchronization
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

    /// As many as there are processors for this process, but not more than four: the work of a loop is to move bytes,
    /// and the rest of the server wants processors too.
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
    /// keeps its order, since a sink has one loop.
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

    private static func hand(_ deliveries: [Delivery], to loop: IOLoop, _ frames: SharedFrames?) {
        loop.perform {
            let now = ContinuousClock.now
            // Deliveries of one response stand behind each other: its frame, or event, is looked for once.
            var latest: (response: Response, frame: OutgoingMessage)?
            var latestEvent: (response: Response, event: [UInt8])?
            func frame(_ response: Response) -> OutgoingMessage {
                if let latest, latest.response === response { return latest.frame }
                let frame = frames?.frame(of: response) ?? GraphQLSocket.message(response)
                latest = (response, frame)
                return frame
            }
            func event(_ response: Response) -> [UInt8] {
                if let latestEvent, latestEvent.response === response { return latestEvent.event }
                let event = EventStream.event(response)
                latestEvent = (response, event)
                return event
            }
            for delivery in deliveries {
                if let sink = delivery.sink as? OperationSink {
                    sink.take(delivery.event, at: now, frame)
                } else if let sink = delivery.sink as? EventStream {
                    sink.take(delivery.event, encode: event)
                }
            }
        }
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

    private let entries: Mutex<[ObjectIdentifier: Entry]>

    init(_ plan: Plan) { entries = Mutex(plan.entries.filter { $0.value.loops > 1 }) }

    /// What the last loop has asked for is let go.
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
