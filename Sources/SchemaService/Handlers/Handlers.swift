public import RelayArtifacts
@_spi(Rooms) public import RelayRecords

/// What a program adds to a schema, or substitutes for the schema's directives: computed fields, mutations,
/// subscriptions.
///
///     var handlers = Handlers()
///     handlers.resolve("User.progress") { field in
///         let todos = field.record?.links("todos") ?? []
///         return todos.isEmpty ? 1 : Double(todos.count { $0["complete"] == true }) / Double(todos.count)
///     }
///
/// Fields are named as in the schema: `Type.field` for a resolver, just the field for fields of the mutation
/// or subscription type. A name that the schema does not have counts as a mistake in the schema, and the
/// server does not start.
public struct Handlers: Sendable {
    var resolvers: [String: FieldHandler] = [:]
    var checks: [String: [MutationCheck]] = [:]
    var mutations: [String: RegisteredMutation] = [:]
    var subscriptions: [String: RegisteredSubscription] = [:]
    var accessChecks: [String: AccessCheck] = [:]
    /// The program that has them is not here.
    var areAbsent = false
    private(set) var errorDescription: ErrorDescription?

    /// Creates an empty set of handlers.
    public init() {}

    var followsCommits: Bool {
        subscriptions.values.contains { if case .commits = $0 { true } else { false } }
    }
}

/// Carries out a mutation: writes to the records, and returns the id of the record that it created, changed
/// or deleted. The same function can be a client's optimistic updater.
///
/// The variables are the mutation field's arguments. If one names a record of the payload, by its id or a
/// `@unique` value, it is always the record's id here. If the function throws, nothing changes.
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
    /// Computes a field instead of reading a stored value.
    ///
    /// Runs whenever the field is selected, on one immutable snapshot. It must not block, and must depend
    /// only on the context, because a live query is sent again only when what it read has changed.
    /// - Parameters:
    ///   - field: `Type.field`. The type may be the query type, a stored type, a mutation's payload, or an
    ///     object type whose values another handler returns.
    ///   - body: returns the value: a scalar; a record, by its id or as its ``SnapshotRecord``; an object
    ///     that is not a record, as a `VariableData` (with `__typename` if the field's type is abstract); an
    ///     array of these; nil for null.
    public mutating func resolve(
        _ field: String,
        _ body: @escaping @Sendable (FieldContext) throws -> (any VariableValueConvertible)?
    ) {
        resolvers[field] = body
    }

    /// Checks a mutation before it is carried out, whether by the schema's directive or by a handler. If it
    /// throws, the mutation is refused and nothing has happened.
    ///
    /// Several checks of one mutation run in the order in which they were added.
    public mutating func check(
        _ mutation: String,
        _ body: @escaping @Sendable (VariableData, MutationContext, SnapshotReader) throws -> Void
    ) {
        checks[mutation, default: []].append(body)
    }

    /// Carries out a mutation with a function shared by client and server.
    public mutating func mutation(_ field: String, _ body: @escaping SharedMutation) {
        mutations[field] = .atOnce { records, variables, _ in try body(&records, variables) }
    }

    /// Carries out a mutation.
    ///
    /// Runs under the store's only writer, on the newest state, so it must not wait for anything. It is
    /// atomic: if it throws, nothing has been written.
    public mutating func mutation(_ field: String, _ body: @escaping MutationBody) {
        mutations[field] = .atOnce(body)
    }

    /// Carries out a mutation that has to wait, for example for an upstream service.
    ///
    /// The mutation is in the log as pending before `prepare` starts, with the client's
    /// `extensions.relay.optimisticResponse` if it sent one. `prepare` may take its time; other mutations
    /// proceed meanwhile. The function that it returns runs under the writer, on the newest state at that
    /// time. If either throws, the pending mutation is revoked. If the server stops in between, its next
    /// start revokes the mutation. Whatever the upstream service has done by then is not undone, so pass it
    /// the client's mutation id or a key of your own.
    /// - Parameters:
    ///   - field: the name of the mutation's field.
    ///   - prepare: gets the variables, and the state when the mutation was accepted.
    public mutating func mutation(
        _ field: String,
        waitingFor prepare:
            @escaping @Sendable (VariableData, MutationContext, SnapshotReader)
            async throws -> MutationBody
    ) {
        mutations[field] = .waiting(prepare)
    }

    /// Sends the elements of a sequence to a subscription.
    ///
    /// Each subscription gets its own sequence. The next element is requested once the previous one has gone
    /// to the subscriber's socket. When the subscription ends, the iterating task is cancelled. When the
    /// sequence ends, the subscription completes; if it throws, the subscription ends with the error.
    /// - Parameters:
    ///   - field: the field of the subscription type.
    ///   - source: returns the sequence. Each element is a value of the field, as described in
    ///     ``resolve(_:_:)``, and is executed on the newest state at that time. To report commits, use
    ///     ``subscription(_:onCommit:)``, which reads at the commit.
    public mutating func subscription<Source: AsyncSequence & Sendable>(
        _ field: String,
        _ source: @escaping @Sendable (SubscriptionContext) async throws -> Source
    ) where Source.Element: VariableValueConvertible & Sendable {
        subscriptions[field] = .sequence(SubscriptionHandler(source))
    }

    /// Sends events that the program derives from commits.
    ///
    /// The body runs for every mutation of the schema once it is durable, in log order, and reads the records
    /// as they were right after it, without anything later. So a subscriber gets every event once, in order,
    /// and one that was away gets those it missed (`extensions.relay.resume`): the body then runs again. It
    /// must not block, and must depend only on its parameters.
    /// - Parameters:
    ///   - field: the field of the subscription type.
    ///   - body: returns the event, a value of the field as described in ``resolve(_:_:)``, read at the
    ///     commit's sequence; nil if this commit is not one of the subscription's events. If it throws, the
    ///     event has an error in place of the value.
    public mutating func subscription(
        _ field: String,
        onCommit body:
            @escaping @Sendable (CommitContext, SubscriptionContext) throws
            -> (any VariableValueConvertible)?
    ) {
        subscriptions[field] = .commits(body)
    }

    /// Determines what clients see of errors that are not meant for them.
    ///
    /// A handler's error that is not a `CodedError` reaches clients as "Internal error" with an id; the
    /// server's log has the details under that id. Return the error to send instead, or nil to keep this
    /// behavior.
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
