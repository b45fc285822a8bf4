import Foundation
import GraphQLLanguage
import RelayCompiler
import RelayIR
import Testing

/// The types of a mutation's expected answers: they have everything that the mutation selects, for each type of record.
@Suite(.timeLimit(.minutes(5))) struct ExpectedAnswerTests {
    /// The lines of the expected answer, without those of the rest.
    private func answer(_ schema: String, _ mutation: String) throws -> [Substring] {
        let documents = try RelayDocuments(
            Document(parsing: "mutation AMutation { \(mutation) }"),
            schema: try Schema.build([Source("type Query { a: Int } " + schema)]))
        let lines = GeneratedCode(documents).file(["AMutation"]).split(separator: "\n")
        let start = try #require(
            lines.firstIndex { $0.contains("struct OptimisticResponse:") })
        return Array(lines[start...])
    }

    private func count(_ text: String, in lines: [Substring]) -> Int {
        lines.count { $0.contains(text) }
    }

    /// Each level has conditions on some of its types, or each type would multiply what is below: 9 to the power of 12.
    @Test func abstractTypesNestDeeply() throws {
        let types = (1...8).map { "type T\($0) implements Node { id: ID! node: Node a\($0): Int }" }
        let depth = 12
        let level = "node { id ... on Node { __typename } ... on T1 { a1 } ... on T2 { a2 } "
        let lines = try answer(
            "interface Node { id: ID! node: Node } type Mutation { node: Node } "
                + types.joined(separator: " "),
            String(repeating: level, count: depth) + String(repeating: "}", count: depth))
        #expect(count("enum Node_node", in: lines) == depth)
        #expect(count("var a1: Int?", in: lines) == depth)
        #expect(lines.count < depth * 600)
    }

    /// Of a type without an id, the compiler asks each type that has one for it.
    @Test func typesWithoutAnIDNestDeeply() throws {
        let events = (1...20).map {
            "type E\($0) implements Event & Node { id: ID! actor: Actor target: Event }"
        }
        let actors = (1...5).map { "type A\($0) implements Actor & Node { id: ID! login: String }" }
        let depth = 8
        let lines = try answer(
            """
            interface Node { id: ID! } interface Actor { login: String }
            interface Event { actor: Actor target: Event } type Mutation { close: Event }
            \(events.joined(separator: " ")) \(actors.joined(separator: " "))
            """,
            "close { actor { login } "
                + String(repeating: "target { actor { login } ", count: depth)
                + String(repeating: "}", count: depth) + " }")
        #expect(count("enum Event_target", in: lines) == depth)
        // All levels select the same of it.
        #expect(count("enum Actor_actor", in: lines) == 1)
        #expect(count("var login: String?", in: lines) == 6)
        #expect(lines.count < 10_000)
    }

    /// The same is selected in places of their own, as in the cases of a union.
    @Test func typesThatAreTheSameAreWrittenOnce() throws {
        let names = (1...30).map { "E\($0)" }
        let events = names.map { "type \($0) { id: ID! actor: Actor \($0.lowercased()): Actor }" }
        let lines = try answer(
            """
            interface Actor { id: ID! login: String } type User implements Actor { id: ID! login: String name: String }
            union Event = \(names.joined(separator: " | ")) type Mutation { close: Event }
            \(events.joined(separator: " "))
            """,
            "close { "
                + names.map {
                    "... on \($0) { actor { login ... on User { name } } \($0.lowercased()) { login } } "
                }.joined() + "}")
        #expect(count("enum Actor_actor:", in: lines) == 1)
        #expect(count("var name: String?", in: lines) == 1)
        #expect(count("var actor: OptimisticResponse.Actor_actor?", in: lines) == 30)
        // Those with names of their own stay where they are used.
        #expect(count("var e7: Actor_e7?", in: lines) == 1)
    }

    /// What differs has a type of its own, whatever it is called.
    @Test func typesThatDifferStayApart() throws {
        let lines = try answer(
            """
            type Actor { id: ID! login: String name: String } type Mutation { close: Issue }
            type Issue { id: ID! owner: Owner creator: Owner editor: Owner} type Owner { id: ID! actor: Actor }
            """,
            """
            close { owner { actor { login } } creator { actor { name } } editor { actor { login } }
              last: owner { actor { name } } }
            """)
        #expect(count("struct Actor_actor:", in: lines) == 1)
        #expect(count("struct Actor_actor_:", in: lines) == 1)
        #expect(count("var actor: OptimisticResponse.Actor_actor?", in: lines) == 2)
        #expect(count("var actor: OptimisticResponse.Actor_actor_?", in: lines) == 2)
    }
}
