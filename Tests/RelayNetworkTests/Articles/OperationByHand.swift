// The code of the article OperationsByHand.md, which is all that a program needs: no compiler, and no fixtures.

import Relay
import RelayNetwork

struct TodoCountQuery: Relay.Operation {
    static let node = ConcreteRequest(
        fragment: ReaderFragment(
            name: "TodoCountQuery", type: "Query", argumentDefinitions: [.local(name: "id")],
            selections: [
                .field(
                    ReaderLinkedField(
                        name: "user", args: arguments, concreteType: "User",
                        selections: [.field(ReaderScalarField(name: "totalCount"))]))
            ]),
        operation: NormalizationOperation(
            name: "TodoCountQuery", argumentDefinitions: [.local(name: "id")],
            selections: [
                .field(
                    NormalizationLinkedField(
                        name: "user", args: arguments, concreteType: "User",
                        selections: [
                            .field(NormalizationScalarField(name: "totalCount")),
                            .field(NormalizationScalarField(name: "id")),
                        ]))
            ]),
        params: RequestParameters(
            name: "TodoCountQuery", operationKind: .query,
            text: "query TodoCountQuery($id: ID!) { user(id: $id) { totalCount id } }"))
    private static let arguments = [VariableArgument(name: "id", variableName: "id")]

    var variables: Variables

    struct Variables: VariableDataConvertible {
        var id: String
        var variableData: VariableData { ["id": id] }
    }

    struct Data: ReadableRecord {
        var user: User?

        init(_ record: inout RecordReader) throws { user = try record.optionalLinked("user") }
    }

    struct User: ReadableRecord {
        var totalCount: Int

        init(_ record: inout RecordReader) throws { totalCount = try record.int("totalCount") }
    }
}

enum OperationByHand {
    static func count(_ environment: Environment) async throws -> Int? {
        let count = try await environment.fetch(TodoCountQuery(variables: .init(id: "me")))
        return count.data?.user?.totalCount
    }
}

/// What the article's table says, each row with what its dots stand for. A test looks for the table's code here.
enum TableByHand {
    static let page = [VariableArgument(name: "first", variableName: "n")]
    static let text = NormalizationSelection.field(NormalizationScalarField(name: "text"))
    static let shownText = ReaderSelection.field(ReaderScalarField(name: "text"))
    static let rowText: [NormalizationSelection] = [text]

    static let writing: [NormalizationSelection] = [
        .inlineFragment(NormalizationInlineFragment(type: "Cat", selections: [text])),
        .inlineFragment(
            NormalizationInlineFragment(
                type: "NAME", abstractKey: "__isNAME", possibleTypes: ["Cat"], selections: [text])),
        .handle(
            NormalizationHandle(
                kind: .linked, name: "todos", args: page, handle: "connection", key: "List_todos")),
        .handle(
            NormalizationHandle(
                kind: .linked, name: "todos", args: page, handle: "connection", key: "List_todos",
                filters: ["complete"])),
        .handle(
            NormalizationHandle(
                kind: .linked, name: "edge", handle: "appendEdge", handleArgs: page)),
        .handle(NormalizationHandle(kind: .scalar, name: "id", handle: "deleteRecord")),
        .condition(
            NormalizationCondition(condition: "x", passingValue: true, selections: rowText)),
        .defer(NormalizationDefer(label: "row", selections: rowText)),
        .stream(NormalizationStream(label: "rest", selections: rowText)),
    ]

    static let reading: [ReaderSelection] = [
        .inlineFragment(ReaderInlineFragment(type: "Cat", selections: [shownText])),
        .fragmentSpread(ReaderFragmentSpread(name: "Row_todo")),
        .field(
            ReaderLinkedField(
                name: "__List_todos_connection", alias: "todos", selections: [shownText])),
        .field(
            ReaderLinkedField(
                name: "__List_todos_connection", alias: "todos",
                args: [VariableArgument(name: "complete", variableName: "c")],
                selections: [shownText])),
        .condition(ReaderCondition(condition: "x", passingValue: true, selections: [shownText])),
        .field(ReaderScalarField(name: "text", required: .log)),
        .defer(ReaderDefer(selections: [shownText])),
    ]
}
