public import Foundation
public import Publishing
public import RelayArtifacts
import RelayJSON

/// A network that caches the responses of another for a while: the cache that `CacheConfig.force` bypasses.
///
///     let network = ResponseCache(of: try HTTPNetwork(url: url), size: 100, lifetime: 60)
///
/// A query with a cached response is answered without a request, unless it is forced, polled, or has
/// metadata. Responses with errors are not cached. A mutation empties the cache. To the environment
/// a cached response is the server's answer: a kept query counts as fetched now, and its data as fresh.
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
        /// Increases with every response; the smallest is evicted first.
        let number: Int
    }

    private let network: any Network
    private let size: Int
    private let lifetime: TimeInterval
    private let now: () -> TimeInterval
    private let lock = NSLock()
    private var entries: [Key: Entry] = [:]
    private var count = 0
    /// Counts mutations: an answer in flight when one started may be older than it.
    private var epoch = 0

    /// - Parameters:
    ///   - network: asked for responses that are not cached.
    ///   - size: the maximum number of cached responses.
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

    /// Empties the cache.
    public func clear() {
        lock.withLock {
            entries = [:]
            epoch += 1
        }
    }

    /// Asks the other network, unless the response is cached.
    public func execute(
        request: RequestParameters, variables: VariableData, cacheConfig: CacheConfig
    ) -> AnyPublisher<Data, any Error> {
        let ask = {
            self.network.execute(
                request: request, variables: variables, cacheConfig: cacheConfig)
        }
        if request.operationKind == .mutation {
            // Both before and after: what is fetched meanwhile may be of either state. "After" means
            // before anyone is notified: a fetch in reaction to the answer must not get an older one.
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

    /// Caches the response once it is known to be the only one: a live query has many.
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

/// Whether a response is whole and without errors, read without looking at its data.
private enum Completeness {
    static func of(_ response: Data) -> Bool {
        (try? response.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            try reader.beginObject()
            while let key = try reader.nextKey() {
                if key == "errors" {
                    if try reader.readValue().array?.isEmpty != true { return false }
                } else if key == "hasNext" {
                    // Its stream ended before its parts arrived.
                    if try reader.readValue() == .bool(true) { return false }
                } else {
                    _ = try reader.skipValue()
                }
            }
            return true
        }) ?? false
    }
}
