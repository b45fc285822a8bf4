public import Foundation
public import Publishing
public import RelayArtifacts
import RelayJSON

/// A network that remembers the responses of another for a while: what `CacheConfig.force` is about.
///
///     let network = ResponseCache(of: try HTTPNetwork(url: url), size: 100, lifetime: 60)
///
/// A query whose response is remembered is answered without a request, unless it is forced, polled, or has
/// metadata. Responses with errors are not remembered. A mutation makes it forget everything.
public final class ResponseCache: Network, @unchecked Sendable {
    // Unchecked: a network is any class of the program, see `Environment`; the rest is behind the lock.

    private struct Key: Hashable {
        let id: String?
        let text: String?
        let variables: VariableData
    }

    private struct Entry {
        let response: Data
        let expires: TimeInterval
        /// Rising with every response; the smallest is forgotten first.
        let number: Int
    }

    private let network: any Network
    private let size: Int
    private let lifetime: TimeInterval
    private let now: () -> TimeInterval
    private let lock = NSLock()
    private var entries: [Key: Entry] = [:]
    private var count = 0
    /// Counts mutations: an answer that was under way when one began may be older than it.
    private var epoch = 0

    /// - Parameters:
    ///   - network: asked for what is not remembered.
    ///   - size: responses that are remembered at most.
    ///   - lifetime: seconds.
    public convenience init(of network: any Network, size: Int = 100, lifetime: TimeInterval) {
        self.init(of: network, size: size, lifetime: lifetime) {
            ProcessInfo.processInfo.systemUptime
        }
    }

    init(
        of network: any Network, size: Int, lifetime: TimeInterval,
        now: @escaping () -> TimeInterval
    ) {
        self.network = network
        self.size = size
        self.lifetime = lifetime
        self.now = now
    }

    /// Forgets everything.
    public func clear() {
        lock.withLock {
            entries = [:]
            epoch += 1
        }
    }

    /// Asks the other network, unless the response is remembered.
    public func execute(
        request: RequestParameters, variables: VariableData, cacheConfig: CacheConfig
    ) -> AnyPublisher<Data, any Error> {
        let ask = {
            self.network.execute(
                request: request, variables: variables, cacheConfig: cacheConfig)
        }
        if request.operationKind == .mutation {
            // Both before and after: what is fetched meanwhile may be of either state. After means before
            // anyone is told: a fetch because of the answer gets no older one.
            return ask().handleEvents(
                receiveSubscription: { _ in self.clear() },
                receiveOutput: { _ in self.clear() },
                receiveCompletion: { _ in self.clear() },
                receiveCancel: { self.clear() }
            ).eraseToAnyPublisher()
        }
        guard request.operationKind == .query, !cacheConfig.polls,
            cacheConfig.metadata == nil
        else { return ask() }
        let key = Key(id: request.id, text: request.text, variables: variables)
        return Deferred { () -> AnyPublisher<Data, any Error> in
            if !cacheConfig.force, let response = self.remembered(key) {
                return Just(response).setFailureType(to: (any Error).self).eraseToAnyPublisher()
            }
            return self.remembering(ask(), as: key)
        }.eraseToAnyPublisher()
    }

    private func remembered(_ key: Key) -> Data? {
        lock.withLock {
            guard let entry = entries[key] else { return nil }
            guard entry.expires > now() else {
                entries[key] = nil
                return nil
            }
            return entry.response
        }
    }

    /// Remembers the response once there is known to be one only: a live query has many.
    private func remembering(
        _ responses: AnyPublisher<Data, any Error>, as key: Key
    ) -> AnyPublisher<Data, any Error> {
        let epoch = lock.withLock { self.epoch }
        var received: [Data] = []
        return responses.handleEvents(
            receiveOutput: { if received.count < 2 { received.append($0) } },
            receiveCompletion: { completion in
                guard case .finished = completion, received.count == 1 else { return }
                self.remember(received[0], as: key, since: epoch)
            }
        ).eraseToAnyPublisher()
    }

    private func remember(_ response: Data, as key: Key, since epoch: Int) {
        guard Completeness.of(response) else { return }
        lock.withLock {
            guard epoch == self.epoch, size > 0 else { return }
            count += 1
            entries[key] = Entry(response: response, expires: now() + lifetime, number: count)
            guard entries.count > size,
                let oldest = entries.min(by: { $0.value.number < $1.value.number })
            else { return }
            entries[oldest.key] = nil
        }
    }
}

/// Whether a response is whole and has no errors, read without looking at its data.
private enum Completeness {
    static func of(_ response: Data) -> Bool {
        (try? response.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            try reader.beginObject()
            while let key = try reader.nextKey() {
                if key == "errors" {
                    if try reader.readValue().array?.isEmpty != true { return false }
                } else if key == "hasNext" {
                    // Its stream has ended before its parts came.
                    if try reader.readValue() == .bool(true) { return false }
                } else {
                    _ = try reader.skipValue()
                }
            }
            return true
        }) ?? false
    }
}
