import BoundedTesting
import GraphQLExecution
import GraphQLLanguage
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import StoreEngine
import Testing
import Threads

/// Bodies that write everything that can be written, right and wrong, beside a reading of the schema of its own:
/// a body is carried out if and only if the records fit the schema after it.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct HandlerWritePropertyTests {
    private static let sdl = """
        interface Node { id: ID! }
        interface Named { name: String! }
        enum Color { RED BLUE }
        scalar Any
        union Both = A | B
        type Query { node(id: ID!): Node }
        type A implements Node & Named {
          id: ID! name: String! @unique age: Int weight: Float! color: Color any: Any flags: [Boolean!] names: [[String]!]
          b: B best: B! node: Node both: Both named: Named as: [A!]! bs(first: Int): BConnection! nodes: [Node]
        }
        type B implements Node { id: ID! title: String a: A count: Int! @count(field: "as") as: [A] }
        type BConnection { edges: [BEdge] pageInfo: PageInfo! }
        type BEdge { node: B cursor: String! }
        type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
        type Mutation { write: WritePayload }
        type WritePayload { a: A }
        """

    private static let seed = """
        {"id":"b1","type":"B","fields":{"title":"one","as":{"refs":["a1","a2"]}}}
        {"id":"b2","type":"B","fields":{}}
        {"id":"a1","type":"A","fields":{"name":"one","weight":1,"best":{"ref":"b1"},"as":{"refs":["a1","a2","a1"]},"bs":{"refs":["b1","b2"]}}}
        {"id":"a2","type":"A","fields":{"name":"two","weight":2,"best":{"ref":"b2"},"nodes":{"refs":["b1","a1"]}}}
        """

    @Test func aBodyIsCarriedOutExactlyIfTheRecordsFitTheSchemaAfterIt() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let script = Lock<BodyScript?>(nil)
        let outcome = Lock<Snapshot?>(nil)
        var handlers = Handlers()
        handlers.mutation("write") { records, _ in
            let script = script.withLock { $0 }
            script?.run(on: &records)
            // The state that would be committed.
            let proxy = records as? DraftProxy
            if proxy?.failure == nil { outcome.withLock { $0 = proxy?.draft.snapshot } }
            return nil
        }
        let engine = try await EngineUnderTest(
            sdl: Self.sdl, handlers: handlers, seed: Self.seed)
        let reading = try IndependentReading(Self.sdl)
        #expect(reading.problem(in: engine.service.snapshot, since: engine.service.snapshot) == nil)
        var random = SeededGenerator(seed: seed)
        var carriedOut = 0
        for round in 0..<3_000 {
            let body = BodyScript(&random)
            script.withLock { $0 = body }
            outcome.withLock { $0 = nil }
            let before = engine.service.snapshot
            let events = engine.eventCount
            let result = try await engine.run("mutation { write { a { id } } }")
            let error = result.firstErrorMessage
            let written = outcome.withLock { $0 }
            let problem = written.map { reading.problem(in: $0, since: before) } ?? "a wrong call"
            let isRight = (error == nil) == (problem == nil)
            #expect(
                isRight,
                """
                seed \(seed), round \(round): \(body) was answered \(error ?? "without an error"); \
                \(problem ?? "it fits")
                """)
            if error == nil { carriedOut += 1 }
            #expect(engine.eventCount == (error == nil ? events + 2 : events))
            if !isRight { return }
        }
        #expect(carriedOut > 300, "seed \(seed): enough of the bodies are right")
    }
}

/// A few writes, as a body would make them.
private struct BodyScript: CustomStringConvertible, Sendable {
    enum Value: Sendable {
        case string(String), int(Int), double(Double), bool(Bool), null, unset
        case list([Value?])
    }

    enum Step: Sendable {
        case create(String, type: String)
        case createUnnamed(type: String)
        case set(String, String, Value)
        case link(String, String, String?)
        case links(String, String, [String?])
        case insert(String, String, String, atStart: Bool)
        case take(String, String, String)
        case copy(String, from: String)
        case delete(String)
        case root(String, String)
        case whole(String, type: String, name: String, best: String)
    }

    let steps: [Step]

    private static let ids = ["a1", "a2", "b1", "b2", "new1", "new2", "nobody"]
    private static let types = [
        "A", "B", "A", "B", "Node", "Named", "Both", "Color", "BConnection", "Query", "a", "",
        "Any",
        "__Root", "WritePayload",
    ]
    private static let fields = [
        "id", "name", "age", "weight", "color", "any", "flags", "names", "b", "best", "node",
        "both", "named",
        "as", "bs", "nodes", "title", "a", "count", "none", "__typename", "bs(first:1)",
    ]

