public import Publishing

// The data alone, as publishers: for programs that follow the pages on Relay.swift. All of them are
// `publisher(of:)` without the errors that came with the data.

extension Environment {
    /// The data of a query: once, or again and again with `cacheConfig.poll`; nil where the server had none and no
    /// error. Otherwise as ``publisher(of:cacheConfig:optimisticResponse:optimisticUpdater:updater:)`` and
    /// ``fetch(_:cacheConfig:)``.
    ///
    /// Nothing keeps the records that fragments in the data are read from: where the data is read on another thread or
    /// later, and nothing else retains the query, an ``OperationResult`` does.
    public func fetchQuery<Op: Operation>(
        _ query: Op, cacheConfig: CacheConfig = .init()
    ) -> AnyPublisher<Op.Data?, any Error> {
        publisher(of: query, cacheConfig: cacheConfig).map(\.data).eraseToAnyPublisher()
    }

    /// The data of a mutation. Subscribing is what runs it. Otherwise as
    /// ``commit(_:cacheConfig:optimisticResponse:optimisticUpdater:updater:)``.
    public func commitMutation<Op: Operation>(
        _ mutation: Op, cacheConfig: CacheConfig = .init(),
        optimisticResponse: [String: Any]? = nil, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<Op.Data?, any Error> {
        publisher(
            of: mutation, cacheConfig: cacheConfig, optimisticResponse: optimisticResponse,
            optimisticUpdater: optimisticUpdater, updater: updater
        ).map(\.data).eraseToAnyPublisher()
    }

    /// The data of a subscription's events. An event that came to nothing, or that cannot be read, is nil. Otherwise as
    /// ``results(of:cacheConfig:updater:)``.
    public func requestSubscription<Op: Operation>(
        _ subscription: Op, cacheConfig: CacheConfig = .init(),
        updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<Op.Data?, any Error> {
        publisher(of: subscription, cacheConfig: cacheConfig, updater: updater).map(\.data)
            .eraseToAnyPublisher()
    }
}
