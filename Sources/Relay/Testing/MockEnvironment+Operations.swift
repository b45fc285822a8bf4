public import Foundation
import RelayArtifacts

extension MockEnvironment {
    // MARK: What waits

    /// The operation that a request is of; nil once it has ended.
    public func operation(of request: MockNetwork.Request) -> OperationDescriptor? {
        tracker.request(request.parameters, request.variables)
            .map { OperationDescriptor(request: $0) }
    }

    /// The operations whose requests wait, oldest first.
    public var waitingOperations: [OperationDescriptor] {
        mockNetwork.requests.compactMap { operation(of: $0) }
    }

    /// Whether a request of the operation, with the same variables, waits.
    public func isLoading<Op: Operation>(_ operation: Op) -> Bool {
        !requests(of: operation).isEmpty
    }

    // MARK: Answers that are made up

    /// Sends a response that is made up; the request goes on.
    /// - Throws: a ``NoMockRequestError`` if the request has ended.
    public func nextValue(
        _ request: MockNetwork.Request, with generator: MockPayloadGenerator = .init()
    ) throws {
        guard let operation = operation(of: request) else { throw NoMockRequestError() }
        request.nextValue(generator.response(to: operation))
    }

    /// Sends a response that is made up, and completes.
    /// - Throws: a ``NoMockRequestError`` if the request has ended.
    public func resolve(
        _ request: MockNetwork.Request, with generator: MockPayloadGenerator = .init()
    ) throws {
        try nextValue(request, with: generator)
        request.complete()
    }

    /// Sends a response to the request made last of those that wait, and completes.
    /// - Throws: a ``NoMockRequestError`` if none waits.
    public func resolveMostRecent(with generator: MockPayloadGenerator = .init()) throws {
        guard let mostRecent else { throw NoMockRequestError() }
        try resolve(mostRecent, with: generator)
    }

    /// Fails the request made last of those that wait.
    /// - Throws: a ``NoMockRequestError`` if none waits.
    public func rejectMostRecent(_ error: any Error) throws {
        guard let mostRecent else { throw NoMockRequestError() }
        mostRecent.reject(error)
    }

    /// Answers every operation at once for which nothing was mocked, as far as the body gives a response;
    /// others wait.
    ///
    ///     environment.answer { generator.response(to: $0) }
    ///
    /// - Parameter response: gives the whole response to an operation, or nil.
    public func answer(_ response: @escaping (OperationDescriptor) -> Data?) {
        mockNetwork.answer { [tracker] parameters, variables in
            tracker.request(parameters, variables)
                .flatMap { response(OperationDescriptor(request: $0)) }
        }
    }
}

/// A test answers a request that nothing waits for.
public struct NoMockRequestError: SentenceError, Hashable, Sendable {
    init() {}

    public var errorDescription: String? {
        "No request waits: nothing was executed, or it was answered or cancelled before."
    }
}
