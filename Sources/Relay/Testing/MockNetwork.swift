public import Foundation
public import Publishing
public import RelayArtifacts

/// A network in which a test plays the server: requests wait until the test answers them.
public final class MockNetwork: Network, @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    /// One request that has not ended. Whatever is sent arrives, even from another thread.
    public final class Request: @unchecked Sendable {
        // Unchecked: a run has a lock of its own; the rest is constant.

        /// The operation's name, kind and text.
        public let parameters: RequestParameters
        /// Its variables, including defaults.
        public let variables: VariableData
        /// How it is to be fetched.
        public let cacheConfig: CacheConfig
        private let run: Execution<Data>.Run
        private weak var network: MockNetwork?

        fileprivate init(
            _ parameters: RequestParameters, _ variables: VariableData, _ config: CacheConfig,
            _ run: Execution<Data>.Run, of network: MockNetwork
        ) {
            self.parameters = parameters
            self.variables = variables
            cacheConfig = config
            self.run = run
            self.network = network
        }

        /// Sends a response; the request goes on.
        public func nextValue(_ response: Data) { run.send(response) }
        /// Ends the request.
        public func complete() { end(.finished) }
        /// Fails the request.
        public func reject(_ error: any Error) { end(.failure(error)) }

        private func end(_ completion: Subscribers.Completion<any Error>) {
            network?.forget(self)
            run.complete(completion)
        }

        /// Sends a response and completes.
        public func resolve(_ response: Data) {
            nextValue(response)
            complete()
        }
    }

    private let lock = NSLock()
    private var waiting: [Request] = []
    private var resolvers: [(RequestParameters, VariableData) -> Data?] = []
    private var executed = 0

    /// A network without requests.
    public init() {}

    /// The requests that wait for an answer, oldest first.
    public var requests: [Request] { lock.withLock { waiting } }

    /// How many requests were made in total.
    public var executionCount: Int { lock.withLock { executed } }

    /// Answers requests immediately: the first function that returns a response wins. One function may
    /// answer several requests.
    public func answer(_ resolver: @escaping (RequestParameters, VariableData) -> Data?) {
        lock.withLock { resolvers.append(resolver) }
    }

    /// Immediately answers what has a mocked answer; anything else waits.
    public func execute(
        request: RequestParameters, variables: VariableData, cacheConfig: CacheConfig
    ) -> AnyPublisher<Data, any Error> {
        let resolvers = lock.withLock {
            executed += 1
            return self.resolvers
        }
        for resolver in resolvers {
            if let response = resolver(request, variables) {
                return Just(response).setFailureType(to: (any Error).self).eraseToAnyPublisher()
            }
        }
        // A request without a subscriber yet is not listed: an answer would be lost.
        return ExecutionPublisher { [self] run in
            let made = Request(request, variables, cacheConfig, run, of: self)
            lock.withLock { waiting.append(made) }
            return AnyCancellable { [weak self] in self?.forget(made) }
        }.eraseToAnyPublisher()
    }

    fileprivate func forget(_ request: Request) {
        lock.withLock { waiting.removeAll { $0 === request } }
    }
}
