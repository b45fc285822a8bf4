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
