public import Foundation
import RelayArtifacts

extension MockEnvironment {
    // MARK: Waiting requests

    /// The operation of a request; nil once it has ended.
    public func operation(of request: MockNetwork.Request) -> OperationDescriptor? {
        tracker.request(request.parameters, request.variables)
            .map { OperationDescriptor(request: $0) }
    }

    /// The operations with waiting requests, oldest first.
    public var waitingOperations: [OperationDescriptor] {
        mockNetwork.requests.compactMap { operation(of: $0) }
    }

    /// Whether a request of the operation, with the same variables, is waiting.
    public func isLoading<Op: Operation>(_ operation: Op) -> Bool {
        !requests(of: operation).isEmpty
    }

    // MARK: Generated answers

    /// Sends a generated response; the request goes on.
    /// - Throws: a ``NoMockRequestError`` if the request has ended.
    public func nextValue(
        _ request: MockNetwork.Request, with generator: MockPayloadGenerator = .init()
    ) throws {
        guard let operation = operation(of: request) else { throw NoMockRequestError() }
        request.nextValue(generator.response(to: operation))
    }

    /// Sends a generated response, and completes.
    /// - Throws: a ``NoMockRequestError`` if the request has ended.
    public func resolve(
        _ request: MockNetwork.Request, with generator: MockPayloadGenerator = .init()
    ) throws {
        try nextValue(request, with: generator)
        request.complete()
    }

    /// Sends a generated response to the newest waiting request, and completes.
    /// - Throws: a ``NoMockRequestError`` if none is waiting.
    public func resolveMostRecent(with generator: MockPayloadGenerator = .init()) throws {
        guard let mostRecent else { throw NoMockRequestError() }
        try resolve(mostRecent, with: generator)
    }

    /// Fails the newest waiting request.
    /// - Throws: a ``NoMockRequestError`` if none is waiting.
    public func rejectMostRecent(_ error: any Error) throws {
        guard let mostRecent else { throw NoMockRequestError() }
        mostRecent.reject(error)
    }

    /// Immediately answers every operation without a mock for which the body returns a response; others
    /// wait.
    ///
    ///     environment.answer { generator.response(to: $0) }
    ///
    /// - Parameter response: returns the whole response to an operation, or nil.
    public func answer(_ response: @escaping (OperationDescriptor) -> Data?) {
        mockNetwork.answer { [tracker] parameters, variables in
            tracker.request(parameters, variables)
                .flatMap { response(OperationDescriptor(request: $0)) }
        }
    }
}

/// A test answers a request, but none is waiting.
public struct NoMockRequestError: SentenceError, Hashable, Sendable {
    init() {}

    public var errorDescription: String? {
        "No request is waiting: nothing was executed, or it was already answered or cancelled."
    }
}