    init(_ random: inout SeededGenerator) {
        var steps: [Step] = []
        for _ in 0...random.below(3) { steps.append(Self.step(&random)) }
        self.steps = steps
    }

    private static func step(_ random: inout SeededGenerator) -> Step {
        let id = random.pick(ids)
        let other = random.pick(ids)
        let field = random.pick(fields)
        let lists = ["as", "bs", "nodes"]
        let linkFields = ["b", "best", "node", "both", "named", "a"]
        switch random.below(24) {
        case 0: return .create(id, type: random.pick(types))
        case 1: return .createUnnamed(type: random.pick(types))
        case 2...5: return .set(id, field, value(&random, depth: 0))
        case 6, 7: return .set(id, "name", .string("n\(random.below(5))"))
        case 8: return .set(id, "weight", .double(random.pick([1.5, .nan, .infinity])))
        case 9, 10: return .link(id, random.pick(linkFields), random.below(6) == 0 ? nil : other)
        case 11: return .link(id, field, other)
        case 12, 13:
            let all = (0..<random.below(4)).map { _ in
                random.below(12) == 0 ? nil : random.pick(ids)
            }
            return .links(id, random.below(5) == 0 ? field : random.pick(lists), all)
        case 14...16:
            return .insert(id, random.pick(lists), other, atStart: random.below(2) == 0)
        case 17: return .take(id, random.pick(lists), other)
        case 18: return .copy(id, from: other)
        case 19: return random.below(4) == 0 ? .delete(id) : .set(id, "age", .int(random.below(9)))
        case 20: return random.below(4) == 0 ? .root(field, other) : .set(id, "title", .string("t"))
        default:
            return .whole(
                random.pick(["new1", "new2"]), type: "A", name: "w\(random.below(1_000))",
                best: other)
        }
    }

    private static func value(_ random: inout SeededGenerator, depth: Int) -> Value {
        switch random.below(depth < 2 ? 12 : 9) {
        case 0: .string("RED")
        case 1: .string("one")
        case 2: .string("x")
        case 3: .int(random.pick([0, 1, -5, Int(Int32.max), Int(Int32.max) + 1, .max]))
        case 4: .double(random.pick([0.5, -0.0, .nan, .infinity, -.infinity]))
        case 5: .bool(true)
        case 6: .null
        case 7: depth == 0 ? .unset : .null
        case 8: .int(3)
        default:
            .list((0..<random.below(3)).map { _ in value(&random, depth: depth + 1) })
        }
    }

    func run(on records: inout any RecordSourceProxy) {
        for step in steps { run(step, on: &records) }
    }

    private func run(_ step: Step, on records: inout any RecordSourceProxy) {
        func record(_ id: String) -> (any RecordProxy)? { records[DataID(id)] }
        switch step {
        case .create(let id, let type): _ = records.create(dataID: DataID(id), typeName: type)
        case .createUnnamed(let type): _ = records.create(typeName: type)
        case .set(let id, let field, let value): record(id)?[field] = value.plain
        case .link(let id, let field, let other):
            record(id)?.setLinkedRecord(field, record: other.flatMap(record))
        case .links(let id, let field, let others):
            record(id)?.setLinkedRecords(field, records: others.map { $0.flatMap(record) })
        case .insert(let id, let field, let other, let atStart):
            guard let node = record(other) else { return }
            record(id)?.connection(field)?.insert(node, edgeType: "E", at: atStart ? .start : .end)
        case .take(let id, let field, let other):
            record(id)?.connection(field)?.delete(nodeID: DataID(other))
        case .copy(let id, let other):
            if let source = record(other) { record(id)?.copyFields(from: source) }
        case .delete(let id): records.delete(dataID: DataID(id))
        case .root(let field, let other):
            records.root.setLinkedRecord(field, record: record(other))
        case .whole(let id, let type, let name, let best):
            let made = records.create(dataID: DataID(id), typeName: type)
            made["name"] = name
            made["weight"] = 1.0
            if let best = record(best) { made.setLinkedRecord("best", record: best) }
        }
    }

    var description: String { "\(steps)" }
}

extension BodyScript.Value {
    var plain: Any? {
        switch self {
        case .string(let value): value
        case .int(let value): value
        case .double(let value): value
        case .bool(let value): value
        case .null: VariableValue.null
        case .unset: nil
        case .list(let values): values.map { $0.flatMap(\.plain) }
        }
    }
}

