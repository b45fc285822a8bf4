public import Publishing
public import RelayArtifacts
@_spi(Rooms) import RelayStore

// Every publisher here is lazy: nothing happens until it is subscribed to. It is shared: several
// subscribers wait for one execution. It can be cancelled: when the last subscriber leaves, the network is
// told, and what was shown optimistically is taken back.

extension Environment {
    // MARK: Queries

    /// Fetches a query and writes its result to the store.
    ///
    /// While a query is being fetched, other fetches of it with the same variables share its answer,
    /// and no second request is made; so do ``fetch(_:cacheConfig:)`` and fetches with `force`, which is
    /// about a network's cached responses. A `poll`, `metadata` or a `transactionID` make a request its own.
    /// A publisher that has finished executes anew for the next subscriber, as a `dataTaskPublisher` does.
    ///
    /// - Returns: a publisher of the result: once, or again and again with `cacheConfig.poll`. It is what the server
    ///   answered, also where other responses or optimistic updates change the same records. nil where the
    ///   server had no data and no error. It fails with a ``NetworkError`` when the server gave errors only,
    ///   with the network's own error, with a ``ResponseError``, or with a ``ReadError``. Nothing keeps the records
    ///   that fragments in the data are read from: where the data is read on another thread or later, and nothing else
    ///   retains the query, ``fetchQueryResult(_:cacheConfig:)`` gives a result that does.
    public func fetchQuery<Op: Operation>(
        _ operation: Op, cacheConfig: CacheConfig = .init()
    ) -> AnyPublisher<Op.Data?, any Error> {
        results(of: operation, sharedQuery(operation.createDescriptor(), cacheConfig))
    }

    /// The same, awaited. Cancelling the task cancels the request.
    public func fetch<Op: Operation>(
        _ operation: Op, cacheConfig: CacheConfig = .init()
    ) async throws -> OperationResult<Op.Data> {
        try await lastResult(
            of: operation, sharedQuery(operation.createDescriptor(), cacheConfig))
    }

    func sharedQuery(
        _ operation: OperationDescriptor, _ cacheConfig: CacheConfig
    ) -> AnyPublisher<GraphQLResponse, any Error> {
        guard operation.kind == .query, !cacheConfig.polls, cacheConfig.metadata == nil,
            cacheConfig.transactionID == nil
        else { return execute(operation: operation, cacheConfig: cacheConfig) }
        return ExecutionPublisher { [self] run in
            queries.responses(to: operation.request) { [self] run in
                OperationExecutor(self, operation, cacheConfig, run: run).begin()
            }.sink(
                receiveCompletion: { run.complete($0) }, receiveValue: { run.send($0) })
        }.eraseToAnyPublisher()
    }

    /// Executes an operation; gives the responses after they were written to the store.
    public func execute(
        operation: OperationDescriptor, cacheConfig: CacheConfig = .init()
    ) -> AnyPublisher<GraphQLResponse, any Error> {
        if operation.kind == .mutation {
            return executeMutation(operation: operation, cacheConfig: cacheConfig)
        }
        if cacheConfig.polls, operation.kind == .query {
            return ExecutionPublisher { [self] run in
                Polling(self, operation, cacheConfig, run).begin()
            }.eraseToAnyPublisher()
        }
        return ExecutionPublisher { [self] run in
            OperationExecutor(self, operation, cacheConfig, run: run).begin()
        }.eraseToAnyPublisher()
    }

    // MARK: Mutations

