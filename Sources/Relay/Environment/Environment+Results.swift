public import Publishing
import RelayArtifacts

// Publishers of results with the errors that came with the data: of fields that are null because of them.

extension Environment {
    /// As ``fetchQuery(_:cacheConfig:)``, with the errors that came with the data.
    public func fetchQueryResult<Op: Operation>(
        _ operation: Op, cacheConfig: CacheConfig = .init()
    ) -> AnyPublisher<OperationResult<Op.Data>, any Error> {
        sharedQuery(operation.createDescriptor(), cacheConfig)
            .tryMap { [self] in try result(of: operation, $0) }.eraseToAnyPublisher()
    }

    /// As ``commitMutation(_:cacheConfig:optimisticResponse:optimisticUpdater:updater:)``, with the errors that
    /// came with the data.
    public func commitMutationResult<Op: Operation>(
        _ operation: Op, cacheConfig: CacheConfig = .init(),
        optimisticResponse: [String: Any]? = nil, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<OperationResult<Op.Data>, any Error> {
        executeMutation(
            operation: operation.createDescriptor(), cacheConfig: cacheConfig,
            optimisticResponse: optimisticResponse,
            optimisticUpdater: readable(optimisticUpdater, Op.self),
            updater: readable(updater, Op.self)
        ).tryMap { [self] in try result(of: operation, $0) }.eraseToAnyPublisher()
    }

    /// As ``requestSubscription(_:cacheConfig:updater:)``, with the errors that came with the data of each
    /// event.
    public func requestSubscriptionResult<Op: Operation>(
        _ subscription: Op, cacheConfig: CacheConfig = .init(),
        updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<OperationResult<Op.Data>, any Error> {
        executeSubscription(
            operation: subscription.createDescriptor(), cacheConfig: cacheConfig,
            updater: readable(updater, Op.self)
        ).tryMap { [self] in try result(of: subscription, $0) }.eraseToAnyPublisher()
    }
}
