public import RelayArtifacts
@_spi(Rooms) public import RelayRecords

/// What a program adds to a schema, or puts in place of what the schema's directives say: computed
/// fields, mutations, subscriptions.
///
///     var handlers = Handlers()
///     handlers.resolve("User.progress") { field in
///         let todos = field.record?.links("todos") ?? []
///         return todos.isEmpty ? 1 : Double(todos.count { $0["complete"] == true }) / Double(todos.count)
///     }
///
/// Fields are named as in the schema: `Type.field` for a resolver, the field alone for fields of the mutation
/// or the subscription type. A name that the schema does not have is a mistake of the schema's, and the
/// server does not start.
public struct Handlers: Sendable {
    var resolvers: [String: FieldHandler] = [:]
    var checks: [String: [MutationCheck]] = [:]
    var mutations: [String: RegisteredMutation] = [:]
    var subscriptions: [String: RegisteredSubscription] = [:]
    private(set) var errorDescription: ErrorDescription?

    /// No handlers.
    public init() {}

    var followsCommits: Bool {
        subscriptions.values.contains { if case .commits = $0 { true } else { false } }
    }
}

/// What a mutation does: writes to the records, and gives the id of the record that it made, changed or
/// deleted. The same function can be a client's optimistic updater.
///
/// The variables are the mutation field's arguments; where one names a record of the payload, by its id or
/// a `@unique` value, it is the record's id here. If it throws, nothing changes.
public typealias SharedMutation =
    @Sendable (inout any RecordSourceProxy, VariableData) throws -> DataID?

/// A ``SharedMutation`` that also gets the viewer and the time.
public typealias MutationBody =
    @Sendable (inout any RecordSourceProxy, VariableData, MutationContext) throws -> DataID?

typealias FieldHandler = @Sendable (FieldContext) throws -> (any VariableValueConvertible)?
package typealias MutationCheck =
    @Sendable (VariableData, MutationContext, SnapshotReader) throws -> Void
package typealias WaitingBody =
    @Sendable (VariableData, MutationContext, SnapshotReader) async throws -> MutationBody

typealias ErrorDescription = @Sendable (any Error) -> HandlerError?

enum RegisteredSubscription: Sendable {
    case sequence(SubscriptionHandler)
    case commits(CommitHandler)
}

enum RegisteredMutation: Sendable {
    case atOnce(MutationBody)
    case waiting(WaitingBody)
}

extension Handlers {
    /// Computes a field, instead of reading what is stored under its name.
    ///
    /// Runs whenever the field is selected, on one immutable snapshot; it must neither block nor depend
    /// on anything but the context, because a live query is sent again only when what was read changes.
    /// - Parameters:
    ///   - field: `Type.field`. The type may be the query type, a stored type, a mutation's payload, or an
    ///     object type whose values another handler gives.
    ///   - body: gives the value: a scalar; a record by its id or as its ``SnapshotRecord``; an object that
    ///     is no record as a `VariableData` (with `__typename` where the field's type is abstract); an
    ///     array of these; nil for null.
    public mutating func resolve(
        _ field: String,
        _ body: @escaping @Sendable (FieldContext) throws -> (any VariableValueConvertible)?
    ) {
        resolvers[field] = body
    }

    /// Looks at a mutation before it is carried out, however it is carried out: the schema's directive or a
    /// handler. A throw refuses it, and nothing has happened.
    ///
    /// Several checks of one mutation run in the order in which they were added.
    public mutating func check(
        _ mutation: String,
        _ body: @escaping @Sendable (VariableData, MutationContext, SnapshotReader) throws -> Void
    ) {
        checks[mutation, default: []].append(body)
    }

    /// Carries a mutation out by a function that client and server share.
    public mutating func mutation(_ field: String, _ body: @escaping SharedMutation) {
        mutations[field] = .atOnce { records, variables, _ in try body(&records, variables) }
    }

    /// Carries a mutation out.
    ///
    /// Runs under the store's one writer, on the newest state, so it must not wait for anything. It is
    /// atomic: after a throw, nothing has been written.
    public mutating func mutation(_ field: String, _ body: @escaping MutationBody) {
        mutations[field] = .atOnce(body)
    }

    /// Carries out a mutation that has to wait, for an upstream service for example.
    ///
    /// The mutation is in the log as pending before `prepare` starts, with the client's
    /// `extensions.relay.optimisticResponse` if it gave one. `prepare` may take its time; other mutations
    /// proceed meanwhile. What it returns is run under the writer, on the state that is newest then. A throw
    /// of either revokes the pending mutation. If the server stops in between, its next start revokes it:
    /// whatever the upstream has done by then is not undone, so give it the client's mutation id or a key of
    /// your own.
    /// - Parameters:
    ///   - field: the name of the mutation's field.
    ///   - prepare: gets the variables, and the state when the mutation was taken.
    public mutating func mutation(
        _ field: String,
        waitingFor prepare:
            @escaping @Sendable (VariableData, MutationContext, SnapshotReader)
            async throws -> MutationBody
    ) {
        mutations[field] = .waiting(prepare)
    }

    /// Sends a subscription the elements of a sequence.
    ///
    /// Each subscription gets a sequence of its own. The next element is asked for when the last one has
    /// gone to the subscriber's socket; when the subscription ends, the task that iterates is cancelled.
    /// When the sequence ends, the subscription completes; when it throws, it ends with the error.
    /// - Parameters:
    ///   - field: the field of the subscription type.
    ///   - source: gives the sequence. Each element is a value of the field, as
    ///     ``resolve(_:_:)`` says; it is executed on the state that is newest then. To tell of commits, use
    ///     ``subscription(_:onCommit:)``, which reads at the commit.
    public mutating func subscription<Source: AsyncSequence & Sendable>(
        _ field: String,
        _ source: @escaping @Sendable (SubscriptionContext) async throws -> Source
    ) where Source.Element: VariableValueConvertible & Sendable {
        subscriptions[field] = .sequence(SubscriptionHandler(source))
    }

    /// Sends a subscription what the program makes of commits.
    ///
    /// The body runs for every mutation of the schema once it is durable, in the order of the log, and reads the records as
    /// they were right after it; nothing that comes later is seen. So a subscriber gets every event once, in
    /// order, and one that was away gets those that it has missed (`extensions.relay.resume`): the body runs
    /// again then. It must neither block nor depend on anything but its parameters.
    /// - Parameters:
    ///   - field: the field of the subscription type.
    ///   - body: gives the event, a value of the field as ``resolve(_:_:)`` says, read at the commit's
    ///     sequence; nil if this commit is not one of the subscription's events. A throw is an event that has
    ///     an error in place of the value.
    public mutating func subscription(
        _ field: String,
        onCommit body:
            @escaping @Sendable (CommitContext, SubscriptionContext) throws
            -> (any VariableValueConvertible)?
    ) {
        subscriptions[field] = .commits(body)
    }

    /// Says what clients are told about errors that are not meant for them.
    ///
    /// A handler's error that is no `CodedError` reaches clients as "Internal error" with an id, under which
    /// the server's log has the rest. Return the error to send instead, or nil to leave it at that.
    ///
    ///     handlers.describeErrors { error in
    ///         error is QuotaError ? HandlerError("The quota is used up.", code: "QUOTA") : nil
    ///     }
    public mutating func describeErrors(
        _ description: @escaping @Sendable (any Error) -> HandlerError?
    ) {
        errorDescription = description
    }
}
