public import RelayArtifacts
@_spi(Rooms) public import RelayRecords

/// An operation with known variables: what to send, how to normalize the answer, how to read it.
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

    package init(_ node: ConcreteRequest, variables: VariableData, root: DataID = .rootID) {
        self.init(request: RequestDescriptor(node: node, variables: variables), root: root)
    }
}

/// A request: an operation and all its variables, defaults applied.
public struct RequestDescriptor: Hashable, Sendable {
    /// The compiled operation.
    public let node: ConcreteRequest
    /// All variables, including defaults.
    public let variables: VariableData

    /// - Parameters:
    ///   - node: the compiled operation.
    ///   - variables: as given; defaults are added.
    public init(node: ConcreteRequest, variables: VariableData) {
        self.node = node
        self.variables = node.operation.argumentDefinitions.operationVariables(given: variables)
    }

    /// - Parameter variables: all of them; those that are missing have no value, whatever their defaults.
    package init(_ node: ConcreteRequest, exactly variables: VariableData) {
        self.node = node
        self.variables = variables
    }

    // Two nodes made from one document are one request; the text decides, and is compared only if
    // name and variables are the same.

    public static func == (left: RequestDescriptor, right: RequestDescriptor) -> Bool {
        guard left.variables == right.variables else { return false }
        return left.node === right.node || left.node.params == right.node.params
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(node.params.name)
        if !variables.isEmpty { hasher.combine(variables) }
    }
}
