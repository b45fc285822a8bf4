import Publishing
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayStore

/// A mutation that may be found unfinished in a store on disk.
///
/// The journal records what was requested and what was shown; only the program knows how to read the
/// answer and which updater to run.
public struct ResumableMutation {
    let node: ConcreteRequest
    let updater: SelectorStoreUpdater?

    /// - Parameters:
    ///   - type: the mutation.
    ///   - updater: changes the store after the response was written to it; the same one that the mutation
    ///     was started with.
    public init<Op: Operation>(_ type: Op.Type, updater: SelectorStoreUpdater? = nil) {
        self.init(Op.node, updater: updater)
    }

    package init(_ node: ConcreteRequest, updater: SelectorStoreUpdater? = nil) {
        self.node = node
        self.updater = updater
    }
}

/// How a resent mutation ended.
public struct ResumedMutation: Sendable {
    /// `CLIENT:N`, its original name.
    public var transactionID: String
    /// The operation's name.
    public var operation: String
    /// The response; nil if the network gave none. What the server refused is a failure, also if it has a response.
    public var result: Result<GraphQLResponse?, any Error>
}

extension Environment {
    /// Resends the mutations that were in flight when the previous process ended: one after another, in the
    /// order in which they were started, and under their old names, so that none is carried out twice.
    /// Mutations started meanwhile are sent after them.
    ///
    /// Call it before other mutations. Their optimistic updates stay until they are answered or refused. A mutation
    /// whose connection ends each time it is sent is given up; attempts by earlier processes count.
    ///
    /// A mutation that fails for an unrelated reason, say because no user is signed in or the server's disk is full (its
    /// code is `STORAGE_FULL`, `OVERLOADED` or `OUTCOME_UNKNOWN`, without a member `data`), stays as it is, and the next
    /// call resends it, in this run of the program or a later one. Those after it stay as well, to preserve the order;
    /// mutations that this process has started meanwhile are sent. Call again when the network is back, not from the
    /// completion. An error that recurs every time blocks everything after it: a custom network uses ``NetworkFailure``
    /// to say which of its failures are about the mutation and end it. (`HTTPNetwork` gives up a mutation that was
    /// refused ten times while the server answered others.) A call skips what an earlier call is still sending and what
    /// this process has started.
    ///
    /// - Parameters:
    ///   - mutations: all those that the program knows.
    ///   - completion: called with the outcome of each; a mutation that was not sent because an earlier one
    ///     stays gets that one's error.
    /// - Returns: the names of operations that were found but are not among `mutations`. They stay as they
    ///   are, and a later call can send them.
    @discardableResult
    public func resumeMutations(
        _ mutations: [ResumableMutation], completion: ((ResumedMutation) -> Void)? = nil
    ) throws -> [String] {
        var unknown: [String] = []
        var known: [Outbox.Unfinished] = []
        let claimed = outbox.claim(try store.unfinishedMutations) { $0.entry }
        // An earlier call may have finished and released one since the list was made.
        let left = Set(try store.unfinishedMutations.map(\.entry))
        for (entry, pending) in claimed {
            guard left.contains(entry) else {
                outbox.release(entry)
                continue
            }
            let intent = pending.intent
            guard let id = intent.mutationID, let name = intent.operationName else {
                outbox.release(entry)
                continue
            }
            guard let mutation = mutations.first(where: { $0.node.params.name == name }) else {
                unknown.append(name)
                outbox.release(entry)
                continue
            }
            let request = RequestDescriptor(
                node: mutation.node, variables: VariableData(intent.arguments.object ?? [:]))
            let execution = ExecutionPublisher<GraphQLResponse> { [self] run in
                OperationExecutor(
                    self, OperationDescriptor(request: request),
                    CacheConfig(transactionID: "\(id)"), updater: mutation.updater,
                    unfinished: .init(entry, intent.interruptionCount), run: run
                ).begin()
            }
            let tell = { (result: Result<GraphQLResponse?, any Error>) in
                guard let completion else { return }
                completion(
                    ResumedMutation(transactionID: "\(id)", operation: name, result: result))
            }
            known.append(
                .init(
                    entry: entry,
                    send: { [store] ended in
                        Self.complete(execution) { result in
                            tell(
                                result.flatMap { response in
                                    response?.refusal(of: request).map { .failure($0) }
                                        ?? .success(response)
                                })
                            guard case .failure(let error) = result, store.isPending(entry) else {
                                return ended(nil)
                            }
                            ended(error)
                        }
                    },
                    skip: { tell(.failure($0)) }))
        }
        outbox.resume(known)
        return unknown
    }

    /// Executes, and reports the last response, nil if there was none, or the error.
    private static func complete(
        _ responses: ExecutionPublisher<GraphQLResponse>,
        _ tell: @escaping (Result<GraphQLResponse?, any Error>) -> Void
    ) {
        var last: GraphQLResponse?
        // Nothing holds the subscription: it goes on until the mutation ends.
        responses.subscribe(
            Subscribers.Sink(
                receiveCompletion: { end in
                    switch end {
                    case .finished: tell(.success(last))
                    case .failure(let error): tell(.failure(error))
                    }
                },
                receiveValue: { last = $0 }))
    }
}
