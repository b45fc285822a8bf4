public import Publishing
import RelayArtifacts
@_spi(Rooms) import RelayStore

extension Environment {
    // MARK: Operations with their types

    /// Fetches a query, writes its result to the store and returns it. Cancelling the task cancels the request.
    ///
    ///     let todos = try await environment.fetch(TodosQuery()).data?.todos
    ///
    /// While a query is in flight, other fetches of it with the same variables share its answer instead of sending a
    /// second request. That includes fetches with `force`, which only bypasses a network's response cache. A fetch with
    /// `poll`, `metadata` or a `transactionID` always sends its own request.
    ///
    /// A query with `@live` has a last result only when its stream ends, and is waited for until then.
    ///
    /// - Returns: what the server answered, even if other responses or optimistic updates change the same records.
    /// - Throws: a ``NetworkError`` if the server returned only errors, the network's own error, a ``ResponseError``,
    ///   or a ``ReadError``.
    public func fetch<Op: Operation>(
        _ query: Op, cacheConfig: CacheConfig = .init()
    ) async throws -> OperationResult<Op.Data> {
        try await lastResult(of: query, responses(to: query, cacheConfig))
    }

    /// Runs a mutation and returns its result. Cancelling the task cancels the mutation and rolls back its optimistic
    /// update.
    ///
    /// - Parameters:
    ///   - mutation: the mutation, with its variables.
    ///   - cacheConfig: its `transactionID` names the mutation; `force` is always true.
    ///   - optimisticResponse: the expected answer; shown until the real one arrives.
    ///   - optimisticUpdater: further optimistic changes; runs after the optimistic response was
    ///     applied, and again when a record that it has read changes.
    ///   - updater: changes the store after the response was written to it, unless the server refused the mutation
    ///     (``OperationResult/refusal``). The returned result is that of the response, without the updater's changes.
    /// - Throws: as ``fetch(_:cacheConfig:)``, and whatever the updaters throw.
    public func commit<Op: Operation>(
        _ mutation: Op, cacheConfig: CacheConfig = .init(),
        optimisticResponse: [String: Any]? = nil, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil
    ) async throws -> OperationResult<Op.Data> {
        try await lastResult(
            of: mutation,
            responses(
                to: mutation, cacheConfig, optimisticResponse.map(ExpectedAnswer.init),
                optimisticUpdater, updater))
    }

    /// The results of a subscription, live query or polled query, one after another. It starts at once; ending the
    /// iteration ends the operation. A sequence is for one task.
    ///
    ///     for try await event in environment.results(of: TodoAddedSubscription()) { … }
    ///
    /// At most 1,024 results wait; beyond that the oldest is dropped (its records are still in the store).
    ///
    /// - Parameters:
    ///   - operation: the operation, with its variables.
    ///   - cacheConfig: passed to the network.
    ///   - updater: changes the store after each result was written to it.
    /// - Returns: a sequence that ends when the server ends the operation, and fails when the network or an updater
    ///   does; see ``fetch(_:cacheConfig:)``. A subscription event or a result of a live query that failed or cannot
    ///   be read has no data and gives the reason in its errors; those after it still arrive.
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
    /// `commit`.
    ///
    /// It is lazy: nothing happens until there is a subscriber. It is shared: several subscribers share one execution.
    /// When the last of them leaves, the operation is cancelled and its optimistic update is rolled back. After it has
    /// finished, the next subscriber executes it again, as with a `dataTaskPublisher`.
    ///
    /// A response in parts (`@defer`, `@stream`) gives a result for each part, with everything that has arrived so far.
    /// If it cannot be read yet, because its data needs a later part, the result has no data and says why in its errors.
    ///
    /// Only mutations take optimistic parameters.
    public func publisher<Op: Operation>(
        of operation: Op, cacheConfig: CacheConfig = .init(),
        optimisticResponse: [String: Any]? = nil, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<OperationResult<Op.Data>, any Error> {
        results(
            of: operation,
            responses(
                to: operation, cacheConfig, optimisticResponse.map(ExpectedAnswer.init),
                optimisticUpdater, updater))
    }

    /// The responses to an operation: to a query those of all who ask for it.
    func responses<Op: Operation>(
        to operation: Op, _ cacheConfig: CacheConfig, _ expected: ExpectedAnswer? = nil,
        _ optimisticUpdater: SelectorStoreUpdater? = nil, _ updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<GraphQLResponse, any Error> {
        let descriptor = operation.createDescriptor()
        let isAlone =
            descriptor.kind != .query || updater != nil || cacheConfig.polls
            || cacheConfig.metadata != nil || cacheConfig.transactionID != nil
        guard isAlone else { return sharedQuery(descriptor, cacheConfig) }
        return responses(
            to: descriptor, cacheConfig, expected, readable(optimisticUpdater, Op.self),
            readable(updater, Op.self))
    }

    // MARK: Operations without types

    /// Executes a query, mutation or subscription, and emits the responses after they were written to the store.
    /// The publisher's `values` are the same as a sequence.
    ///
    /// The publisher and its parameters are those of
    /// ``publisher(of:cacheConfig:optimisticResponse:optimisticUpdater:updater:)-(_,_,[String:Any]?,_,_)``, except that queries do
    /// not share answers.
    public func execute(
        operation: OperationDescriptor, cacheConfig: CacheConfig = .init(),
        optimisticResponse: [String: Any]? = nil, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<GraphQLResponse, any Error> {
        responses(
            to: operation, cacheConfig, optimisticResponse.map(ExpectedAnswer.init),
            optimisticUpdater, updater)
    }

    private func responses(
        to operation: OperationDescriptor, _ cacheConfig: CacheConfig, _ expected: ExpectedAnswer?,
        _ optimisticUpdater: SelectorStoreUpdater?, _ updater: SelectorStoreUpdater?
    ) -> AnyPublisher<GraphQLResponse, any Error> {
        if cacheConfig.polls, operation.kind == .query {
            return ExecutionPublisher { [self] run in
                Polling(self, operation, cacheConfig, updater, run).begin()
            }.eraseToAnyPublisher()
        }
        // The answer is encoded on the caller's thread; only the bytes cross to another.
        let optimistic = Result { try self.optimistic(operation, expected, optimisticUpdater) }
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
        _ operation: OperationDescriptor, _ expected: ExpectedAnswer?,
        _ updater: SelectorStoreUpdater?
    ) throws -> OptimisticMutation? {
        if expected == nil, updater == nil { return nil }
        return OptimisticMutation(
            response: try expected.map { try $0.bytes(for: operation) },
            updater: updater.map { selectorUpdater($0, operation.request) })
    }
}
