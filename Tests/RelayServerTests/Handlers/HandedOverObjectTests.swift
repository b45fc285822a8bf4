import BoundedTesting
import GraphQLExecution
import RelayArtifacts
import RelayJSON
import SchemaService
import StoreEngine
import Testing
import Threads

/// Objects that handlers give, executed beside an implementation of CompleteValue (GraphQL §6.4.3, §6.4.4)
/// that knows nothing but types: objects, unions, lists in lists, connections, edges, records by their ids.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct HandedOverObjectTests {
    private static let sdl = """
        interface Node { id: ID! }
        type Query { node(id: ID!): Node thing: Thing things: [Thing!]! either: Either! }
        type Thing {
          a: Int! b: String c: Float! d: [Int!]! e: [[String!]]! f: Thing g: Thing! h: [Thing!]
          u: Either! us: [Either]! item: Item! items: ItemConnection! edge: ItemEdge
        }
        type Other { x: Int! y: Other }
        union Either = Thing | Other
        type Item implements Node { id: ID! text: String! }
        type ItemConnection { edges: [ItemEdge!]! pageInfo: PageInfo! }
        type ItemEdge { node: Item! cursor: String! }
        type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
        type Subscription { told: Thing! }
        """

    private static let fields: [String: [(String, String)]] = [
        "Query": [("thing", "Thing"), ("things", "[Thing!]!"), ("either", "Either!")],
        "Thing": [
            ("a", "Int!"), ("b", "String"), ("c", "Float!"), ("d", "[Int!]!"),
            ("e", "[[String!]]!"),
            ("f", "Thing"), ("g", "Thing!"), ("h", "[Thing!]"), ("u", "Either!"),
            ("us", "[Either]!"),
            ("item", "Item!"), ("items", "ItemConnection!"), ("edge", "ItemEdge"),
        ],
        "Other": [("x", "Int!"), ("y", "Other")],
        "Item": [("id", "ID!"), ("text", "String!")],
        "ItemConnection": [("edges", "[ItemEdge!]!"), ("pageInfo", "PageInfo!")],
        "ItemEdge": [("node", "Item!"), ("cursor", "String!")],
        "PageInfo": [
            ("hasNextPage", "Boolean!"), ("hasPreviousPage", "Boolean!"), ("startCursor", "String"),
            ("endCursor", "String"),
        ],
    ]

    @Test func everyNullAndEveryErrorIsWhereTheSpecificationPutsIt() async throws {
        let values = Lock<[String: JSONValue]>([:])
        var handlers = Handlers()
        for name in ["thing", "things", "either"] {
            handlers.resolve("Query.\(name)") { _ in
                VariableValue(values.withLock { $0[name] ?? .null })
            }
        }
        handlers.subscription("told") { _ in
            AsyncStream<VariableValue> { $0.finish() }
        }
        let engine = try await EngineUnderTest(
            sdl: Self.sdl, handlers: handlers,
            seed: #"{"id":"i1","type":"Item","fields":{"text":"one"}}"#,
            limits: { $0.document.complexity = .max })
        let seed = UInt64.random(in: 0 ... .max)
        var model = CompletionModel(fields: Self.fields, seed: seed)
        for round in 0..<400 {
            for (name, type) in Self.fields["Query"] ?? [] {
                let value = model.value(type, depth: 1)
                values.withLock { $0[name] = value }
                let expected = model.complete(
                    value, type, depth: 1, path: [.string(name)])
                let selection = model.selection(type, depth: 1)
                let result = try await engine.run("{ \(name) \(selection) }")
                let data: JSONValue =
                    expected == nil && type.hasSuffix("!") ? .null : [name: expected ?? .null]
                let paths = (result["errors"]?.array ?? []).compactMap { $0["path"]?.text }
                let isSame = result["data"] == data && paths == model.errors.map(\.text)
                #expect(isSame, "seed \(seed), round \(round): \(value.text) gave \(result.text)")
                if !isSame { return }
            }
        }
    }

    @Test func aSourceOfASubscriptionMayGiveAWholeObject() async throws {
        var handlers = Handlers()
        for name in ["thing", "things", "either"] { handlers.resolve("Query.\(name)") { _ in nil } }
        handlers.subscription("told") { _ in
            AsyncStream<VariableValue> { stream in
                stream.yield(
                    VariableValue(
                        [
                            "items": [
                                "edges": [["node": "i1", "cursor": "c"]],
                                "pageInfo": ["hasNextPage": false],
                            ]
                        ] as JSONValue))
                stream.finish()
            }
        }
        let engine = try await EngineUnderTest(
            sdl: Self.sdl, handlers: handlers,
            seed: #"{"id":"i1","type":"Item","fields":{"text":"one"}}"#)
        let sink = try engine.subscribe(
            "subscription { told { items { edges { node { text } cursor } pageInfo { hasNextPage } } } }"
        )
        let results = try await engine.results(of: sink, count: 2)
        #expect(
            results[0]["data"]?["told"]?["items"] == [
                "edges": [["node": ["text": "one"], "cursor": "c"]],
                "pageInfo": ["hasNextPage": false],
            ], "\(results)")
    }
}

