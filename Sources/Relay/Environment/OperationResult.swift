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
    /// The errors that came with the data; each says which field is null and why. For a subscription event or a result
    /// of a live query, also why its data could not be read.
    public var errors: [GraphQLError] = []
    /// What the server adds.
    public var extensions: VariableData = [:]
    /// Keeps the records.
    private var hold: Retention?

    /// The network completed without a response.
    static var nothing: OperationResult { OperationResult() }

    private init() {}

    init(_ response: GraphQLResponse) {
        errors = response.errors ?? []
        extensions = response.extensions
        hold = response.written?.hold
    }
}

extension Environment {
    func results<Op: Operation>(
        of operation: Op, _ responses: AnyPublisher<GraphQLResponse, any Error>
    ) -> AnyPublisher<OperationResult<Op.Data>, any Error> {
        responses.tryMap { [self] in try result(of: operation, $0) }.eraseToAnyPublisher()
    }

    /// A response as the operation's own data, as it was read when it was written, whatever has happened to its
    /// records since.
    /// - Throws: a ``ReadError`` if the data cannot be made from it. Not for a subscription event or a result of a live
    ///   query: it carries the error, and those after it still arrive.
    private func result<Op: Operation>(
        of operation: Op, _ response: GraphQLResponse
    ) throws -> OperationResult<Op.Data> {
        var result = OperationResult<Op.Data>(response)
        guard let reading = response.written?.reading else { return result }
        log.noteFields(of: reading)
        let descriptor = operation.createDescriptor()
        do {
            result.data = try Snapshot(reading, descriptor.fragment).value()
        } catch let error as ReadError where response.isEvent {
            let name = descriptor.request.node.params.name
            log.note(ExecutionEvent(.executeError, operation: name, error: error))
            result.errors.append(GraphQLError(error))
        }
        return result
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
