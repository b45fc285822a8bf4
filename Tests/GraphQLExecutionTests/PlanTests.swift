import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing
import Threads

@testable import GraphQLExecution

@Suite struct PlanTests {
    /// It would be compiled again for each record of the type.
    @Test func aTypeThatIsTooLargeIsCompiledOnce() {
        let type = Snapshot().symbols.name("Author")
        let count = Lock(0)
        let selection = SelectionPlan { _ throws(ExecutionError) in
            count.withLock { $0 += 1 }
            throw ExecutionError("too large")
        }
        for _ in 0..<3 {
            #expect(throws: ExecutionError.self) { try selection.plan(for: type) }
        }
        #expect(count.withLock { $0 } == 1)
    }

    /// Each fragment spreads the next one twice.
    private func doubling(_ count: Int, _ root: String, on type: String, _ field: String) -> String
    {
        let fragments = (0..<count).map {
            let next = field.replacing("…", with: "{ ...F\($0 + 1) }")
            return " fragment F\($0) on \(type) { a: \(next) b: \(next) }"
        }
        return
            "{ \(root) { ...F0 } } \(fragments.joined()) fragment F\(count) on \(type) { __typename }"
    }

    private func prepare(
        _ text: String, selections: Int
    ) throws(ExecutionError) -> PreparedOperation {
        let service: TestService
        let document: Document
        do {
            service = try TestService()
            document = try Document(parsing: text)
        } catch {
            throw ExecutionError("\(error)")
        }
        return try PreparedOperation(
            document, operationName: nil, schema: service.schema, selectionLimit: selections)
    }

    /// Two to the power of 60 plans, if each place had its own.
    @Test(arguments: [
        ("__type(name: \"Int\")", "__Type", "ofType …"),
        ("author(name: \"none\")", "Author", "books(first: 0) { edges { node { author … } } }"),
        ("author(name: \"none\")", "Author", "bookList { author … }"),
    ])
    func whatIsSpreadTwiceIsCompiledOnce(root: String, type: String, field: String) throws {
        let text = doubling(60, root, on: type, field)
        _ = try prepare(text, selections: 1_000)
        let answer = try TestService().answer(text)
        #expect(answer.contains("null") || answer.contains("\"ofType\":null"), "\(answer)")
    }

    @Test func whatTheSameFragmentSelectsInDifferentPlacesStaysApart() throws {
        let service = try TestService.withBooks()
        let text = """
            query ($t: Boolean!) {
              a: book(id: "b0") { author { ...A } } b: book(id: "b1") { ...B author { ...A } }
              c: any(id: "b2") { ...B } d: any(id: "ada") { ...B ... on Author { ...A } }
            }
            fragment A on Author { name bookList @include(if: $t) { ...B } }
            fragment B on Book { title @skip(if: $t) author { id } }
            """
        let books = (0..<5).map { _ in #"{"author":{"id":"ada"}}"# }.joined(separator: ",")
        #expect(
            try service.answer(text, ["t": true])
                == #"{"data":{"a":{"author":{"name":"Ada","bookList":[\#(books)]}},"#
                + #""b":{"author":{"id":"ada","name":"Ada","bookList":[\#(books)]}},"#
                + #""c":{"author":{"id":"ada"}},"d":{"name":"Ada","bookList":[\#(books)]}}}"#)
        #expect(
            try service.answer(text, ["t": false])
                == #"{"data":{"a":{"author":{"name":"Ada"}},"#
                + #""b":{"title":"Book 1","author":{"id":"ada","name":"Ada"}},"#
                + #""c":{"title":"Book 2","author":{"id":"ada"}},"d":{"name":"Ada"}}}"#)
    }

    @Test func anOperationWithTooManySelectionsIsRefused() throws {
        let text =
            "{ a: author(name: \"n\") { ...F } b: author(name: \"n\") { id ...F } } fragment F on Author { name age }"
        // 2 of the root, 1 and 2 in the fields, 2 of the fragment for each.
        #expect(try prepare(text, selections: 9).keptSelections == 9)
        let error = #expect(throws: ExecutionError.self) { try prepare(text, selections: 8) }
        #expect(error?.code == .limitExceeded)
        #expect(
            error?.message
                == "With its fragments in each place, the operation has more than 8 selections.")
        // What conditions leave out counts, too.
        let condition = text.replacing("{ a:", with: "query ($c: Boolean!) { a:")
            .replacing("...F }", with: "...F @include(if: $c) }")
        #expect(throws: ExecutionError.self) { try prepare(condition, selections: 8) }
        #expect(throws: Never.self) { try prepare(condition, selections: 9) }
    }

