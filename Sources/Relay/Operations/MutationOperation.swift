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
        try await commit(
            mutation, cacheConfig: cacheConfig,
            optimisticResponse: optimisticResponse.variableData.plain,
            optimisticUpdater: optimisticUpdater, updater: updater)
    }

    /// The results of a mutation, as a publisher: with an expected answer that has a type.
    public func publisher<Op: MutationOperation>(
        of mutation: Op, cacheConfig: CacheConfig = .init(),
        optimisticResponse: Op.OptimisticResponse, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<OperationResult<Op.Data>, any Error> {
        publisher(
            of: mutation, cacheConfig: cacheConfig,
            optimisticResponse: optimisticResponse.variableData.plain,
            optimisticUpdater: optimisticUpdater, updater: updater)
    }

    /// The data of a mutation, as a publisher: with an expected answer that has a type.
    public func commitMutation<Op: MutationOperation>(
        _ mutation: Op, cacheConfig: CacheConfig = .init(),
        optimisticResponse: Op.OptimisticResponse, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<Op.Data?, any Error> {
        commitMutation(
            mutation, cacheConfig: cacheConfig,
            optimisticResponse: optimisticResponse.variableData.plain,
            optimisticUpdater: optimisticUpdater, updater: updater)
    }

    /// Shows a mutation's expected answer without sending the mutation, until the returned value is cancelled or
    /// released.
    public func applyMutation<Op: MutationOperation>(
        _ mutation: Op, optimisticResponse: Op.OptimisticResponse,
        optimisticUpdater: SelectorStoreUpdater? = nil
    ) throws -> AnyCancellable {
        try applyMutation(
            mutation.createDescriptor(), optimisticResponse: optimisticResponse.variableData.plain,
            optimisticUpdater: optimisticUpdater)
    }
}

extension Mutation.Mutator where Operation: MutationOperation {
    /// Runs the mutation: with an expected answer that has a type.
    public func commit(
        variables: Operation.Variables, optimisticResponse: Operation.OptimisticResponse,
        optimisticUpdater: SelectorStoreUpdater? = nil, updater: SelectorStoreUpdater? = nil,
        completion: ((Result<Operation.Data?, any Error>) -> Void)? = nil
    ) {
        commit(
            variables: variables, optimisticResponse: optimisticResponse.variableData.plain,
            optimisticUpdater: optimisticUpdater, updater: updater, completion: completion)
    }
}

extension VariableData {
    /// As a literal dictionary would have it.
    fileprivate var plain: [String: Any] {
        Dictionary(uniqueKeysWithValues: sorted.map { ($0.key, $0.value.plain) })
    }
}

extension VariableValue {
    fileprivate var plain: Any {
        switch self {
        case .null: Optional<Any>.none as Any
        case .string(let value): value
        case .int(let value): value
        case .bool(let value): value
        case .float(let value): value
        case .object(let data): data.plain
        case .array(let values): values.map(\.plain)
        }
    }
}
