import Testing

@testable import RelayArtifacts

@Suite struct StorageKeyTests {
    @Test func keyWithoutArgumentsIsTheName() {
        #expect(NormalizationScalarField(name: "text", alias: "t").key.constant == "text")
    }

    @Test func literalArgumentsAreSortedAndKnownBeforeAnyVariable() {
        let field = NormalizationLinkedField(
            name: "todos",
            args: [
                LiteralArgument(name: "first", value: 20),
                LiteralArgument(name: "complete", value: true),
                LiteralArgument(name: "after", value: "a\"b"),
            ], selections: [])
        #expect(field.key.constant == #"todos(after:"a\"b",complete:true,first:20)"#)
    }

    @Test func variablesAreReplacedByTheirValues() {
        let field = ReaderLinkedField(
            name: "issues",
            args: [
                VariableArgument(name: "priority", variableName: "p"),
                ObjectValueArgument(
                    name: "where",
                    fields: [
                        VariableArgument(name: "open", variableName: "open"),
                        LiteralArgument(name: "a", value: [1, 2]),
                    ]),
            ], selections: [])
        #expect(field.key.constant == nil)
        let variables: VariableData = ["p": "HIGH", "open": false]
        #expect(
            field.key.resolved(with: variables)
                == #"issues(priority:"HIGH",where:{"a":[1,2],"open":false})"#)
    }

    @Test func nullAndAbsentArgumentsAreLeftOut() {
        let field = ReaderScalarField(
            name: "user", args: [VariableArgument(name: "id", variableName: "id")])
        #expect(field.key.resolved(with: [:]) == "user")
        #expect(field.key.resolved(with: ["id": VariableValue.null]) == "user")
        #expect(field.key.resolved(with: ["id": "me"]) == #"user(id:"me")"#)
    }

    @Test func nullIsKeptWhereItDiffersFromAbsent() {
        let field = ReaderScalarField(
            name: "user",
            args: [VariableArgument(name: "id", variableName: "id", distinguishesNull: true)])
        #expect(field.key.resolved(with: [:]) == "user")
        #expect(field.key.resolved(with: ["id": VariableValue.null]) == "user(id:null)")
        let literal = LiteralArgument(
            name: "id", value: VariableValue.null, distinguishesNull: true)
        #expect(ReaderScalarField(name: "user", args: [literal]).key.constant == "user(id:null)")
    }

    @Test func wholeFloatsAreWrittenAsJavaScriptDoes() {
        let key = StorageKey(name: "at", values: ["x": 1.0, "y": 0.5, "z": -3]) { _ in false }
        #expect(key.constant == "at(x:1,y:0.5,z:-3)")
    }

    @Test func handleKeysCarryOnlyTheFilters() {
        let handle = NormalizationHandle(
            kind: .linked, name: "todos",
            args: [
                LiteralArgument(name: "first", value: 20),
                VariableArgument(name: "complete", variableName: "complete"),
            ], handle: "connection", key: "ToDoList_todos", filters: ["complete"])
        #expect(handle.handleKey.resolved(with: [:]) == "__ToDoList_todos_connection")
        #expect(
            handle.handleKey.resolved(with: ["complete": true])
                == "__ToDoList_todos_connection(complete:true)")
        #expect(
            handle.fieldKey.resolved(with: ["complete": true]) == "todos(complete:true,first:20)")
    }
}
