import GraphQLLanguage
import RelayArtifacts
import RelayIR
import Testing

@Suite struct AliasTests {
    @Test func aliasedFragmentsAreObjectsForReadersAndNothingForServers() throws {
        let documents = try compile(
            """
            query Q($id: ID!) {
              node(id: $id) {
                id
                ... on Titled @alias { title }
                ...Person_name @alias(as: "person")
                ... on Node @alias(as: "always") { id }
              }
            }
            fragment Person_name on Person { name }
            """, ExampleSchema.tracker())
        let operation = try #require(documents.operation("Q"))
        #expect(
            operation.request.fragment.text == """
                Q on Query($id)
                  node(id:$id) -> ?
                    id
                    Titled: on Titled __isTitled Project|Issue
                      title
                    person: on Person
                      ...Person_name
                    always: always on Node __isNode Person|Project|Issue
                      id
                """)
        #expect(
            operation.request.operation.text == """
                Q($id)
                  node(id:$id) -> ?
                    __typename
                    id
                    on Titled __isTitled Project|Issue
                      title
                    on Person
                      name
                    is __isNode
                """)
        #expect(!operation.text.contains("@"))
        guard case .field(let node)? = operation.selections.entries.first,
            case .alias(let name, let type, let tree)? = node.tree?.entries[1]
        else {
            Issue.record("There is no alias.")
            return
        }
        #expect([name, type.name] == ["Titled", "Titled"])
        #expect(tree.entries.count == 1)
    }

    @Test func aConnectionUnderAnAliasIsFoundBehindIt() throws {
        let documents = try compile(
            """
            fragment F on Node {
              ... on Project @alias(as: "project") {
                issues(first: 2) @connection(key: "F_issues") { edges { node { title } } }
              }
            }
            """, ExampleSchema.tracker())
        #expect(
            documents.fragment("F")?.node.metadata.connections.map(\.path) == [
                ["project", "issues"]
            ])
    }
}
