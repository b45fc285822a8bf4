import Publishing

// The async twins of publishers that give more than one value. Each begins when it is made, and ends when
// its iteration ends or it is released. A sequence is for one task.

extension Environment {
    /// The data of a fragment: as it is now, and whenever it changes. Never fetches.
    ///
    /// A slow reader sees the newest state only.
    public func snapshots<F: Fragment>(of fragment: F) -> AsyncStream<Snapshot<F.Data>> {
        snapshots(of: fragment.selector)
    }

    /// What a selector reads: as it is now, and whenever it changes. Never fetches.
    public func snapshots<T: ReadableRecord>(
        of selector: SingularReaderSelector, as type: T.Type = T.self
    ) -> AsyncStream<Snapshot<T>> {
        let now: Snapshot<T> = lookup(selector: selector)
        return subscribe(snapshot: now).prepend(now).elements(limit: 1)
    }

    /// The twin of ``subscribe(snapshot:)``: the same data whenever it changes, without what
    /// it is now.
    public func snapshots<T: ReadableRecord>(
        after snapshot: Snapshot<T>
    ) -> AsyncStream<Snapshot<T>> {
        subscribe(snapshot: snapshot).elements(limit: 1)
    }

    /// The twin of ``execute(operation:cacheConfig:)``: the responses after they were written to the store.
    /// At most 1,024 wait; then the oldest is dropped.
    public func responses(
        to operation: OperationDescriptor, cacheConfig: CacheConfig = .init()
    ) -> AsyncThrowingStream<GraphQLResponse, any Error> {
        execute(operation: operation, cacheConfig: cacheConfig).stream()
    }

    /// The twin of
    /// ``executeMutation(operation:cacheConfig:optimisticResponse:optimisticUpdater:updater:)``: the last
    /// response, nil where the network gave none. Cancelling the task cancels the mutation.
    public func response(
        toMutation operation: OperationDescriptor, cacheConfig: CacheConfig = .init(),
        optimisticResponse: [String: Any]? = nil, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil
    ) async throws -> GraphQLResponse? {
        try await executeMutation(
            operation: operation, cacheConfig: cacheConfig,
            optimisticResponse: optimisticResponse, optimisticUpdater: optimisticUpdater,
            updater: updater
        ).lastValue()
    }

    /// The twin of ``executeSubscription(operation:cacheConfig:updater:)``: the events as responses after
    /// they were written to the store. At most 1,024 wait; then the oldest is dropped.
    public func responses(
        toSubscription operation: OperationDescriptor, cacheConfig: CacheConfig = .init(),
        updater: SelectorStoreUpdater? = nil
    ) -> AsyncThrowingStream<GraphQLResponse, any Error> {
        executeSubscription(operation: operation, cacheConfig: cacheConfig, updater: updater)
            .stream()
    }

    /// The results of a subscription, live query or polled query, with the errors that came with the
    /// data. At most 1,024 wait; then the oldest is dropped.
    public func results<Op: Operation>(
        of operation: Op, cacheConfig: CacheConfig = .init(), updater: SelectorStoreUpdater? = nil
    ) -> AsyncThrowingStream<OperationResult<Op.Data>, any Error> {
        let descriptor = operation.createDescriptor()
        let responses =
            descriptor.kind == .subscription
            ? executeSubscription(
                operation: descriptor, cacheConfig: cacheConfig,
                updater: readable(updater, Op.self))
            : execute(operation: descriptor, cacheConfig: cacheConfig)
        return responses.tryMap { [self] in try result(of: operation, $0) }.stream()
    }
}

extension QueryResource {
    /// The twin of ``prepare(operation:cacheConfig:fetchPolicy:)``.
    public func states(
        of operation: OperationDescriptor, cacheConfig: CacheConfig = .init(force: true),
        fetchPolicy: FetchPolicy = .storeOrNetwork
    ) -> AsyncStream<Result<QueryResult, any Error>?> {
        prepare(
            operation: operation, cacheConfig: cacheConfig, fetchPolicy: fetchPolicy
        ).elements(limit: 1)
    }
}
