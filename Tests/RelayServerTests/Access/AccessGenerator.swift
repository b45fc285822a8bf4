import BoundedTesting
import RelayJSON

/// Makes schemas with rules, stores, people, queries and mutations at random.
struct AccessGenerator {
    static let types = ["A", "B", "C"]
    static let unique = ["name", "code"]
    /// Fields that may have a rule.
    private static let rulable = ["code", "flag", "num", "score", "tags", "owner", "other", "more"]
    private static let actions = ["read", "create", "update", "delete"]
    private static let claims = ["role", "level", "on", "team"]
    private static let names = (0..<7).map { "n\($0)" }

    var random: SeededGenerator
    private(set) var rules = AccessModel.Rules()
    /// The types that link fields lead to, by `Type.field`.
    private(set) var targets: [String: String] = [:]
    /// The mutations that add to `items` of a type, by the type of their records.
    private(set) var parents: [String: String] = [:]
    /// Records that counts ask for.
    private var counted: [String: String] = [:]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        for type in Self.types {
            for field in ["owner", "other", "items", "more", "conn"] {
                targets["\(type).\(field)"] = pick(Self.types)
            }
            counted[type] = id(of: targets["\(target(type, "conn")).owner"] ?? "A")
        }
        for type in Self.types {
            parents[type] = Self.types.first { target($0, "conn") == type }
        }
        rules.isOpenByDefault = chance(3)
        for type in Self.types {
            if !chance(6) {
                var stated: [String: JSONValue] = [:]
                for action in Self.actions where !chance(8) {
                    stated[action] =
                        chance(action == "read" ? 6 : 3) ? ["viewer": true] : rule(on: type, 3)
                }
                // Without any action there is no @access.
                if !stated.isEmpty { rules.types[type] = stated }
            }
            for field in Self.rulable where chance(5) {
                rules.fields["\(type).\(field)"] = rule(on: type, 2)
            }
            for mutation in ["add", "set", "del", "put", "cut", "move"] where chance(8) {
                rules.mutations[mutation + type] = rule(on: nil, 2)
            }
        }
    }

    // MARK: Dice

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    /// Once in so many times.
    mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    func target(_ type: String, _ field: String) -> String { targets["\(type).\(field)"] ?? "A" }

    private mutating func id(of type: String) -> String {
        // Some are numbers.
        let number = Int.random(in: 0..<6, using: &random)
        return type == "A" ? "\(number)" : "\(type)\(number)"
    }

    // MARK: Rules

    /// - Parameter type: that of the record; nil where there is none.
    private mutating func rule(on type: String?, _ depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 10 : 6), using: &random) {
        case 0: return ["claim": .object(JSONObject([(pick(Self.claims), claimConstant())]))]
        case 1: return ["viewer": true]
        case 2..<6:
            guard let type else { return ["claim": ["role": "x"]] }
            return ["field": .object(JSONObject([test(on: type, links: 2)]))]
        case 6, 7: return ["any": [rule(on: type, depth - 1), rule(on: type, depth - 1)]]
        case 8: return ["all": [rule(on: type, depth - 1), rule(on: type, depth - 1)]]
        default: return ["not": rule(on: type, depth - 1)]
        }
    }

    private mutating func claimConstant() -> JSONValue {
        pick(["x", "y", 1, 2, true, false, .double(1.5)])
    }

    private mutating func test(on type: String, links: Int) -> (String, JSONValue) {
        func claim(_ name: String) -> JSONValue { .string("$claim.\(name)") }
        switch Int.random(in: 0..<13, using: &random) {
        case 0: return ("id", pick(["$viewer", claim("team")]))
        case 1: return ("name", pick(["n0", "n1", "$viewer", claim("role")]))
        case 2: return ("code", pick([.null, "n0", claim("role")]))
        case 3: return ("flag", pick([true, false, .null, claim("on")]))
        case 4: return ("num", pick([0, 1, 2, .null, claim("level")]))
        case 5: return ("score", pick([1, .double(1.5), .null, claim("level")]))
        case 6: return ("tags", pick(["x", "y", .null, claim("role")]))
        case 7: return (pick(["items", "more", "conn"]), pick(["$viewer", claim("team")]))
        case 8: return ("owner", pick(["$viewer", .null, claim("team")]))
        case 9: return (pick(["items", "conn"]), .string(id(of: pick(Self.types))))
        default:
            let field = pick(["owner", "other"])
            guard links > 0 else { return (field, pick(["$viewer", .null])) }
            return (field, .object(JSONObject([test(on: target(type, field), links: links - 1)])))
        }
    }

    // MARK: The schema

    /// - Parameter isOpen: without the rules.
    func sdl(isOpen: Bool) -> String {
        func access(_ arguments: [(String, JSONValue)]) -> String {
            if isOpen || arguments.isEmpty { return "" }
            return " @access("
                + arguments.map { "\($0): \(Self.constant($1))" }.joined(separator: ", ") + ")"
        }
        var text = """
            interface Node { id: ID! }
            type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
            input DeleteInput { id: ID! }
            input PutInput { id: ID! childId: ID! }
            input MoveInput { id: ID! childId: ID! afterId: ID }
            type DeletePayload { deletedId: ID }

            """
        if isOpen || rules.isOpenByDefault { text += "extend schema @access(default: OPEN)\n" }
        var query = "node(id: ID!): Node nodes(ids: [ID!]!): [Node]!\n"
        var mutation = ""
        var subscription = ""
        let page = "first: Int, after: String, last: Int, before: String"
        for type in Self.types {
            func rule(_ field: String) -> String {
                access(rules.fields["\(type).\(field)"].map { [("read", $0)] } ?? [])
            }
            func gate(_ name: String) -> String {
                access(rules.mutations[name].map { [("if", $0)] } ?? [])
            }
            let stated = Self.actions.compactMap { action in
                rules.types[type]?[action].map { (action, $0) }
            }
            let conn = target(type, "conn")
            text += """
                type \(type) implements Node\(access(stated)) {
                  id: ID!
                  name: String! @unique
                  code: String @unique\(rule("code"))
                  flag: Boolean\(rule("flag"))
                  num: Int\(rule("num"))
                  score: Float\(rule("score"))
                  tags: [String!]\(rule("tags"))
                  owner: \(target(type, "owner"))\(rule("owner"))
                  other: \(target(type, "other"))\(rule("other"))
                  items: [\(target(type, "items"))]!
                  more: [\(target(type, "more"))]\(rule("more"))
                  mixed: [Node]!
                  conn(flag: Boolean, num: Int, owner: ID, \(page)): \(conn)Connection!
                  all: Int! @count(field: "conn")
                  flagged: Int! @count(field: "conn", where: { flag: true })
                  blank: Int! @count(field: "items", where: { num: null })
                  owned: Int! @count(field: "conn", where: { owner: "\(counted[type] ?? "")" })
                  moreCount: Int! @count(field: "more")
                }
                type \(type)Connection { edges: [\(type)Edge] pageInfo: PageInfo! }
                type \(type)Edge { node: \(type) cursor: String! }
                type \(type)Payload { record: \(type) }
                input Add\(type)Input { name: String! code: String flag: Boolean num: Int ownerId: ID\(parents[type] == nil ? "" : " parentId: ID") }
                input Set\(type)Input { id: ID! name: String code: String flag: Boolean num: Int ownerId: ID otherId: ID }

                """
            query += """
                by\(type)(key: ID!): \(type) @lookup
                every\(type): [\(type)]! @list(type: "\(type)")
                list\(type)(flag: Boolean, num: Int, owner: ID, \(page)): \(type)Connection! @list(type: "\(type)")

                """
            let into = parents[type].map { ", into: \"\($0).conn\", parent: \"parentId\"" } ?? ""
            let child = target(type, "conn")
            // A child of another type than its parent is told from it by the payload.
            mutation += """
                add\(type)(input: Add\(type)Input!): \(type)Payload @create(type: "\(type)"\(into))\(gate("add\(type)"))
                set\(type)(input: Set\(type)Input!): \(type)Payload @update(type: "\(type)")\(gate("set\(type)"))
                del\(type)(input: DeleteInput!): DeletePayload @delete(type: "\(type)")\(gate("del\(type)"))
                put\(type)(input: PutInput!): \(child)Payload @link(field: "\(type).conn", parent: "id", child: "childId")\(gate("put\(type)"))
                cut\(type)(input: PutInput!): \(child)Payload @unlink(field: "\(type).conn", parent: "id", child: "childId")\(gate("cut\(type)"))
                move\(type)(input: MoveInput!): \(child)Payload @move(field: "\(type).conn", parent: "id", child: "childId", after: "afterId")\(gate("move\(type)"))

                """
            subscription += """
                changed\(type): \(type)Payload @on(mutations: ["set\(type)"])
                deleted\(type): DeletePayload @on(mutations: ["del\(type)"])

                """
        }
        return text + "type Query {\n\(query)}\ntype Mutation {\n\(mutation)}\n"
            + "type Subscription {\n\(subscription)}\n"
    }

    /// A constant of GraphQL.
    private static func constant(_ value: JSONValue) -> String {
        switch value {
        case .object(let object):
            "{ " + object.members.map { "\($0.key): \(constant($0.value))" }.joined(separator: ", ")
                + " }"
        case .array(let values): "[" + values.map(constant).joined(separator: ", ") + "]"
        default: value.text
        }
    }

    // MARK: Records and people

    mutating func store() -> AccessModel {
        var model = AccessModel()
        var ids: [(String, String)] = []
        for type in Self.types {
            for number in 0..<5 where !chance(6) {
                ids.append((type == "A" ? "\(number)" : "\(type)\(number)", type))
            }
        }
        ids.shuffle(using: &random)
        func those(of type: String) -> [String] { ids.filter { $0.1 == type }.map(\.0) }
        for (number, (id, type)) in ids.enumerated() {
            var fields: [String: AccessModel.Value] = ["name": .leaf(.string("n\(number)"))]
            if chance(2) { fields["code"] = .leaf(.string("n\(number + ids.count)")) }
            if !chance(4) { fields["flag"] = .leaf(pick([true, false, .null])) }
            if !chance(4) { fields["num"] = .leaf(pick([0, 1, 2, .null])) }
            if !chance(3) { fields["score"] = .leaf(pick([1, .double(1.5), 2])) }
            if !chance(3) { fields["tags"] = .leaf(pick([["x"], ["x", "y"], [], ["z"]])) }
            for field in ["owner", "other"] where !chance(4) {
                let others = those(of: target(type, field))
                if !others.isEmpty { fields[field] = .link(pick(others)) }
            }
            for field in ["items", "more", "conn"] {
                fields[field] = .links(
                    those(of: target(type, field)).shuffled(using: &random).filter { _ in
                        chance(2)
                    })
            }
            fields["mixed"] = .links(ids.map(\.0).filter { _ in chance(4) })
            model.records.append(AccessModel.Record(id: id, type: type, fields: fields))
        }
        return model
    }

    mutating func person(_ model: AccessModel) -> AccessModel.Person {
        if chance(6) { return AccessModel.Person() }
        let known = pick(model.records).id
        // One whose record may be made later, and one who has none.
        var person = AccessModel.Person(id: pick([known, known, known, "A-1", "B-2", "someone"]))
        let ids: [JSONValue] = model.records.map { record in
            Int64(record.id).map(JSONValue.int) ?? .string(record.id)
        }
        if chance(2) { person.claims["role"] = pick(["x", ["y", "x"], ["n0", "n1"], [], "n0"]) }
        if chance(2) { person.claims["level"] = pick([1, 2, [1, 2], .double(1.5), "1", [0]]) }
        if chance(2) { person.claims["on"] = pick([true, false, [true, false]]) }
        if chance(2) { person.claims["team"] = pick([pick(ids), [pick(ids), pick(ids)]]) }
        return person
    }

    // MARK: Arguments

    /// A text that may name a record of a type.
    mutating func reference(_ type: String, _ model: AccessModel) -> String {
        let those = model.records.filter { $0.type == type }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return id(of: type)
        case 1: return pick(Self.names)
        case 2 where !those.isEmpty:
            let record = pick(those)
            if case .leaf(.string(let text))? = record.fields[pick(Self.unique)] { return text }
            return record.id
        default: return those.isEmpty ? id(of: type) : pick(those).id
        }
    }

    mutating func mutation(_ model: AccessModel) -> AccessMutation {
        let type = pick(Self.types)
        var kind = pick([
            "add", "add", "set", "set", "set", "set", "del", "put", "put", "cut", "move", "move",
        ])
        if kind == "del", !chance(2) { kind = "set" }
        var input: [(String, JSONValue)] = []
        func text(_ value: String) -> JSONValue { .string(value) }
        switch kind {
        case "add":
            input = [("name", text(chance(5) ? pick(Self.names) : "m\(random.next() % 10_000)"))]
            if let parent = parents[type], chance(2) {
                input.append(("parentId", text(reference(parent, model))))
            }
        case "set", "del": input = [("id", text(reference(type, model)))]
        default:
            input = [
                ("id", text(reference(type, model))),
                ("childId", text(reference(target(type, "conn"), model))),
            ]
        }
        if kind == "move", !chance(4) {
            let after = reference(target(type, "conn"), model)
            input.append(("afterId", chance(6) ? .null : text(after)))
        }
        if kind == "set", chance(6) { input.append(("name", text(pick(Self.names)))) }
        if kind == "add" || kind == "set" {
            if chance(4) { input.append(("code", pick([.null, text(pick(Self.names))]))) }
            if chance(2) { input.append(("flag", pick([true, false, .null]))) }
            if chance(2) { input.append(("num", pick([0, 1, 2, .null]))) }
            if chance(2) {
                let owner = reference(target(type, "owner"), model)
                input.append(("ownerId", chance(5) ? .null : text(owner)))
            }
        }
        if kind == "set", chance(3) {
            input.append(("otherId", text(reference(target(type, "other"), model))))
        }
        return AccessMutation(kind: kind, type: type, input: input)
    }

    // MARK: Queries

    /// Fields of a record.
    mutating func selection(of type: String, _ depth: Int, _ model: AccessModel)
        -> [AccessSelection]
    {
        var fields = [AccessSelection(name: "id", type: type)]
        for name in ["name", "code", "flag", "num", "score", "tags"] where chance(2) {
            fields.append(AccessSelection(name: name, type: type))
        }
        for name in ["all", "flagged", "blank", "owned", "moreCount"] where chance(3) {
            fields.append(AccessSelection(name: name, type: type))
        }
        guard depth > 0 else { return fields }
        for name in ["owner", "other", "items", "more"] where chance(3) {
            let target = target(type, name)
            fields.append(
                AccessSelection(
                    name: name, type: type,
                    children: [target: selection(of: target, depth - 1, model)]))
        }
        if chance(4) {
            fields.append(
                AccessSelection(name: "mixed", type: type, children: any(depth - 1, model)))
        }
        if chance(2) {
            fields.append(connection("conn", on: type, of: target(type, "conn"), depth, model))
        }
        return fields
    }

    private mutating func any(_ depth: Int, _ model: AccessModel) -> [String: [AccessSelection]] {
        var children: [String: [AccessSelection]] = [:]
        for type in Self.types { children[type] = selection(of: type, depth, model) }
        return children
    }

    private mutating func connection(
        _ name: String, on type: String, of node: String, _ depth: Int, _ model: AccessModel
    ) -> AccessSelection {
        var arguments: [(String, JSONValue)] = []
        if chance(4) { arguments.append(("flag", pick([true, false]))) }
        if chance(4) { arguments.append(("num", pick([0, 1, 2]))) }
        if chance(4) {
            arguments.append(("owner", .string(reference(target(node, "owner"), model))))
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: arguments.append(("first", .int(Int64.random(in: 0..<4, using: &random))))
        case 1: arguments.append(("last", .int(Int64.random(in: 0..<4, using: &random))))
        default: break
        }
        return AccessSelection(
            name: name, type: type, arguments: arguments,
            children: [node: selection(of: node, depth - 1, model)], isConnection: true)
    }

    /// Fields of the query type, each under another name.
    mutating func query(_ model: AccessModel) -> [AccessSelection] {
        (0..<3).map { number in
            let type = pick(Self.types)
            var field: AccessSelection
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                field = AccessSelection(
                    name: "node", type: "Query",
                    arguments: [("id", .string(reference(type, model)))], children: any(1, model))
            case 1:
                let ids = (0..<3).map { _ in JSONValue.string(reference(pick(Self.types), model)) }
                field = AccessSelection(
                    name: "nodes", type: "Query", arguments: [("ids", .array(ids))],
                    children: any(1, model))
            case 2, 3:
                field = AccessSelection(
                    name: "by\(type)", type: "Query",
                    arguments: [("key", .string(reference(type, model)))],
                    children: [type: selection(of: type, 2, model)])
            case 4, 5:
                field = AccessSelection(
                    name: "every\(type)", type: "Query",
                    children: [type: selection(of: type, 2, model)])
            default: field = connection("list\(type)", on: "Query", of: type, 2, model)
            }
            field.alias = "q\(number)"
            return field
        }
    }
}