    /// Runs a mutation.
    ///
    /// - Parameters:
    ///   - operation: the mutation, with its variables.
    ///   - cacheConfig: its `transactionID` names the mutation; `force` is always true.
    ///   - optimisticResponse: what the server will probably answer; shown until it does.
    ///   - optimisticUpdater: what is shown besides; runs after the optimistic response was applied, and
    ///     again when a record that it has looked at is another.
    ///   - updater: changes the store after the response was written to it. The result is that of the response, without
    ///     the updater's changes.
    /// - Returns: a publisher of the result, errors as with ``fetchQuery(_:cacheConfig:)``. Subscribing is
    ///   what runs the mutation.
    public func commitMutation<Op: Operation>(
        _ operation: Op, cacheConfig: CacheConfig = .init(),
        optimisticResponse: [String: Any]? = nil, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<Op.Data?, any Error> {
        results(
            of: operation,
            executeMutation(
                operation: operation.createDescriptor(), cacheConfig: cacheConfig,
                optimisticResponse: optimisticResponse,
                optimisticUpdater: readable(optimisticUpdater, Op.self),
                updater: readable(updater, Op.self)))
    }

    /// The same, awaited; with the errors that came with the data. Cancelling the task cancels the
    /// mutation and takes back what it shows.
    public func commit<Op: Operation>(
        _ operation: Op, cacheConfig: CacheConfig = .init(),
        optimisticResponse: [String: Any]? = nil, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil
    ) async throws -> OperationResult<Op.Data> {
        try await lastResult(
            of: operation,
            executeMutation(
                operation: operation.createDescriptor(), cacheConfig: cacheConfig,
                optimisticResponse: optimisticResponse,
                optimisticUpdater: readable(optimisticUpdater, Op.self),
                updater: readable(updater, Op.self)))
    }

    /// The same as ``commitMutation(_:cacheConfig:optimisticResponse:optimisticUpdater:updater:)``, told to
    /// closures: the data together with the errors that came with it, once, or why there is neither.
    ///
    /// It runs at once, and goes on until it completes even if what is returned is not kept.
    /// - Returns: what cancels it.
    @discardableResult
    public func commitMutation<Op: Operation>(
        _ operation: Op, cacheConfig: CacheConfig = .init(),
        optimisticResponse: [String: Any]? = nil, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil,
        onCompleted: @escaping (Op.Data?, [GraphQLError]) -> Void,
        onError: ((any Error) -> Void)? = nil
    ) -> any Cancellable {
        var last = OperationResult<Op.Data>(data: nil, errors: [], extensions: [:])
        let sink = Subscribers.Sink<OperationResult<Op.Data>, any Error>(
            receiveCompletion: { completion in
                switch completion {
                case .finished: onCompleted(last.data, last.errors)
                case .failure(let error): onError?(error)
                }
            },
            receiveValue: { last = $0 })
        executeMutation(
            operation: operation.createDescriptor(), cacheConfig: cacheConfig,
            optimisticResponse: optimisticResponse,
            optimisticUpdater: readable(optimisticUpdater, Op.self),
            updater: readable(updater, Op.self)
        ).tryMap { [self] in try result(of: operation, $0) }.subscribe(sink)
        return sink
    }

    /// Runs a mutation; gives the response after it was written to the store.
    public func executeMutation(
        operation: OperationDescriptor, cacheConfig: CacheConfig = .init(),
        optimisticResponse: [String: Any]? = nil, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<GraphQLResponse, any Error> {
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

    private func optimistic(
        _ operation: OperationDescriptor, _ response: [String: Any]?,
        _ updater: SelectorStoreUpdater?
    ) throws -> OptimisticMutation? {
        if response == nil, updater == nil { return nil }
        return OptimisticMutation(
            response: try response.map { try bytes(ofOptimistic: $0, to: operation) },
            updater: updater.map { selectorUpdater($0, operation.request) })
    }

    // MARK: Subscriptions

    /// Subscribes to a GraphQL subscription; every event is written to the store.
    ///
    /// - Parameters:
    ///   - subscription: the subscription, with its variables.
    ///   - cacheConfig: passed to the network.
    ///   - updater: changes the store after each event was written to it.
    /// - Returns: a publisher of the events' data. It ends when the server ends the subscription, and fails when the
    ///   network or an updater does; see ``fetchQuery(_:cacheConfig:)``. One event that came to nothing, or that
    ///   cannot be read, is nil, and those behind it come. ``results(of:cacheConfig:updater:)`` has the errors.
    public func requestSubscription<Op: Operation>(
        _ subscription: Op, cacheConfig: CacheConfig = .init(),
        updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<Op.Data?, any Error> {
        results(
            of: subscription,
            executeSubscription(
                operation: subscription.createDescriptor(), cacheConfig: cacheConfig,
                updater: readable(updater, Op.self)))
    }

    /// The same with a closure for each event.
    /// - Returns: what ends the subscription; keep it.
    public func requestSubscription<Op: Operation>(
        _ subscription: Op, cacheConfig: CacheConfig = .init(),
        updater: SelectorStoreUpdater? = nil, onNext: ((Op.Data?) -> Void)? = nil,
        onError: ((any Error) -> Void)? = nil, onCompleted: (() -> Void)? = nil
    ) -> AnyCancellable {
        requestSubscription(subscription, cacheConfig: cacheConfig, updater: updater).sink(
            receiveCompletion: { completion in
                switch completion {
                case .finished: onCompleted?()
                case .failure(let error): onError?(error)
                }
            },
            receiveValue: { onNext?($0) })
    }

    /// The events as a sequence: it begins at once, and ending the iteration ends the subscription. At most
    /// 1,024 events wait; then the oldest is dropped (its records are in the store all the same).
    public func values<Op: Operation>(
        of subscription: Op, cacheConfig: CacheConfig = .init(),
        updater: SelectorStoreUpdater? = nil
    ) -> AsyncThrowingStream<Op.Data?, any Error> {
        requestSubscription(subscription, cacheConfig: cacheConfig, updater: updater).stream()
    }

    /// Subscribes; gives the events as responses after they were written to the store.
    public func executeSubscription(
        operation: OperationDescriptor, cacheConfig: CacheConfig = .init(),
        updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<GraphQLResponse, any Error> {
        ExecutionPublisher { [self] run in
            OperationExecutor(self, operation, cacheConfig, updater: updater, run: run).begin()
        }.eraseToAnyPublisher()
    }

    /// An updater that gets no data where the operation's own data could not be made of it, because
    /// something is missing that it cannot be without.
    func readable<Op: Operation>(
        _ updater: SelectorStoreUpdater?, _ operation: Op.Type
    ) -> SelectorStoreUpdater? {
        updater.map { updater in
            { store, data in
                try updater(
                    &store, data.flatMap { $0.canBeRead(as: Op.Data.self) ? $0 : nil })
            }
        }
    }

    // MARK: Results

    private func results<Op: Operation>(
        of operation: Op, _ responses: AnyPublisher<GraphQLResponse, any Error>
    ) -> AnyPublisher<Op.Data?, any Error> {
        responses.tryMap { [self] in try result(of: operation, $0).data }.eraseToAnyPublisher()
    }

    private func lastResult<Op: Operation>(
        of operation: Op, _ responses: AnyPublisher<GraphQLResponse, any Error>
    ) async throws -> OperationResult<Op.Data> {
        guard let response = try await responses.lastValue() else {
            return OperationResult(data: nil, errors: [], extensions: [:])
        }
        return try result(of: operation, response)
    }

    /// What a response comes to as an operation's own data: as it was read when it was written, whatever has
    /// happened to its records since.
    /// - Throws: a ``ReadError`` where the data cannot be made of it. Not for an event of a subscription: its result
    ///   says so, and those behind it come.
    func result<Op: Operation>(
        of operation: Op, _ response: GraphQLResponse
    ) throws -> OperationResult<Op.Data> {
        var result = OperationResult<Op.Data>(
            data: nil, errors: response.errors ?? [], extensions: response.extensionVariables,
            hold: response.written?.hold)
        guard let reading = response.written?.reading else { return result }
        log.noteFields(of: reading)
        let descriptor = operation.createDescriptor()
        let selector = descriptor.fragment
        do {
            result.data = try Snapshot(reading, selector).value()
        } catch let error as ReadError where descriptor.kind == .subscription {
            let name = descriptor.request.node.params.name
            log.note(ExecutionEvent(.executeError, operation: name, error: error))
            result.errors.append(GraphQLError(error))
        }
        return result
    }
}

/// What an operation came to.
///
/// As long as a result is kept, the records that its operation reaches are not collected. A record that the operation no
/// longer reaches, because a later response linked another in its place, may go.
public struct OperationResult<Data: ReadableRecord>: Sendable {
    /// nil where the server had none, and where ``errors`` say that it cannot be read.
    public var data: Data?
    /// Those that came with the data; each says which field of it is null for what reason. Of an event of a
    /// subscription also why its data could not be read.
    public var errors: [GraphQLError]
    /// What the server adds.
    public var extensions: VariableData
    /// Keeps the records.
    private let hold: Retention?

    init(
        data: Data?, errors: [GraphQLError], extensions: VariableData, hold: Retention? = nil
    ) {
        self.data = data
        self.errors = errors
        self.extensions = extensions
        self.hold = hold
    }
}

extension GraphQLError {
    /// Why an event's data could not be read.
    fileprivate init(_ error: ReadError) {
        self.init(
            message: error.errorDescription ?? "\(error)",
            path: error.path.map { step in Int(step).map { .index($0) } ?? .key(step) })
    }
}
