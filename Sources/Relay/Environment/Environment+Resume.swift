import Publishing
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayStore

/// A mutation that may be found unfinished in a store that was on disk.
///
/// The journal has what was asked for and what was shown; how the answer is read, and what an updater does
/// with it, only the program has.
public struct ResumableMutation {
    let node: ConcreteRequest
    let updater: SelectorStoreUpdater?

    /// - Parameters:
    ///   - type: the mutation.
    ///   - updater: changes the store after the response was written to it; the same that the mutation was
    ///     begun with.
    public init<Op: Operation>(_ type: Op.Type, updater: SelectorStoreUpdater? = nil) {
        self.init(Op.node, updater: updater)
    }

    package init(_ node: ConcreteRequest, updater: SelectorStoreUpdater? = nil) {
        self.node = node
        self.updater = updater
    }
}

/// How a mutation that was sent again ended.
public struct ResumedMutation: Sendable {
    /// `CLIENT:N`, the name that it had from the beginning.
    public var transactionID: String
    /// The operation's name.
    public var operation: String
    /// The response; nil where the network gave none.
    public var result: Result<GraphQLResponse?, any Error>
}

extension Environment {
    /// Sends the mutations again that were under way when the process before this one ended: one after the
    /// other, in the order in which they were begun, and under their old names, so that none is carried out
    /// twice. Mutations that are begun meanwhile are sent behind them.
    ///
    /// Call it before other mutations. What they show stays until they are answered, or refused. One whose
    /// connection ends each time it is sent is given up; the attempts of earlier processes count.
    ///
    /// One that fails for a reason that has nothing to do with it, because no user is signed in, say, stays
    /// as it is, and is sent again by the next call, in this run of the program or a later one. Those behind it stay as
    /// well, so that the order is kept; mutations that this process has begun meanwhile are sent. Ask again when the
    /// network is back, and not in the completion. An error that is the same each time holds up everything behind it:
    /// a network of your own says by ``NetworkFailure`` which of its failures are about the mutation, and end it.
    /// (`HTTPNetwork` gives up one that was refused ten times while the server answered other mutations.) A call
    /// leaves alone what an earlier call is still sending, and what this process has begun.
    ///
    /// - Parameters:
    ///   - mutations: all those that the program knows.
    ///   - completion: told how each ended; of one that was not sent, because one before it stays, the error of
    ///     that one.
    /// - Returns: the names of operations that were found and are not among `mutations`. They stay as they
    ///   are, and can be sent by a later call.
    @discardableResult
    public func resumeMutations(
        _ mutations: [ResumableMutation], completion: ((ResumedMutation) -> Void)? = nil
    ) throws -> [String] {
        var unknown: [String] = []
        var known: [Outbox.Unfinished] = []
        let claimed = outbox.claim(try store.unfinishedMutations) { $0.entry }
        // An earlier call may have ended one, and let go of it, since the list was made.
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
                            tell(result)
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

    /// Executes, and tells the last response, nil for none, or why there is none.
    private static func complete(
        _ responses: ExecutionPublisher<GraphQLResponse>,
        _ tell: @escaping (Result<GraphQLResponse?, any Error>) -> Void
    ) {
        var last: GraphQLResponse?
        // The subscription is held by nothing: it goes on until the mutation ends.
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
