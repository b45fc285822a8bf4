public import RelayArtifacts
@_spi(Rooms) public import RelayStore

/// A query, mutation or subscription with its variables; generated from a document.
public protocol Operation {
    /// The variables of the operation.
    associatedtype Variables: VariableDataConvertible
    /// What a result holds, fragments closed.
    associatedtype Data: ReadableRecord

    /// The compiled operation. Make it once: `static let node = …`.
    static var node: ConcreteRequest { get }

    /// The operation with these variables.
    init(variables: Variables)
    /// The variables that it is executed with.
    var variables: Variables { get }
}

extension Operation where Variables == EmptyVariables {
    /// The operation, which has no variables.
    public init() { self.init(variables: EmptyVariables()) }
}

extension Operation {
    /// This operation as the runtime handles it.
    /// - Parameter dataID: the record that gets the root fields; nil: that of the query type, or one of
    ///   its own for each mutation and subscription event.
    public func createDescriptor(dataID: DataID? = nil) -> OperationDescriptor {
        Self.createDescriptor(variables: variables, dataID: dataID)
    }

    /// The operation with these variables, as the runtime handles it.
    public static func createDescriptor(
        variables: Variables, dataID: DataID? = nil
    ) -> OperationDescriptor {
        OperationDescriptor(
            request: RequestDescriptor(node: node, variables: variables.variableData),
            root: dataID ?? .rootID)
    }
}

/// An operation under known variables: what to send, how to normalize the answer, how to read it.
public struct OperationDescriptor: Hashable, Sendable {
    /// The operation and its variables.
    public let request: RequestDescriptor
    /// The record that the root fields belong to.
    public let root: DataID

    /// - Parameters:
    ///   - request: the operation and its variables.
    ///   - root: the record that the root fields belong to.
    public init(request: RequestDescriptor, root: DataID = .rootID) {
        self.request = request
        self.root = root
    }

    /// What reads the operation's own data.
    public var fragment: SingularReaderSelector {
        SingularReaderSelector(
            fragment: request.node.fragment, dataID: root, owner: request,
            variables: request.variables)
    }

    func rooted(at root: DataID) -> OperationDescriptor {
        OperationDescriptor(request: request, root: root)
    }

    /// As the store has it.
    var selector: OperationSelector {
        OperationSelector(request.node, variables: request.variables, root: root)
    }
}

/// A request: an operation and all its variables, defaults applied.
public struct RequestDescriptor: Hashable, Sendable {
    /// The compiled operation.
    public let node: ConcreteRequest
    /// All variables, defaults among them.
    public let variables: VariableData

    /// - Parameters:
    ///   - node: the compiled operation.
    ///   - variables: as given; defaults are added.
    public init(node: ConcreteRequest, variables: VariableData) {
        self.node = node
        self.variables = node.operation.argumentDefinitions.operationVariables(given: variables)
    }

    // Two nodes made of one document are one request; the text decides, and is compared only where
    // name and variables are the same.

    public static func == (left: RequestDescriptor, right: RequestDescriptor) -> Bool {
        guard left.variables == right.variables else { return false }
        return left.node === right.node || left.node.params == right.node.params
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(node.params.name)
        hasher.combine(variables)
    }
}