/// Whether records fit a schema, read from the schema's types alone.
private struct IndependentReading {
    private let schema: Schema
    /// What is stored, by hand.
    private let stored: [String: Set<String>] = [
        "Node": ["A", "B"], "Named": ["A"], "Both": ["A", "B"], "A": ["A"], "B": ["B"],
    ]

    init(_ sdl: String) throws { schema = try ServiceSchema(reading: sdl).schema }

    /// - Parameter before: links that it has, too, may be broken: a record may have been deleted.
    func problem(in snapshot: Snapshot, since before: Snapshot) -> String? {
        var names: Set<String> = []
        for record in snapshot.recordsInCreationOrder() {
            let id = snapshot.symbols.idString(record)
            guard let typeIndex = snapshot.type(of: record) else { continue }
            let typeName = snapshot.symbols.nameString(typeIndex)
            guard ["A", "B"].contains(typeName), let type = schema.type(named: typeName) else {
                return "\(id) is a \(typeName)"
            }
            if id == "client:root" { return "the root is a record" }
            var values: [String: FieldValue] = [:]
            for (key, value) in snapshot.recordJSON(record)?.fields ?? [] { values[key] = value }
            if let wrong = values.keys.first(where: { key in
                type.field(key) == nil || ["id", "count"].contains(key)
            }) {
                return "\(id).\(wrong) is no stored field"
            }
            if case .string(let name)? = values["name"], !names.insert(name).inserted {
                return "the name \(name) is there twice"
            }
            for field in type.fields where !["id", "count"].contains(field.name) {
                let old = before.existing(id).flatMap { before.fieldValue(field.name, of: $0) }
                if let problem = problem(values[field.name], field, old, snapshot) {
                    return "\(id).\(field.name): \(problem)"
                }
            }
        }
        return nil
    }

    private func problem(
        _ value: FieldValue?, _ field: SchemaField, _ old: FieldValue?, _ snapshot: Snapshot
    ) -> String? {
        let text = schema.print(field.type)
        let base = String(text.filter { !"[]!".contains($0) })
        let isList = text.hasPrefix("[") || base == "BConnection"
        switch value {
        case nil, .null, .unset:
            if case nil = value, isList { return nil }
            return text.hasSuffix("!") ? "null" : nil
        case .link(let id):
            if isList || stored[base] == nil { return "a link" }
            if value == old { return nil }
            return linkProblem(id, base, snapshot)
        case .links(let ids):
            let node = base == "BConnection" ? "B" : base
            guard isList, stored[node] != nil else {
                return "links"
            }
            var known: [DataID?] = []
            if case .links(let ids)? = old { known = ids }
            for id in ids where !known.contains(id) {
                guard let id else { return "a null link" }
                if let problem = linkProblem(id, node, snapshot) { return problem }
            }
            return nil
        case let value?:
            if stored[base] != nil || base == "BConnection" { return "a leaf" }
            return leafProblem(json(value), text)
        }
    }

    private func linkProblem(_ id: DataID, _ base: String, _ snapshot: Snapshot) -> String? {
        guard let record = snapshot.existing(id.rawValue), let type = snapshot.type(of: record)
        else {
            return "a link to nowhere"
        }
        return stored[base]?.contains(snapshot.symbols.nameString(type)) == true
            ? nil : "a wrong link"
    }

    private func json(_ value: FieldValue) -> JSONValue {
        switch value {
        case .bool(let value): .bool(value)
        case .int(let value): .int(value)
        case .double(let value): .double(value)
        case .string(let value): .string(value)
        case .json(let value): value
        default: .null
        }
    }

    private func leafProblem(_ value: JSONValue, _ type: String) -> String? {
        if type.hasSuffix("!") {
            return value == .null ? "null" : leafProblem(value, String(type.dropLast()))
        }
        if value == .null { return nil }
        if type.hasPrefix("[") {
            guard case .array(let elements) = value else { return "no list" }
            let item = String(type.dropFirst().dropLast())
            return elements.lazy.compactMap { leafProblem($0, item) }.first
        }
        switch (type, value) {
        case ("Int", .int(let number)):
            return abs(Double(number)) < 2_147_483_648 ? nil : "too large"
        case ("Float", .int), ("String", .string), ("Boolean", .bool): return nil
        case ("Float", .double(let number)): return number - number == 0 ? nil : "not finite"
        case ("Color", .string(let name)): return ["RED", "BLUE"].contains(name) ? nil : "no color"
        case ("Any", .double(let number)): return number - number == 0 ? nil : "not finite"
        case ("Any", _): return nil
        default: return "\(value.described) as \(type)"
        }
    }
}
