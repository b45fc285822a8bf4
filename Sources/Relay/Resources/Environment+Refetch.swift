import Publishing
public import RelayArtifacts

extension Environment {
    /// Fetches a fragment's record again, with the query generated for `@refetchable`. The response is written
    /// to the store, so followers of the fragment see it. Cancelling the task cancels the request.
    ///
    /// - Parameters:
    ///   - fragment: as it was read.
    ///   - variables: those that differ from the ones the fragment was fetched with.
    ///   - cacheConfig: forced by default.
    /// - Returns: the errors that came with the data.
    /// - Throws: as ``fetch(_:cacheConfig:)``.
    @discardableResult
    public func refetch<F: RefetchFragment>(
        _ fragment: F, variables: VariableData = [:], cacheConfig: CacheConfig = .init(force: true)
    ) async throws -> [GraphQLError] {
        let operation = refetchOperation(fragment, variables)
        return try await response(to: operation, cacheConfig)?.errors ?? []
    }

    func response(
        to operation: OperationDescriptor, _ cacheConfig: CacheConfig = .init(force: true)
    ) async throws -> GraphQLResponse? {
        try await execute(operation: operation, cacheConfig: cacheConfig).lastValue()
    }

    /// The fragment's query with the variables that the fragment was read with, except those given.
    package func refetchOperation<F: RefetchFragment>(
        _ fragment: F, _ changed: VariableData
    ) -> OperationDescriptor {
        let node = F.Operation.node
        var variables = VariableData()
        // The query that fetched the fragment may have variables that the fragment's own query lacks.
        for definition in node.operation.argumentDefinitions {
            variables[definition.name] = fragment.selector.variables[definition.name]
        }
        variables.merge(changed)
        if let field = F.metadata.identifierField {
            let shown = selectorData(of: fragment)?.get(String?.self, field)
            variables[field] = .string(shown ?? fragment.fragmentPointer.dataID.rawValue)
        }
        // Where the fragment was spread without a value, the query's default must not take its place.
        return OperationDescriptor(request: RequestDescriptor(node, exactly: variables))
    }

    /// Where a fragment is in what its query has brought into the store; nil if the record is not there.
    package func refetched<F: RefetchFragment>(
        _ fragment: F.Type, by operation: OperationDescriptor
    ) -> FragmentPointer? {
        let selector = operation.fragment
        let read = store.lookup(selector.selector)
        let data = read.data.map { SelectorData($0, ReadOrigin(owner: selector.owner, read)) }
        let parent = data?.get(path: F.metadata.path) as? SelectorData
        return parent?.get(fragment: F.node.name)
    }
}
