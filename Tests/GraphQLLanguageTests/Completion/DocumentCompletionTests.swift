import BoundedTesting
import Testing

@testable import GraphQLLanguage

/// What is suggested at the place of a `|`.
@Suite(.bounded) struct DocumentCompletionTests {
    private let schema: Schema

    init() throws {
        schema = try Schema.build(
            """
            directive @live on QUERY
            interface Node { id: ID! }
            type Query { node(id: ID!): Node  user(id: String, filter: Filter, order: Order): User }
            type Mutation { addTodo(input: AddTodo!): User }
            type User implements Node {
              id: ID!
              "What others call them."
              name: String
              oldName: String @deprecated
              todos(first: Int, complete: Boolean, kinds: [Order!]): [Todo]
            }
            type Todo implements Node { id: ID! text: String user: User }
            enum Order { ASCENDING DESCENDING }
            input Filter { text: String not: Filter orders: [Order!] }
            input AddTodo { text: String! userId: ID! }
            """)
    }

    private func completion(_ text: String) throws -> DocumentCompletion {
        let mark = try #require(text.utf8.firstIndex(of: UInt8(ascii: "|")))
        let offset = text.utf8.distance(from: text.startIndex, to: mark)
        return DocumentCompletion(
            of: text.replacing("|", with: ""), at: offset, in: schema)
    }

    private func texts(_ text: String) throws -> [String] {
        try completion(text).suggestions.map(\.text)
    }

    @Test(arguments: [
        ("|", ["query", "mutation", "fragment"]),
        ("mut|", ["mutation"]),
        ("query |", []),
        ("{ |", ["node", "user", "__typename", "__schema", "__type"]),
        ("{ us|er }", ["user"]),
        ("mutation { |", ["addTodo", "__typename"]),
        ("query A { user { na|", ["name", "oldName", "__typename"]),
        ("query A { user { TODO|", ["todos"]),
        ("{ me: user { id } |", ["node", "user", "__typename", "__schema", "__type"]),
        ("{ user { me: na|", ["name", "oldName", "__typename"]),
        ("{ user { id todos { te|", ["text"]),
        ("{ user { todos { user { i|", ["id"]),
        ("{ nothing { |", []),
        ("{ user(|", ["id: ", "filter: ", "order: "]),
        ("{ user(id: \"a\", |", ["filter: ", "order: "]),
        ("{ user(order: |", ["ASCENDING", "DESCENDING", "null"]),
        ("{ user(order: DE|", ["DESCENDING"]),
        ("{ user(filter: { |", ["text: ", "not: ", "orders: "]),
        ("{ user(filter: { text: \"a\" not: { |", ["text: ", "not: ", "orders: "]),
        ("{ user(filter: { orders: [|", ["ASCENDING", "DESCENDING"]),
        ("{ user(filter: { orders: [ASCENDING, |", ["ASCENDING", "DESCENDING"]),
        ("{ user(filter: { orders: [ASCENDING] |", ["text: ", "not: "]),
        ("{ user { todos(complete: |", ["true", "false", "null"]),
        ("query ($o: Order, $n: Int) { user(order: |", ["ASCENDING", "DESCENDING", "$o", "null"]),
        ("query ($o: [Order!]!, $n: Int) { user(id: $|", ["o", "n"]),
        ("query ($|", []),
        (
            "query ($o: |",
            ["Int", "String", "Boolean", "ID", "Order", "Filter", "AddTodo"]
        ),
        ("query ($o: [Or|", ["Order"]),
        ("query A @|", ["live"]),
        ("{ user @sk|", ["skip"]),
        ("{ user @skip(|", ["if: "]),
        ("{ node { ... on |", ["Node", "User", "Todo"]),
        ("{ user { ... on |", ["Node", "User"]),
        ("{ node { ... on Todo { |", ["id", "text", "user", "__typename"]),
        ("{ user { ...|", ["on", "F"]),
        ("fragment F on |", ["Query", "Mutation", "Node", "User", "Todo"]),
        ("fragment F on Todo { |", ["id", "text", "user", "__typename"]),
        ("fragment F on Todo { id } query { user { na|", ["name", "oldName", "__typename"]),
        // What stands in arguments does not hide what the field is.
        (
            "mutation { addTodo(input: { text: \"a\", userId: \"b\" }) { na|",
            ["name", "oldName", "__typename"]
        ),
        ("{ user(filter: { not: { orders: [ASCENDING] } }) { todos { te|", ["text"]),
        ("mutation ($i: AddTodo = { text: \"a\" }) { |", ["addTodo", "__typename"]),
        ("{ user @include(if: true) { na|", ["name", "oldName", "__typename"]),
        ("{ user(order: ASCENDING) @skip(if: false) { todos(first: 1) { te|", ["text"]),
        // An inline fragment without a type is on the same one.
        ("{ user { todos { id } ... { na|", ["name", "oldName", "__typename"]),
        ("{ user { ... @include(if: true) { na|", ["name", "oldName", "__typename"]),
        ("{ user { id ... @in|", ["include"]),
        // Heads of definitions.
        ("query A |", []),
        ("fragment F |", ["on"]),
        ("query ($o: Order = |", ["ASCENDING", "DESCENDING", "null"]),
        ("query ($o: [Order!] = [|", ["ASCENDING", "DESCENDING"]),
        (
            "query ($a: [Order!], $b: Order!) { user(order: |",
            ["ASCENDING", "DESCENDING", "$b", "null"]
        ),
        ("query ($o: Order @|", []),
        ("query ($o: Order) @|", ["live"]),
        ("query ($o: [Order!] = [ASCENDING]) @li|", ["live"]),
        (
            "query ($o: [Order!] = [ASCENDING], $b: Order) { user { todos(kinds: |",
            ["ASCENDING", "DESCENDING", "$o", "null"]
        ),
        // An argument that has its colon.
        ("{ user(i|d: 1) }", ["id", "filter"]),
        ("{ user(filter: { te| : 1 }) }", ["text"]),
        ("{ user(first: 12|) }", []),
        ("{ user(first: 1a|) }", []),
        // Nothing to say in strings and comments, and after what is no GraphQL.
        ("{ user(id: \"|", []),
        ("{ user(id: \"|\") }", []),
        ("{ # us|", []),
        ("{ # us\n |", ["node", "user", "__typename", "__schema", "__type"]),
        ("{ user(id: \"#\") { na|", ["name", "oldName", "__typename"]),
        ("} |", []),
        ("{ user ? |", []),
    ])
    func whatFitsIsSuggested(_ text: String, _ expected: [String]) throws {
        let fragments = " fragment F on User { id } fragment G on Todo { id }"
        let isSpread = text.hasSuffix("...|")
        // Types come in the schema's order, which is its own affair.
        #expect(Set(try texts(isSpread ? text + fragments : text)) == Set(expected))
    }

