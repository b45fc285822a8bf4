import Foundation
import RelayJSON
@_spi(Rooms) public import RelayStore

/// An environment for tests and previews, without a server.
///
///     let environment = MockEnvironment()
///     environment.mockResponse(UserQuery(), ["data": ["user": ["id": "1", "name": "Ada"]]])
///     …
///     environment.mostRecent?.reject(URLError(.timedOut))
///
/// A request without a mocked answer waits, and can be answered through ``mostRecent`` or
/// ``requests(of:)``.
public final class MockEnvironment: Environment, @unchecked Sendable {
    // Unchecked: like its superclass; the added part is constant.

    /// The network, in which requests wait.
    public let mockNetwork: MockNetwork
    private let mocks = Mocks()

    /// An environment with an empty store.
    public convenience init(handlerProvider: any HandlerProvider = DefaultHandlerProvider()) {
        self.init(handlerProvider: handlerProvider, scheduler: DispatchScheduler())
    }

    init(
        handlerProvider: any HandlerProvider = DefaultHandlerProvider(),
        scheduler: any Scheduling
    ) {
        let network = MockNetwork()
        mockNetwork = network
        super.init(
            network: network, store: Store(), handlerProvider: handlerProvider,
            scheduler: scheduler)
        network.answer { [mocks] request, variables in mocks.response(request.name, variables) }
    }

    // MARK: Payloads: whole responses, `{"data": {…}}`

    /// Puts a response to the operation into the store.
    public func cachePayload<Op: Operation>(_ operation: Op, _ payload: [String: Any]) throws {
        try cache(operation, try JSONValue(any: payload).bytes)
    }

    /// Puts a response to the operation into the store.
    ///
    /// - Parameters:
    ///   - operation: what was asked.
    ///   - payload: the whole response, as JSON text.
    public func cachePayload<Op: Operation>(_ operation: Op, _ payload: String) throws {
        try cache(operation, Array(payload.utf8))
    }

    /// Answers the operation with this response whenever it is executed with the same variables.
    public func mockResponse<Op: Operation>(_ operation: Op, _ payload: [String: Any]) throws {
        mock(operation, Data(try JSONValue(any: payload).bytes))
    }

    /// Answers the operation with this response whenever it is executed with the same variables.
    ///
    /// - Parameters:
    ///   - operation: what is asked.
    ///   - payload: the whole response, as JSON text.
    public func mockResponse<Op: Operation>(_ operation: Op, _ payload: String) {
        mock(operation, Data(payload.utf8))
    }

    /// Answers the operation when the returned closure is called: all its requests waiting at that time.
    public func delayMockedResponse<Op: Operation>(
        _ operation: Op, _ payload: [String: Any]
    ) throws -> () -> Void {
        let response = Data(try JSONValue(any: payload).bytes)
        return { [self] in
            for request in requests(of: operation) { request.resolve(response) }
        }
    }

    // MARK: Requests

    /// The newest waiting request.
    public var mostRecent: MockNetwork.Request? { mockNetwork.requests.last }

    /// The waiting requests of an operation, with the same variables.
    public func requests<Op: Operation>(of operation: Op) -> [MockNetwork.Request] {
        let request = operation.createDescriptor().request
        return mockNetwork.requests.filter {
            $0.parameters.name == request.node.params.name && $0.variables == request.variables
        }
    }

    private func cache<Op: Operation>(_ operation: Op, _ response: [UInt8]) throws {
        try store.commitPayload(operation.createDescriptor(), response)
    }

    private func mock<Op: Operation>(_ operation: Op, _ response: Data) {
        let request = operation.createDescriptor().request
        mocks.set(request.node.params.name, request.variables, response)
    }
}