/// Makes values, what is selected of them, and what the specification makes of both.
private struct CompletionModel {
    let fields: [String: [(String, String)]]
    var random: SeededGenerator
    /// Paths of the errors of the last completion, in order.
    private(set) var errors: [JSONValue] = []

    init(fields: [String: [(String, String)]], seed: UInt64) {
        self.fields = fields
        random = SeededGenerator(seed: seed)
    }

    private func members(_ type: String, depth: Int) -> [(String, String)] {
        (fields[type] ?? []).filter {
            depth > 0 || !["Thing", "Either", "Other"].contains(base($0.1))
        }
    }

    private func base(_ type: String) -> String { String(type.filter { !"[]!".contains($0) }) }

    // MARK: Values

    mutating func value(_ type: String, depth: Int) -> JSONValue {
        if type.hasSuffix("!") {
            return random.below(40) == 0 ? .null : value(String(type.dropLast()), depth: depth)
        }
        if random.below(12) == 0 { return .null }
        if random.below(60) == 0 { return ["wrong": true] }
        if type.hasPrefix("[") {
            let item = String(type.dropFirst().dropLast())
            return .array((0..<random.below(4)).map { _ in value(item, depth: depth) })
        }
        switch type {
        case "Int": return .int(Int64(random.below(9)))
        case "Float": return .double(Double(random.below(9)) + 0.5)
        case "String", "ID": return .string("s\(random.below(9))")
        case "Boolean": return .bool(random.below(2) == 0)
        case "Item": return random.below(20) == 0 ? "nobody" : "i1"
        case "Either": return object(random.pick(["Thing", "Other", "Other"]), depth: depth)
        default: return object(type, depth: depth)
        }
    }

    private mutating func object(_ type: String, depth: Int) -> JSONValue {
        var object = JSONObject()
        object["__typename"] = .string(type)
        for (name, type) in members(type, depth: depth) where random.below(60) > 0 {
            object[name] = value(type, depth: depth - 1)
        }
        return .object(object)
    }

    // MARK: Selections

    func selection(_ type: String, depth: Int) -> String {
        let type = base(type)
        if type == "Either" {
            return "{ __typename ... on Thing \(selection("Thing", depth: depth)) "
                + "... on Other { x \(depth > 0 ? "y \(selection("Other", depth: depth - 1))" : "") } }"
        }
        let all = members(type, depth: depth)
        if all.isEmpty { return "" }
        return "{ "
            + all.map { "\($0.0) \(selection($0.1, depth: depth - 1))" }.joined(separator: " ")
            + " }"
    }

    // MARK: Completion

    mutating func complete(
        _ value: JSONValue, _ type: String, depth: Int, path: [JSONValue]
    ) -> JSONValue? {
        errors = []
        return completed(value, type, depth: depth, path: path)
    }

    /// Nil for null, whether it may be or not.
    private mutating func completed(
        _ value: JSONValue, _ type: String, depth: Int, path: [JSONValue]
    ) -> JSONValue? {
        if type.hasSuffix("!") {
            let before = errors.count
            let result = completed(value, String(type.dropLast()), depth: depth, path: path)
            if result == nil, errors.count == before { errors.append(.array(path)) }
            return result
        }
        if value == .null { return nil }
        if type.hasPrefix("[") {
            guard case .array(let elements) = value else { return fail(path) }
            let item = String(type.dropFirst().dropLast())
            var all: [JSONValue] = []
            for (index, element) in elements.enumerated() {
                let place = path + [.int(Int64(index))]
                let result = completed(element, item, depth: depth, path: place)
                if result == nil, item.hasSuffix("!") { return nil }
                all.append(result ?? .null)
            }
            return .array(all)
        }
        switch (type, value) {
        case ("Int", .int), ("Float", .double), ("String", .string), ("Boolean", .bool):
            return value
        case ("Item", .string("i1")): return ["id": "i1", "text": "one"]
        case ("Item", .string): return nil
        case ("Item", .object):
            // A record is given by its id; an object in its place has its members.
            return completed(object: value, "Item", depth: depth, path: path)
        case ("Either", .object):
            guard let name = value["__typename"]?.string else { return fail(path) }
            guard let object = completed(object: value, name, depth: depth, path: path)?.object
            else {
                return nil
            }
            var all: JSONObject = ["__typename": .string(name)]
            for (key, member) in object { all[key] = member }
            return .object(all)
        case (_, .object) where fields[type] != nil:
            return completed(object: value, type, depth: depth, path: path)
        default: return fail(path)
        }
    }

    private mutating func completed(
        object value: JSONValue, _ type: String, depth: Int, path: [JSONValue]
    ) -> JSONValue? {
        var object = JSONObject()
        for (name, type) in members(type, depth: depth) {
            let place = path + [.string(name)]
            let result = completed(value[name] ?? .null, type, depth: depth - 1, path: place)
            if result == nil, type.hasSuffix("!") { return nil }
            object[name] = result ?? .null
        }
        return .object(object)
    }

    private mutating func fail(_ path: [JSONValue]) -> JSONValue? {
        errors.append(.array(path))
        return nil
    }
}
