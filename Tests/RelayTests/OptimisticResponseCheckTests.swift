import RelayArtifacts
import RelayJSON
import Testing

@testable import Relay

/// Which names an optimistic response may have, and where.
@Suite struct OptimisticResponseCheckTests {
    /// `mutation M { rename { todos { id label: text ... on Urgent { due { at } } ... @include(if: $all) { complete }
    /// extra } __typename } }`, with `extra` as any JSON.
    private static let request: ConcreteRequest = {
        func leaf(_ name: String, as alias: String? = nil) -> NormalizationSelection {
            .field(NormalizationScalarField(name: name, alias: alias))
        }
        let urgent = NormalizationInlineFragment(
            type: "Urgent", abstractKey: "__isUrgent",
            selections: [
                .field(NormalizationLinkedField(name: "due", selections: [leaf("at")]))
            ])
        let todos = NormalizationLinkedField(
            name: "todos", plural: true,
            selections: [
                leaf("__typename"), leaf("id"), leaf("text", as: "label"), .inlineFragment(urgent),
                .condition(
                    NormalizationCondition(
                        condition: "all", passingValue: true, selections: [leaf("complete")])),
                leaf("extra"),
            ])
        // Selected by two fragments.
        let more = NormalizationLinkedField(
            name: "todos", plural: true, selections: [leaf("more")])
        let rename = NormalizationLinkedField(
            name: "rename", selections: [.field(todos), .field(more)])
        return ConcreteRequest(
            fragment: ReaderFragment(name: "M", type: "Mutation", selections: []),
            operation: NormalizationOperation(name: "M", selections: [.field(rename)]),
            params: RequestParameters(name: "M", operationKind: .mutation))
    }()

    /// The path and the name that are refused.
    private static func refusal(_ data: JSONValue) throws -> String? {
        do {
            try OptimisticResponseCheck.check(try #require(data.object), of: request)
            return nil
        } catch let error as UnknownFieldError {
            return "\(error.path): \(error.field)"
        }
    }

    @Test(arguments: [
        #"{"rename":null}"#, #"{"rename":{}}"#, #"{"rename":{"todos":[null,[]]}}"#,
        #"{"rename":{"__typename":"P","todos":[{"id":"a","label":"A","more":1,"complete":true}]}}"#,
        #"{"rename":{"todos":[{"__isUrgent":"Todo","due":{"at":1}},{"due":null}]}}"#,
        #"{"rename":{"todos":[{"extra":{"anything":[{"at":"all"}]}}]}}"#,
        // Another shape: the normalizer says what is wrong.
        #"{"rename":{"todos":{"id":"a"}}}"#, #"{"rename":"x"}"#,
    ])
    func namesThatSomeSelectionHasAreTaken(_ text: String) throws {
        #expect(try Self.refusal(JSONValue(parsing: text)) == nil)
    }

    @Test(arguments: [
        (#"{"renam":null}"#, ": renam"),
        (#"{"rename":{"todo":[]}}"#, "rename: todo"),
        // By its name in the schema, and not by that in the result.
        (#"{"rename":{"todos":[{"id":"a"},{"text":"A"}]}}"#, "rename.todos.1: text"),
        (#"{"rename":{"todos":[[{"at":1}]]}}"#, "rename.todos.0.0: at"),
        (#"{"rename":{"todos":[{"due":{"on":1}}]}}"#, "rename.todos.0.due: on"),
        // The outermost first.
        (#"{"rename":{"todos":[{"b":1,"a":2}],"x":1}}"#, "rename: x"),
        (#"{"rename":{"todos":[{"b":1,"a":2}]}}"#, "rename.todos.0: a"),
    ])
    func namesThatNoSelectionHasAreRefused(_ text: String, _ refusal: String) throws {
        #expect(try Self.refusal(JSONValue(parsing: text)) == refusal)
    }
}