    @Test func aSuggestionReplacesTheWholeName() throws {
        let completion = try completion("{ us|er(id: 1) }")
        #expect(completion.replaced == 2..<6)
        #expect(completion.suggestions.map(\.detail) == ["User"])
        #expect(try self.completion("{ user(id: |1) }").replaced == 11..<11)
        #expect(try self.completion("{ é us|").replaced == 5..<7)
    }

    @Test func suggestionsSayWhatTheyAre() throws {
        let suggestions = try completion("{ user { |").suggestions
        #expect(suggestions[1].description == "What others call them.")
        #expect(suggestions.map(\.isDeprecated) == [false, false, true, false, false])
        #expect(suggestions[3].detail == "[Todo]")
    }

    /// Whatever is written, at whatever place: the process lives.
    @Test func anyTextIsTaken() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "{", "}", "(", ")", "[", "]", ":", "$", "@", "...", "on", "query", "user", "id", "\"",
            "fragment", "F", "=", "!", "1", "1e", "#", "\n", "é", "\u{0}", "\"\"\"", "todos", "&",
            "|",
        ]
        for _ in 0..<3_000 {
            let text = (0..<Int.random(in: 0...30, using: &random))
                .map { _ in random.pick(pieces) }
                .joined(separator: Bool.random(using: &random) ? " " : "")
            let offset = Int.random(in: -2...text.utf8.count + 2, using: &random)
            let completion = DocumentCompletion(of: text, at: offset, in: schema)
            #expect(completion.replaced.upperBound <= text.utf8.count, "seed \(seed)")
        }
        let deep = String(repeating: "{ user ", count: 100_000)
        #expect(DocumentCompletion(of: deep, at: deep.utf8.count, in: schema).suggestions.isEmpty)
    }
}
