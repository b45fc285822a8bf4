public import RelayArtifacts
@_spi(Rooms) public import RelayStore

/// A query, mutation or subscription with its variables; generated from a document.
public protocol Operation {
    /// The variables of the operation.
    associatedtype Variables: VariableDataConvertible
    /// The result's own data, with fragments masked.
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
    /// This operation in the form the runtime uses.
    /// - Parameter dataID: the record that gets the root fields; nil: that of the query type, or a new
    ///   one for each mutation and subscription event.
    public func createDescriptor(dataID: DataID? = nil) -> OperationDescriptor {
        Self.createDescriptor(variables: variables, dataID: dataID)
    }

    /// The operation with these variables, in the form the runtime uses.
    public static func createDescriptor(
        variables: Variables, dataID: DataID? = nil
    ) -> OperationDescriptor {
        OperationDescriptor(
            request: RequestDescriptor(node: node, variables: variables.variableData),
            root: dataID ?? .rootID)
    }
}

extension OperationDescriptor {
    /// What reads the operation's own data.
    public var fragment: SingularReaderSelector {
        SingularReaderSelector(
            fragment: request.node.fragment, dataID: root, owner: request,
            variables: request.variables)
    }

    func rooted(at root: DataID) -> OperationDescriptor {
        OperationDescriptor(request: request, root: root)
    }
}
