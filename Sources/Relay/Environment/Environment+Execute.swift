public import Publishing
import RelayArtifacts
@_spi(Rooms) import RelayStore

extension Environment {
    // MARK: Operations with their types

    /// Fetches a query, writes its result to the store, and gives it. Cancelling the task cancels the request.
    ///
    ///     let todos = try await environment.fetch(TodosQuery()).data?.todos
    ///
    /// While a query is being fetched, other fetches of it with the same variables share its answer, and no second
    /// request is made; so do fetches with `force`, which is about a network's cached responses. A `poll`, `metadata`
    /// or a `transactionID` make a request its own.
    ///
    /// - Returns: what the server answered, also where other responses or optimistic updates change the same records.
    /// - Throws: a ``NetworkError`` when the server gave errors only, the network's own error, a ``ResponseError``,
    ///   or a ``ReadError``.
    public func fetch<Op: Operation>(
        _ query: Op, cacheConfig: CacheConfig = .init()
    ) async throws -> OperationResult<Op.Data> {
        try await lastResult(of: query, responses(to: query, cacheConfig))
    }

    /// Runs a mutation and gives its result. Cancelling the task cancels the mutation and takes back what it shows.
    ///
    /// - Parameters:
    ///   - mutation: the mutation, with its variables.
    ///   - cacheConfig: its `transactionID` names the mutation; `force` is always true.
    ///   - optimisticResponse: what the server will probably answer; shown until it does.
    ///   - optimisticUpdater: what is shown besides; runs after the optimistic response was applied, and
    ///     again when a record that it has looked at is another.
    ///   - updater: changes the store after the response was written to it. The result is that of the response, without
    ///     the updater's changes.
    /// - Throws: as ``fetch(_:cacheConfig:)``, and what the updaters throw.
    public func commit<Op: Operation>(
        _ mutation: Op, cacheConfig: CacheConfig = .init(),
        optimisticResponse: [String: Any]? = nil, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil
    ) async throws -> OperationResult<Op.Data> {
        try await lastResult(
            of: mutation,
            responses(to: mutation, cacheConfig, optimisticResponse, optimisticUpdater, updater))
    }

    /// The results of a subscription, live query or polled query, one after the other. It begins at once; ending the
    /// iteration ends the operation. A sequence is for one task.
    ///
    ///     for try await event in environment.results(of: TodoAddedSubscription()) { … }
    ///
    /// At most 1,024 results wait; then the oldest is dropped (its records are in the store all the same).
    ///
    /// - Parameters:
    ///   - operation: the operation, with its variables.
    ///   - cacheConfig: passed to the network.
    ///   - updater: changes the store after each result was written to it.
    /// - Returns: a sequence that ends when the server ends the operation, and fails when the network or an updater
    ///   does; see ``fetch(_:cacheConfig:)``. One event of a subscription that came to nothing, or that cannot be
    ///   read, has no data and says why in its errors, and those behind it come.
    public func results<Op: Operation>(
        of operation: Op, cacheConfig: CacheConfig = .init(), updater: SelectorStoreUpdater? = nil
    ) -> AsyncThrowingStream<OperationResult<Op.Data>, any Error> {
        results(
            of: operation,
            execute(
                operation: operation.createDescriptor(), cacheConfig: cacheConfig,
                updater: readable(updater, Op.self))
        ).stream()
    }

    /// The same results as a publisher, for a query, a mutation or a subscription; the parameters are those of
    /// ``commit(_:cacheConfig:optimisticResponse:optimisticUpdater:updater:)``.
    ///
    /// It is lazy: nothing happens until it is subscribed to. It is shared: several subscribers wait for one execution.
    /// When the last of them leaves, the operation is cancelled, and what was shown optimistically is taken back. One
    /// that has finished executes anew for the next subscriber, as a `dataTaskPublisher` does.
    ///
    /// A response in parts (`@defer`, `@stream`) is a result for each part, of all that has come so far. One that
    /// cannot be read yet, because what its data cannot do without is in a later part, has no data and says why in
    /// its errors.
    ///
    /// What is optimistic is of mutations only.
    public func publisher<Op: Operation>(
        of operation: Op, cacheConfig: CacheConfig = .init(),
        optimisticResponse: [String: Any]? = nil, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<OperationResult<Op.Data>, any Error> {
        results(
            of: operation,
            responses(to: operation, cacheConfig, optimisticResponse, optimisticUpdater, updater))
    }

    private func responses<Op: Operation>(
        to operation: Op, _ cacheConfig: CacheConfig, _ optimisticResponse: [String: Any]? = nil,
        _ optimisticUpdater: SelectorStoreUpdater? = nil, _ updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<GraphQLResponse, any Error> {
        let descriptor = operation.createDescriptor()
        let isAlone =
            descriptor.kind != .query || updater != nil || cacheConfig.polls
            || cacheConfig.metadata != nil || cacheConfig.transactionID != nil
        guard isAlone else { return sharedQuery(descriptor, cacheConfig) }
        return execute(
            operation: descriptor, cacheConfig: cacheConfig,
            optimisticResponse: optimisticResponse,
            optimisticUpdater: readable(optimisticUpdater, Op.self),
            updater: readable(updater, Op.self))
    }

    // MARK: Operations without types

    /// Executes a query, mutation or subscription; gives the responses after they were written to the store. The
    /// publisher's `values` are the same as a sequence.
    ///
    /// The publisher and its parameters are those of
    /// ``publisher(of:cacheConfig:optimisticResponse:optimisticUpdater:updater:)``; but queries share no answers.
    public func execute(
        operation: OperationDescriptor, cacheConfig: CacheConfig = .init(),
        optimisticResponse: [String: Any]? = nil, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<GraphQLResponse, any Error> {
        if cacheConfig.polls, operation.kind == .query {
            return ExecutionPublisher { [self] run in
                Polling(self, operation, cacheConfig, updater, run).begin()
            }.eraseToAnyPublisher()
        }
        // The dictionary becomes bytes on the caller's thread; nothing else of it crosses.
        let optimistic = Result {
            try self.optimistic(operation, optimisticResponse, optimisticUpdater)
        }
        return ExecutionPublisher { [self] run in
            switch optimistic {
            case .success(let optimistic):
                return OperationExecutor(
                    self, operation, cacheConfig, optimistic: optimistic, updater: updater, run: run
                ).begin()
            case .failure(let error):
                run.complete(.failure(error))
                return AnyCancellable {}
            }
        }.eraseToAnyPublisher()
    }

    private func sharedQuery(
        _ operation: OperationDescriptor, _ cacheConfig: CacheConfig
    ) -> AnyPublisher<GraphQLResponse, any Error> {
        ExecutionPublisher { [self] run in
            queries.responses(to: operation.request) { [self] run in
                OperationExecutor(self, operation, cacheConfig, run: run).begin()
            }.sink(
                receiveCompletion: { run.complete($0) }, receiveValue: { run.send($0) })
        }.eraseToAnyPublisher()
    }

    private func optimistic(
        _ operation: OperationDescriptor, _ response: [String: Any]?,
        _ updater: SelectorStoreUpdater?
    ) throws -> OptimisticMutation? {
        if response == nil, updater == nil { return nil }
        return OptimisticMutation(
            response: try response.map { try bytes(ofOptimistic: $0, to: operation) },
            updater: updater.map { selectorUpdater($0, operation.request) })
    }
}
