public import RelayArtifacts
public import RelayStore

/// What a program adds to a schema, or puts in place of what the schema's directives say: computed
/// fields, mutations, subscriptions.
///
///     var handlers = Handlers()
///     handlers.resolve("User.progress") { field in
///         let todos = field.record?.links("todos") ?? []
///         return todos.isEmpty ? 1 : Double(todos.count { $0["complete"] == true }) / Double(todos.count)
///     }
///
/// Fields are named as in the schema: `Type.field` for a resolver, the field alone for what stands on the
/// mutation or the subscription type. A name that the schema does not have is a mistake of the schema's,
/// and the server does not start.
public struct Handlers: Sendable {
    private(set) var resolvers: [String: FieldHandler] = [:]
    private(set) var checks: [String: [MutationCheck]] = [:]
    private(set) var mutations: [String: RegisteredMutation] = [:]
    private(set) var subscriptions: [String: SubscriptionHandler] = [:]

    /// No handlers.
    public init() {}
}

/// What a mutation does: writes to the records, and gives the id of the record that it made, changed or
/// deleted. The same function can be a client's optimistic updater.
///
/// The variables are the mutation field's arguments; where one names a record of the payload, by its id or
/// a `@unique` value, it is the record's id here. A throw leaves nothing behind.
public typealias SharedMutation =
    @Sendable (inout any RecordSourceProxy, VariableData) throws -> DataID?

/// A ``SharedMutation`` that also wants to know who asks, and when.
public typealias MutationBody =
    @Sendable (inout any RecordSourceProxy, VariableData, MutationContext) throws -> DataID?

typealias FieldHandler = @Sendable (FieldContext) throws -> (any VariableValueConvertible)?
typealias MutationCheck =
    @Sendable (VariableData, MutationContext, SnapshotReader) throws -> Void
typealias WaitingBody =
    @Sendable (VariableData, MutationContext, SnapshotReader) async throws -> MutationBody

enum RegisteredMutation: Sendable {
    case atOnce(MutationBody)
    case waiting(WaitingBody)
}

extension Handlers {
    /// Computes a field, instead of reading what is stored under its name.
    ///
    /// Runs whenever the field is selected, on one immutable snapshot; it must neither block nor depend
    /// on anything but the context, because a live query is sent anew only when what was read changes.
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

    /// Looks at a mutation before it is carried out, whoever carries it out: the schema's directive or a
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
    /// go on meanwhile. What it returns is run under the writer, on the state that is newest then. A throw
    /// of either revokes the pending mutation. If the server stops in between, its next start revokes it:
    /// whatever the upstream has done by then is not undone, so give it the client's mutation id or a key
    /// of your own.
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
    ///     ``resolve(_:_:)`` says; it is executed on the state that is newest then.
    public mutating func subscription<Source: AsyncSequence & Sendable>(
        _ field: String,
        _ source: @escaping @Sendable (SubscriptionContext) async throws -> Source
    ) where Source.Element: VariableValueConvertible & Sendable {
        subscriptions[field] = SubscriptionHandler(source)
    }
}
