package import Publishing
package import RelayArtifacts

/// A network that passes on responses in the form the runtime reads, so that none is copied on the way.
package protocol BytesNetwork: Network {
    /// As ``Network/execute(request:variables:cacheConfig:)``.
    func executeBytes(
        request: RequestParameters, variables: VariableData, cacheConfig: CacheConfig
    ) -> AnyPublisher<[UInt8], any Error>
}

extension Network {
    /// Sends one operation over any network.
    func responses(
        to request: RequestParameters, _ variables: VariableData, _ cacheConfig: CacheConfig
    ) -> AnyPublisher<[UInt8], any Error> {
        if let network = self as? any BytesNetwork {
            return network.executeBytes(
                request: request, variables: variables, cacheConfig: cacheConfig)
        }
        return execute(request: request, variables: variables, cacheConfig: cacheConfig)
            .map { Array($0) }.eraseToAnyPublisher()
    }
}