    /// The plans of an abstract type hold what compiles them.
    @Test func anOperationThatIsNoLongerUsedLeavesNothingBehind() throws {
        let schema = try Schema.build(
            """
            type Query { a: A }
            type A { n: Node }
            interface Node { id: ID! }
            type B implements Node { id: ID! }
            """)
        weak var plan: ObjectPlan?
        do {
            let operation = try PreparedOperation(
                Document(parsing: "{ a { ...F } } fragment F on A { n { id } }"),
                operationName: nil,
                schema: ExecutableSchema(schema, resolvers: [:], symbols: Snapshot().symbols))
            let field = try #require(operation.plan(for: .none).root.fields.first)
            guard case .object(let selection) = field.shape else {
                Issue.record("a field without a selection")
                return
            }
            plan = selection.onlyPlan
            #expect(plan != nil)
        }
        #expect(plan == nil)
    }

    /// At each level the right field leaves out what the left one spreads, so that every path has selections of its own.
    @Test func whatConditionsMakeDifferentIsBoundedToo() throws {
        let depth = 12
        func field(_ name: String, _ spreads: String) -> String {
            "\(name): bookList { author { \(spreads) } }"
        }
        var text = "query ($v: Boolean!) { author(name: \"n\") { ...F0 } }"
        for level in 0..<depth {
            let (next, other) = ("...F\(level + 1)", "...E\(level)_\(level + 1)")
            text += " fragment F\(level) on Author { \(field("l", "\(next) \(other)"))"
            text += " \(field("r", "\(next) \(other) @include(if: $v)")) }"
            for lower in level + 1..<depth {
                let next = "...E\(level)_\(lower + 1)"
                text +=
                    " fragment E\(level)_\(lower) on Author { \(field("l", next)) \(field("r", next)) }"
            }
            text += " fragment E\(level)_\(depth) on Author { name }"
        }
        text += " fragment F\(depth) on Author { id }"
        let operation = try prepare(text, selections: 2_000)
        _ = try operation.coerce(["v": true])
        let refused = #expect(throws: ExecutionErrors.self) { try operation.coerce(["v": false]) }
        #expect(refused?.errors.map(\.code) == [.limitExceeded])
    }

    /// They are compiled when their records occur, so they are refused then.
    @Test func anAbstractTypeWithTooManySelectionsIsAnErrorOfItsField() throws {
        let service = try TestService.withBooks()
        let fields = (0..<200).map { "f\($0): title" }.joined(separator: " ")
        let grown = Lock(0)
        let operation = try PreparedOperation(
            Document(
                parsing: """
                    { any(id: "b0") { ... on Book { \(fields) } } fits: any(id: "ada") { ... on Author { name age } } }
                    """),
            operationName: nil, schema: service.schema, selectionLimit: 10,
            onGrowth: { count in grown.withLock { $0 += count } })
        var execution = Execution(
            operation.plan(for: .none), variables: .none, on: service.draft.snapshot,
            schema: service.schema, identity: .unrestricted)
        let answer = try JSONValue(parsing: execution.response())
        #expect(answer["data"]?["any"] == .null && answer["data"]?["fits"]?["name"] == "Ada")
        #expect(grown.withLock { $0 } == 3, "an inline fragment and two fields")
        let errors = execution.errors
        #expect(errors.map(\.code) == [.limitExceeded])
        #expect(errors.map(\.path) == [[.field("any")]])
    }
}
