import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords

/// A small library of books, with resolvers made by hand.
struct TestService {
    static let sdl = """
        interface Node { id: ID! }
        type Query { book(id: ID!): Book any(id: ID!): Node nodes(ids: [ID!]!): [Node]! author(name: String!): Author }
        type Author implements Node { id: ID! name: String! age: Int books(first: Int, after: String, last: Int, before: String, out: Boolean): BookConnection bookList: [Book!]! bookCount: Int! }
        type Book implements Node { id: ID! title: String! price: Float tags: [String!] binding: Binding author: Author! out: Boolean }
        enum Binding { HARD SOFT POCKET }
        type BookConnection { edges: [BookEdge] pageInfo: PageInfo! }
        type BookEdge { node: Book cursor: String! }
        type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
        """

    let schema: ExecutableSchema
    var draft: Draft
    /// Of who asks.
    var cursorSeal: CursorSeal?

    init() throws {
        let schema = try Schema.build(Self.sdl)
        let snapshot = Snapshot(indexes: [.unique(type: "Author", key: "name")])
        let symbols = snapshot.symbols
        func key(_ name: String) -> NameIndex { symbols.name(name) }
        let byID = Lookup(argument: "id", types: [], uniqueKeys: [])
        let byName = Lookup(
            argument: "name", types: [key("Author")],
            uniqueKeys: [.init(type: key("Author"), key: key("name"))])
        func stored(_ names: [String]) -> [String: FieldResolver] {
            Dictionary(uniqueKeysWithValues: names.map { ($0, .stored(key($0))) })
        }
        let out = LinkFilter(argument: "out", key: key("out"))
        let resolvers: [String: [String: FieldResolver]] = [
            "Query": [
                "book": .lookup(byID), "any": .lookup(byID), "nodes": .nodes(argument: "ids"),
                "author": .lookup(byName),
            ],
            "Author": stored(["name", "age"]).merging([
                "id": .id, "books": .connection(.field(key("books")), filters: [out]),
                "bookList": .links(.field(key("books")), filters: []),
                "bookCount": .count(
                    LinkCountPlan(
                        name: nil, key: key("books"),
                        conditions: [.init(key: key("out"), value: true)], nodes: [key("Book")])),
            ]) { $1 },
            "Book": stored(["title", "price", "tags", "binding", "author", "out"]).merging([
                "id": .id
            ]) { $1 },
            "BookConnection": [
                "edges": .connectionPart(.edges), "pageInfo": .connectionPart(.pageInfo),
            ],
            "BookEdge": [
                "node": .connectionPart(.node), "cursor": .connectionPart(.cursor),
            ],
            "PageInfo": [
                "hasNextPage": .connectionPart(.hasNextPage),
                "hasPreviousPage": .connectionPart(.hasPreviousPage),
                "startCursor": .connectionPart(.startCursor),
                "endCursor": .connectionPart(.endCursor),
            ],
        ]
        var byType: [TypeID: [String: FieldResolver]] = [:]
        for (name, fields) in resolvers {
            if let type = schema.type(named: name) { byType[type.id] = fields }
        }
        self.schema = ExecutableSchema(schema, resolvers: byType, symbols: symbols)
        draft = Draft(on: snapshot)
    }

    mutating func write(_ type: String, _ id: DataID, _ fields: [String: FieldValue]) {
        draft.write(id, type: type, fields: fields.sorted { $0.key < $1.key })
    }

    /// Ada with five books, `b0` to `b4`; the odd ones are out.
    static func withBooks() throws -> TestService {
        var service = try TestService()
        let ids = (0..<5).map { DataID("b\($0)") }
        service.write("Author", "ada", ["name": .string("Ada"), "books": .links(ids)])
        for (index, id) in ids.enumerated() {
            service.write(
                "Book", id,
                [
                    "title": .string("Book \(index)"), "author": .link("ada"),
                    "out": .bool(index % 2 == 1), "price": .double(Double(index) + 0.5),
                ])
        }
        return service
    }

    /// The whole response to a query, as text.
    func answer(_ query: String, _ variables: JSONObject = [:]) throws -> String {
        String(decoding: try run(query, variables).bytes, as: UTF8.self)
    }

    func run(
        _ query: String, _ variables: JSONObject = [:]
    ) throws -> (bytes: [UInt8], dependencies: Dependencies) {
        let operation = try PreparedOperation(
            Document(parsing: query), operationName: nil, schema: schema)
        let coerced = try operation.coerce(variables)
        var execution = Execution(
            operation.plan(for: coerced), variables: coerced, on: draft.snapshot, schema: schema,
            identity: .unrestricted, recordsDependencies: true, cursorSeal: cursorSeal)
        let bytes = execution.response()
        return (bytes, execution.dependencies ?? Dependencies())
    }
}
