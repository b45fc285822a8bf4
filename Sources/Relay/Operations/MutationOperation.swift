public import Publishing
public import RelayArtifacts

/// A mutation whose expected answers have a type; generated from a document.
///
///     try await environment.commit(
///         ChangeTodoStatusMutation(input: .init(complete: true, id: id)),
///         optimisticResponse: .init(changeTodoStatus: .init(todo: .init(id: id, complete: true))))
public protocol MutationOperation: Operation {
    /// An answer as the program expects it: everything that the mutation selects, the fields of its fragments, too.
    associatedtype OptimisticResponse: VariableDataConvertible
}

extension Environment {
    /// Runs a mutation and returns its result, as `commit` does with a dictionary: with an expected answer that has a
    /// type.
    public func commit<Op: MutationOperation>(
        _ mutation: Op, cacheConfig: CacheConfig = .init(),
        optimisticResponse: Op.OptimisticResponse, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil
    ) async throws -> OperationResult<Op.Data> {
        try await lastResult(
            of: mutation,
            responses(
                to: mutation, cacheConfig, ExpectedAnswer(typed: optimisticResponse),
                optimisticUpdater, updater))
    }

    /// The results of a mutation, as a publisher: with an expected answer that has a type.
    public func publisher<Op: MutationOperation>(
        of mutation: Op, cacheConfig: CacheConfig = .init(),
        optimisticResponse: Op.OptimisticResponse, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<OperationResult<Op.Data>, any Error> {
        results(
            of: mutation,
            responses(
                to: mutation, cacheConfig, ExpectedAnswer(typed: optimisticResponse),
                optimisticUpdater, updater))
    }

    /// The data of a mutation, as a publisher: with an expected answer that has a type.
    public func commitMutation<Op: MutationOperation>(
        _ mutation: Op, cacheConfig: CacheConfig = .init(),
        optimisticResponse: Op.OptimisticResponse, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<Op.Data?, any Error> {
        carriedOut(
            publisher(
                of: mutation, cacheConfig: cacheConfig, optimisticResponse: optimisticResponse,
                optimisticUpdater: optimisticUpdater, updater: updater))
    }

    /// Shows a mutation's expected answer without sending the mutation, until the returned value is cancelled or
    /// released.
    public func applyMutation<Op: MutationOperation>(
        _ mutation: Op, optimisticResponse: Op.OptimisticResponse,
        optimisticUpdater: SelectorStoreUpdater? = nil
    ) throws -> AnyCancellable {
        try applyMutation(
            mutation.createDescriptor(), ExpectedAnswer(typed: optimisticResponse),
            optimisticUpdater)
    }
}

extension Mutation.Mutator where Operation: MutationOperation {
    /// Runs the mutation: with an expected answer that has a type.
    public func commit(
        variables: Operation.Variables, optimisticResponse: Operation.OptimisticResponse,
        optimisticUpdater: SelectorStoreUpdater? = nil, updater: SelectorStoreUpdater? = nil,
        completion: ((Result<Operation.Data?, any Error>) -> Void)? = nil
    ) {
        run(completion) { environment in
            environment.commitMutation(
                Operation(variables: variables), optimisticResponse: optimisticResponse,
                optimisticUpdater: optimisticUpdater, updater: updater)
        }
    }
}
