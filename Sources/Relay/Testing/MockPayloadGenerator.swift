public import Foundation
public import RelayArtifacts
import RelayJSON

/// Makes responses up from what operations select, so that a test says only what it is about.
///
///     let generator = MockPayloadGenerator([
///         "Todo": { _ in ["text": "Buy milk", "complete": true] },
///         "user.todos": { _ in ["edges": [[:], [:], ["node": nil]]] },
///     ])
///     try environment.resolveMostRecent(with: generator)
///
/// A resolver is found by the path of its field (response names with dots between, places in lists left out), or
/// else by the name of a type. It gives the value, or of an object as many fields as it likes; what it does not
/// give is made up. The same operation under the same resolvers is always given the same response: ids are
/// counted, `<Todo-mock-id-1>` being the first.
///
/// | leaf | made up |
/// |---|---|
/// | `id` | `<TYPE-mock-id-N>`, N from 1 |
/// | `Boolean`, `Int`, `Float` | `false`, `42`, `4.2` |
/// | an enum | its first value |
/// | any other | `<mock-value-for-field-"NAME">` |
///
/// The types of leaves are known for operations with `@relay_test_operation`; without it every leaf but `id` is
/// made up as a text. Lists have one element.
public struct MockPayloadGenerator {
    /// Gives the value of a field: nil leaves it to be made up, `.null` is null.
    public typealias Resolver = (MockFieldContext) -> VariableValue?

    private let resolvers: [String: Resolver]

    /// - Parameter resolvers: by path, or by the name of a type.
    public init(_ resolvers: [String: Resolver] = [:]) { self.resolvers = resolvers }

    /// A whole response, `{"data": {…}}`, as a network gives it.
    public func response(to operation: OperationDescriptor) -> Data {
        Data(JSONValue.object(["data": .object(generate(operation))]).bytes)
    }

    /// The data alone, as an `optimisticResponse` wants it.
    public func data(for operation: OperationDescriptor) -> [String: Any] {
        JSONValue.object(generate(operation)).plain as? [String: Any] ?? [:]
    }

    private func generate(_ operation: OperationDescriptor) -> JSONObject {
        let node = operation.request.node
        let generation = MockGeneration(resolvers, variables: operation.request.variables)
        return generation.object(
            type: node.fragment.type, [node.operation.selections], given: [:], at: [])
    }
}

/// The field that a mock's resolver is asked for.
public struct MockFieldContext {
    /// The type of the object or leaf; nil for a leaf of an operation without `@relay_test_operation`.
    public let type: String?
    /// The type of the object that has the field.
    public let parentType: String
    /// The field's name in the schema.
    public let name: String
    /// The field's name in the response, where the operation gives it another.
    public let alias: String?
    /// Response names from the root to the field; places in lists, from 0, among them.
    public let path: [String]
    /// The field's arguments, variables put in.
    public let arguments: VariableData
    /// A number that no other call under this response gets; rises from 1.
    public let makeID: () -> Int
}
