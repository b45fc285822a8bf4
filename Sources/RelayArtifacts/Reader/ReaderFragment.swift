/// How the data of a fragment or an operation is read from records. Fragments in it stay closed: the
/// reader gives a pointer in their place.
public final class ReaderFragment: Sendable {
    /// The name of the fragment or operation.
    package let name: String
    /// The type condition; the root type of an operation.
    package let type: String
    /// Set if the type is abstract: `__isTYPE`.
    package let abstractKey: String?
    /// If the type is abstract: the object types that the compiler's schema counts to it.
    package let possibleTypes: [String]
    /// The variables that count in it.
    package let argumentDefinitions: [ArgumentDefinition]
    /// What directives on it say.
    package let metadata: ReaderMetadata
    /// What is read of the record.
    package let selections: [ReaderSelection]

    /// A fragment for reading, as the compiler writes it.
    /// - Parameters:
    ///   - name: the name of the fragment or operation.
    ///   - type: the type condition.
    ///   - abstractKey: set if the type is abstract.
    ///   - possibleTypes: if the type is abstract.
    ///   - argumentDefinitions: the variables that count in it.
    ///   - metadata: what directives on it say.
    ///   - selections: what is read of the record.
    public init(
        name: String, type: String, abstractKey: String? = nil, possibleTypes: [String] = [],
        argumentDefinitions: [ArgumentDefinition] = [], metadata: ReaderMetadata = .init(),
        selections: [ReaderSelection]
    ) {
        self.name = name
        self.type = type
        self.abstractKey = abstractKey
        self.possibleTypes = possibleTypes
        self.argumentDefinitions = argumentDefinitions
        self.metadata = metadata
        self.selections = selections
    }
}

/// What directives on a fragment or operation say about reading it.
public struct ReaderMetadata: Hashable, Sendable {
    /// `@relay(plural: true)`: read from a list of pointers.
    package var plural: Bool
    /// `@catch` on the fragment itself.
    package var catchTo: CatchTarget?
    /// `@throwOnFieldError`
    package var throwOnFieldError: Bool
    /// The `@connection` fields in it.
    package var connections: [ConnectionMetadata]
    /// `@refetchable`
    package var refetch: RefetchDescription?

    /// What a fragment has beyond its selections, as the compiler writes it.
    /// - Parameters:
    ///   - plural: `@relay(plural.
    ///   - catchTo: `@catch` on the fragment itself.
    ///   - throwOnFieldError: `@throwOnFieldError`.
    ///   - connections: the `@connection` fields in it.
    ///   - refetch: `@refetchable`.
    public init(
        plural: Bool = false, catchTo: CatchTarget? = nil, throwOnFieldError: Bool = false,
        connections: [ConnectionMetadata] = [], refetch: RefetchDescription? = nil
    ) {
        self.plural = plural
        self.catchTo = catchTo
        self.throwOnFieldError = throwOnFieldError
        self.connections = connections
        self.refetch = refetch
    }
}

/// Where a connection is in a fragment's data, and which variables page it.
public struct ConnectionMetadata: Hashable, Sendable {
    /// Response names from the fragment's data to the connection.
    package var path: [String]
    /// The variables for pages before the start; nil: it is not paged backwards.
    package var backward: ConnectionVariableConfig?
    /// The variables for pages behind the end; nil: it is not paged forwards.
    package var forward: ConnectionVariableConfig?

    /// A connection in a fragment, as the compiler writes it.
    /// - Parameters:
    ///   - path: response names from the query's data to the fragment's record.
    ///   - backward: the variables for pages before the start.
    ///   - forward: the variables for pages behind the end.
    public init(
        path: [String], backward: ConnectionVariableConfig? = nil,
        forward: ConnectionVariableConfig? = nil
    ) {
        self.path = path
        self.backward = backward
        self.forward = forward
    }
}

/// The variables for one direction of paging.
public struct ConnectionVariableConfig: Hashable, Sendable {
    /// The variable given as `first` or `last`.
    package var count: String
    /// The variable given as `after` or `before`.
    package var cursor: String

    /// The variables of one direction of paging, as the compiler writes it.
    /// - Parameters:
    ///   - count: the variable given as `first` or `last`.
    ///   - cursor: the variable given as `after` or `before`.
    public init(count: String, cursor: String) {
        self.count = count
        self.cursor = cursor
    }
}

/// How `@refetchable` fetches a fragment again.
public struct RefetchDescription: Hashable, Sendable {
    /// The name of the query made for it.
    package var operation: String
    /// Response names from the query's data to the fragment's record: `["node"]`, `["viewer"]`, `[]`.
    package var path: [String]
    /// The field of the fragment's data that names the record (`id`); nil where the path says it all.
    package var identifierField: String?

    /// How a fragment is fetched again, as the compiler writes it.
    /// - Parameters:
    ///   - operation: the name of the query made for it.
    ///   - path: response names from the query's data to the fragment's record.
    ///   - identifierField: the field of the fragment's data that names the record (`id`).
    public init(operation: String, path: [String], identifierField: String? = nil) {
        self.operation = operation
        self.path = path
        self.identifierField = identifierField
    }
}
