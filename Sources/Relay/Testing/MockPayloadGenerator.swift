public import Foundation
public import RelayArtifacts
import RelayJSON

/// Generates responses from what operations select, so that a test states only what matters to it.
///
///     let generator = MockPayloadGenerator([
///         "Todo": { _ in ["text": "Buy milk", "complete": true] },
///         "user.todos": { _ in ["edges": [[:], [:], ["node": nil]]] },
///     ])
///     try environment.resolveMostRecent(with: generator)
///
/// A resolver is found by the path of its field (response names joined by dots, list indexes left out), or else
/// by the name of a type. It returns the value or, for an object, as many fields as it likes; the rest is
/// generated. The same operation with the same resolvers always gets the same response: ids are counted from
/// `<Todo-mock-id-1>`.
///
/// | leaf | generated |
/// |---|---|
/// | `id` | `<TYPE-mock-id-N>`, N from 1 |
/// | `Boolean`, `Int`, `Float` | `false`, `42`, `4.2` |
/// | an enum | its first value |
/// | any other | `<mock-value-for-field-"NAME">` |
///
/// The types of leaves are known for operations with `@relay_test_operation`; without it every leaf but `id` is
/// generated as a text. Lists have one element.
public struct MockPayloadGenerator {
    /// Returns the value of a field: nil has it generated, `.null` is null.
    public typealias Resolver = (MockFieldContext) -> VariableValue?

    private let resolvers: [String: Resolver]

    /// - Parameter resolvers: by path, or by the name of a type.
    public init(_ resolvers: [String: Resolver] = [:]) { self.resolvers = resolvers }

    /// A whole response, `{"data": {…}}`, as a network returns it.
    public func response(to operation: OperationDescriptor) -> Data {
        Data(JSONValue.object(["data": .object(generate(operation))]).bytes)
    }

    /// The data alone, as an `optimisticResponse` takes it.
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

/// The field that a resolver is called for.
public struct MockFieldContext {
    /// The type of the object or leaf; nil for a leaf of an operation without `@relay_test_operation`.
    public let type: String?
    /// The type of the object that has the field.
    public let parentType: String
    /// The field's name in the schema.
    public let name: String
    /// The field's alias in the response, if it has one.
    public let alias: String?
    /// Response names from the root to the field, including list indexes from 0.
    public let path: [String]
    /// The field's arguments, with variables replaced by their values.
    public let arguments: VariableData
    /// Returns a number that is unique within this response, counting from 1.
    public let makeID: () -> Int
}
