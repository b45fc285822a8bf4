import Publishing
public import RelayArtifacts

extension Environment {
    /// Fetches a fragment's record again, by the query that `@refetchable` made for it. What comes is written to
    /// the store, so followers of the fragment see it. Cancelling the task cancels the request.
    ///
    /// - Parameters:
    ///   - fragment: as it was read.
    ///   - variables: those that are to be others than the fragment was fetched with.
    ///   - cacheConfig: forced, unless it is given.
    /// - Returns: the errors that came with the data.
    /// - Throws: as ``fetch(_:cacheConfig:)``.
    @discardableResult
    public func refetch<F: RefetchFragment>(
        _ fragment: F, variables: VariableData = [:], cacheConfig: CacheConfig = .init(force: true)
    ) async throws -> [GraphQLError] {
        let operation = refetchOperation(fragment, variables)
        let response = try await execute(operation: operation, cacheConfig: cacheConfig).lastValue()
        return response?.errors ?? []
    }

    /// The fragment's query under the variables that the fragment was read with, but for those given.
    func refetchOperation<F: RefetchFragment>(
        _ fragment: F, _ changed: VariableData
    ) -> OperationDescriptor {
        let node = F.Operation.node
        var variables = VariableData()
        // The query that brought the fragment may have variables that its own query has not.
        for definition in node.operation.argumentDefinitions {
            variables[definition.name] = fragment.selector.variables[definition.name]
        }
        variables.merge(changed)
        if let field = F.metadata.identifierField {
            let shown = selectorData(of: fragment)?.get(String?.self, field)
            variables[field] = .string(shown ?? fragment.fragmentPointer.dataID.rawValue)
        }
        return OperationDescriptor(
            request: RequestDescriptor(node: node, variables: variables))
    }
}
