// The code of the article OperationsByHand.md, which is all that such a program needs: nothing is generated.

import Combine
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

/// A query of whatever fields of a user a person has asked for.
struct AskedFields {
    let names: [String]

    init?(_ words: String) {
        let names = words.split(separator: " ").map(String.init)
        let isName = { (name: String) in
            name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        }
        guard !names.isEmpty, names.allSatisfy(isName) else { return nil }
        self.names = names
    }

    var operation: OperationDescriptor {
        let definitions = [ArgumentDefinition.local(name: "id")]
        let arguments = [VariableArgument(name: "id", variableName: "id")]
        let node = ConcreteRequest(
            fragment: ReaderFragment(
                name: "AskedQuery", type: "Query", argumentDefinitions: definitions,
                selections: [
                    .field(
                        ReaderLinkedField(
                            name: "user", args: arguments, concreteType: "User",
                            selections: names.map { .field(ReaderScalarField(name: $0)) }))
                ]),
            operation: NormalizationOperation(
                name: "AskedQuery", argumentDefinitions: definitions,
                selections: [
                    .field(
                        NormalizationLinkedField(
                            name: "user", args: arguments, concreteType: "User",
                            selections: (names + ["id"]).map {
                                .field(NormalizationScalarField(name: $0))
                            }))
                ]),
            params: RequestParameters(
                name: "AskedQuery", operationKind: .query,
                text: """
                    query AskedQuery($id: ID!) { user(id: $id) { \(names.joined(separator: " ")) id } }
                    """))
        return OperationDescriptor(
            request: RequestDescriptor(node: node, variables: ["id": "me"]))
    }
}

/// Data that is read by names.
struct AnyData: ReadableRecord {
    init(_ record: inout RecordReader) throws {}
}

enum OperationByHand {
    static func ask(_ words: String, _ environment: Environment) async throws -> [String: String] {
        guard let asked = AskedFields(words) else { return [:] }

        let operation = asked.operation
        let kept = environment.retain(operation: operation)
        for try await response in environment.execute(operation: operation).values {
            for error in response.errors ?? [] { print(error.message) }
        }
        let answer = environment.lookup(selector: operation.fragment, as: AnyData.self)
        let user = answer.selectorData?.get(SelectorData?.self, "user")
        let values = asked.names.map { ($0, user?.get(path: [$0]).map { "\($0)" } ?? "null") }

        withExtendedLifetime(kept) {}
        return Dictionary(values, uniquingKeysWith: { first, _ in first })
    }

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
