public import RelayArtifacts
@_spi(Rooms) public import RelayStore

/// A fragment of one record; generated from a document.
public protocol Fragment {
    /// What spreads the fragment: a protocol that the data of such selections conforms to.
    associatedtype Key
    /// What the fragment reads.
    associatedtype Data: ReadableRecord

    /// The compiled fragment. Make it once: `static let node = …`.
    static var node: ReaderFragment { get }

    /// The fragment of the data that it is spread in.
    init(key: Key)
    /// Where it is read.
    var fragmentPointer: FragmentPointer { get }
}

extension Fragment {
    /// What reads the fragment from the store.
    public var selector: SingularReaderSelector {
        SingularReaderSelector(fragment: Self.node, pointer: fragmentPointer)
    }
}

/// A fragment with `@refetchable`.
public protocol RefetchFragment: Fragment {
    /// The query that fetches the fragment again.
    associatedtype Operation: Relay.Operation
    /// How the fragment is fetched again, by that query.
    typealias Metadata = RefetchMetadata<Operation>

    /// How the query fetches the fragment again.
    static var metadata: Metadata { get }
}

/// A fragment with `@refetchable` and one `@connection`.
public protocol PaginationFragment: RefetchFragment {}

/// How a fragment is fetched again.
public struct RefetchMetadata<Operation: Relay.Operation>: Sendable {
    /// Response names from the query's data to the fragment's record.
    public let path: [String]
    /// The field of the fragment's record that names it to the query.
    public let identifierField: String?
    /// Where the fragment's `@connection` is; nil: it has none.
    public let connection: ConnectionMetadata?

    /// How a fragment is fetched again, as the compiler writes it.
    /// - Parameters:
    ///   - path: response names from the query's data to the fragment's record.
    ///   - identifierField: the field of the fragment's record that names it to the query.
    ///   - operation: the query.
    ///   - connection: where the fragment's `@connection` is.
    public init(
        path: [String], identifierField: String? = nil, operation: Operation.Type,
        connection: ConnectionMetadata? = nil
    ) {
        self.path = path
        self.identifierField = identifierField
        self.connection = connection
    }
}

/// The place of a fragment's data in the data that spreads it: only the fragment itself can open it.
///
/// It holds nothing of what was read with it: an app may keep any number of pointers for any length of time.
public struct FragmentPointer: Sendable {
    /// The record that the fragment is read from.
    public let dataID: DataID
    let owner: RequestDescriptor
    /// Those of `@arguments`.
    let arguments: SpreadArguments
}

extension FragmentPointer: Hashable {
    public static func == (left: FragmentPointer, right: FragmentPointer) -> Bool {
        left.dataID == right.dataID && left.arguments == right.arguments
            && left.owner == right.owner
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(dataID) }
}

/// A fragment, a record to read it from, and the variables that it uses.
public struct SingularReaderSelector: Hashable, Sendable {
    /// As the store has it.
    let selector: ReaderSelector
    /// The request whose result brought the record.
    public let owner: RequestDescriptor
    /// The variables that the fragment uses.
    public let variables: VariableData

    init(
        fragment: ReaderFragment, dataID: DataID, owner: RequestDescriptor, variables: VariableData
    ) {
        selector = ReaderSelector(fragment, dataID: dataID, variables: variables)
        self.owner = owner
        self.variables = variables
    }

    /// How the record is read.
    public var fragment: ReaderFragment { selector.fragment }
    /// The record that is read.
    public var dataID: DataID { selector.dataID }

    /// The fragment, read where a pointer says.
    public init(fragment: ReaderFragment, pointer: FragmentPointer) {
        self.init(
            fragment: fragment, dataID: pointer.dataID, owner: pointer.owner,
            variables: fragment.argumentDefinitions.fragmentVariables(
                given: pointer.arguments, in: pointer.owner.variables))
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.fragment.name == right.fragment.name && left.dataID == right.dataID
            && left.variables == right.variables && left.owner == right.owner
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(fragment.name)
        hasher.combine(dataID)
        hasher.combine(variables)
    }
}
