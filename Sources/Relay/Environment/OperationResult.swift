import Publishing
public import RelayArtifacts
@_spi(Rooms) import RelayStore

/// The result of an operation.
///
/// While a result is held, the records that its operation reaches are not collected. A record that the operation no
/// longer reaches, because a later response linked another in its place, may go.
public struct OperationResult<Data: ReadableRecord>: Sendable {
    /// nil if the server sent none, or if ``errors`` say that it cannot be read.
    public var data: Data?
    /// The errors that came with the data; each says which field is null and why. For a subscription event, a result of a
    /// live query, and a response of which parts are still to come, also why its data could not be read.
    public var errors: [GraphQLError] = []
    /// Why the server has not carried out a mutation, though it sent an answer: there are errors, and each field of the
    /// mutation is null. Its updater has not run. nil: it was carried out.
    public var refusal: NetworkError?
    /// What the server adds.
    public var extensions: VariableData = [:]
    /// Keeps the records.
    private var hold: Retention?

    /// The network completed without a response.
    static var nothing: OperationResult { OperationResult() }

    private init() {}

    init(_ response: GraphQLResponse, _ request: RequestDescriptor) {
        errors = response.errors ?? []
        refusal = response.refusal(of: request)
        extensions = response.extensions
        hold = response.written?.hold
    }
}

extension Environment {
    func results<Op: Operation>(
        of operation: Op, _ responses: AnyPublisher<GraphQLResponse, any Error>
    ) -> AnyPublisher<OperationResult<Op.Data>, any Error> {
        let descriptor = operation.createDescriptor()
        return responses.tryMap { [self] response in
            var result = OperationResult<Op.Data>(response, descriptor.request)
            do {
                result.data = try data(of: descriptor, response)
            } catch let error as ReadError
                where response.hasNext || response.isEvent
            {
                // It may be whole with the next part; and the results after an event still arrive.
                if !response.hasNext {
                    let name = descriptor.request.node.params.name
                    log.note(ExecutionEvent(.executeError, operation: name, error: error))
                }
                result.errors.append(GraphQLError(error))
            }
            return result
        }.eraseToAnyPublisher()
    }

    /// What the last of the responses comes to. Those before it are the same with fewer of its parts, and are not read.
    /// - Throws: also a ``ReadError`` where the operation's own data cannot be made of it.
    func lastResult<Op: Operation>(
        of operation: Op, _ responses: AnyPublisher<GraphQLResponse, any Error>
    ) async throws -> OperationResult<Op.Data> {
        guard let response = try await responses.lastValue() else { return .nothing }
        let descriptor = operation.createDescriptor()
        var result = OperationResult<Op.Data>(response, descriptor.request)
        result.data = try data(of: descriptor, response)
        return result
    }

    /// The data of a mutation alone: where its errors are not seen, a refusal is a failure.
    func carriedOut<Data>(
        _ results: AnyPublisher<OperationResult<Data>, any Error>
    ) -> AnyPublisher<Data?, any Error> {
        results.tryMap { result in
            if let refusal = result.refusal { throw refusal }
            return result.data
        }.eraseToAnyPublisher()
    }

    /// A response as the operation's own data, as it was read when it was written, whatever has happened to its
    /// records since.
    private func data<Data: ReadableRecord>(
        of operation: OperationDescriptor, _ response: GraphQLResponse
    ) throws -> Data? {
        guard let reading = response.written?.reading else { return nil }
        log.noteFields(of: reading)
        return try Snapshot(reading, operation.fragment).value()
    }

    /// An updater that gets no data if the operation's own data could not be made, because
    /// something required is missing.
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
}

extension GraphQLError {
    /// Why the data of one result of a stream could not be read.
    fileprivate init(_ error: ReadError) {
        self.init(
            message: error.errorDescription ?? "\(error)",
            path: error.path.map { step in Int(step).map { .index($0) } ?? .key(step) })
    }
}
