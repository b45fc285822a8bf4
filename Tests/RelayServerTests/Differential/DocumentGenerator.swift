import BoundedTesting
import GraphQLLanguage

/// Documents for a schema, made of random choices that follow from a seed: valid ones, ones with a mistake
/// or two, and ones that are hardly documents.
struct DocumentGenerator {
    private let schema: Schema
    private var random: SeededGenerator
    private var fragments: [String] = []
    private var fragmentCount = 0
    /// Chance of a mistake at every place where one can be made, in a thousand.
    private var mistakes = 0

    init(_ schema: Schema, seed: UInt64) {
        self.schema = schema
        random = SeededGenerator(seed: seed)
    }

    mutating func next() -> String {
        switch random.below(10) {
        case 0..<4: mistakes = 0
        case 4..<8: mistakes = 30
        default: return spoiled()
        }
        return document()
    }

    private mutating func document() -> String {
        fragments = []
        fragmentCount = 0
        var parts: [String] = []
        let root: (String, TypeID?) =
            switch random.below(mistakes > 0 ? 8 : 12) {
            case 0: ("mutation", schema.mutationType)
            case 1: ("subscription", schema.subscriptionType)
            default: ("query", schema.queryType)
            }
        guard let type = root.1 else { return "{ __typename }" }
        let depth = 2 + random.below(3)
        let isNamed = root.0 != "query" || random.below(3) == 0
        let head = isNamed ? "\(root.0) Q\(random.below(3))" : "query"
        if root.0 == "subscription", !slips() {
            parts.append("\(head) { \(field(of: schema[type], depth) ?? "__typename") }")
        } else {
            parts.append(head + " " + selections(on: schema[type], depth))
        }
        if slips() { parts.append("query Q\(random.below(2)) { __typename }") }
        if slips() { parts.append("fragment Unused on \(typeName()) { __typename }") }
        return (parts + fragments).joined(separator: random.below(2) == 0 ? "\n\n" : " # and\n")
    }

    /// A document of which tokens or characters were taken out, doubled or exchanged.
    private mutating func spoiled() -> String {
        mistakes = 0
        var characters = Array(document())
        for _ in 0...random.below(3) where !characters.isEmpty {
            let place = random.below(characters.count)
            switch random.below(4) {
            case 0: characters.remove(at: place)
            case 1:
                let noise = Array("{}()[]:!$@\"\\|&=.,#0a-é\n")
                characters.insert(noise[random.below(noise.count)], at: place)
            case 2: characters.removeSubrange(place..<min(place + 5, characters.count))
            default: characters.insert(contentsOf: "\"\"\"", at: place)
            }
        }
        return String(characters)
    }

    private mutating func slips() -> Bool { mistakes > 0 && random.below(1_000) < mistakes }

    private mutating func typeName() -> String {
        if slips() { return "Nothing" }
        let types = schema.types.filter { $0.origin == .document }
        return types[random.below(types.count)].name
    }

    // MARK: Selections

    private mutating func selections(on type: NamedType, _ depth: Int) -> String {
        var parts: [String] = []
        for _ in 0...random.below(4) {
            switch random.below(8) {
            case 0: parts.append("__typename")
            case 1 where depth > 1: parts.append(inlineFragment(on: type, depth))
            case 2 where depth > 1 && fragmentCount < 4: parts.append(spread(on: type, depth))
            default: if let field = field(of: type, depth) { parts.append(field) }
            }
        }
        if parts.isEmpty { parts.append("__typename") }
        return "{ " + parts.joined(separator: random.below(3) == 0 ? ",\n  " : " ") + " }"
    }

    private mutating func inlineFragment(on type: NamedType, _ depth: Int) -> String {
        let target = condition(for: type)
        let name = random.below(4) == 0 && target.id == type.id ? "" : " on \(target.name)"
        return "...\(name)\(directives()) " + selections(on: target, depth - 1)
    }

    private mutating func spread(on type: NamedType, _ depth: Int) -> String {
        fragmentCount += 1
        let name = "F\(fragmentCount)"
        let target = condition(for: type)
        let body = selections(on: target, depth - 1)
        fragments.append("fragment \(name) on \(slips() ? typeName() : target.name) \(body)")
        return slips() ? "...Unknown" : "...\(name)\(directives())"
    }

    /// A type that a fragment on a type may have.
    private mutating func condition(for type: NamedType) -> NamedType {
        if slips() { return schema.types[random.below(schema.types.count)] }
        let possible = schema.possibleTypes(of: type.id)
        guard !possible.isEmpty, random.below(3) > 0 else { return type }
        return schema[possible[random.below(possible.count)]]
    }

    private mutating func field(of type: NamedType, _ depth: Int) -> String? {
        if slips() { return "\(["nothing", "todo", "titel", "user_"][random.below(4)])" }
        // graphql-core 3.2 has no `isOneOf` yet (September 2025).
        let fields = type.fields.filter {
            (depth > 1 || schema[$0.namedType].kind.isLeaf) && $0.name != "isOneOf"
        }
        guard !fields.isEmpty else { return nil }
        let field = fields[random.below(fields.count)]
        // The alias follows from the field and its arguments, so that valid documents stay so.
        let given = arguments(of: field)
        var alias = ""
        if !given.isEmpty || slips() {
            let hash = (type.name + field.name + given).utf8.reduce(5_381) { $0 &* 33 &+ Int($1) }
            alias = slips() ? "a: " : "a\(UInt(bitPattern: hash) % 1_000_000): "
        }
        let target = schema[field.namedType]
        var text = alias + field.name + given + directives()
        if target.kind.isComposite != slips() {
            text += " " + selections(on: target, depth - 1)
        }
        return text
    }

    private mutating func directives() -> String {
        if slips() { return [" @nothing", " @skip", " @include(if: 1)"][random.below(3)] }
        guard random.below(12) == 0 else { return "" }
        let name = random.below(2) == 0 ? "skip" : "include"
        return " @\(name)(if: \(random.below(2) == 0))"
    }

    // MARK: Values

    private mutating func arguments(of field: SchemaField) -> String {
        var given: [String] = []
        for argument in field.arguments where argument.isRequired || random.below(3) == 0 {
            if argument.isRequired, slips() { continue }
            given.append("\(argument.name): \(value(argument.type, named: argument.name))")
        }
        if slips() { given.append("nothing: 1") }
        if slips(), let first = given.first { given.append(first) }
        return given.isEmpty ? "" : "(" + given.joined(separator: ", ") + ")"
    }

    private mutating func value(_ type: WrappedType, named name: String) -> String {
        if slips() {
            return ["\"text\"", "7", "1.5", "RED", "null", "[1]", "{a: 1}", "$v"][random.below(8)]
        }
        switch type {
        case .nonNull(let inner): return value(inner, named: name)
        case _ where random.below(12) == 0 && !type.isNonNull && name != "ids": break
        case .list(let item):
            return "["
                + (0..<random.below(3)).map { _ in value(item, named: name) }
                .joined(separator: ", ") + "]"
        case .named(let id): return value(schema[id], named: name)
        }
        if case .named(let id) = type { return value(schema[id], named: name) }
        return "[]"
    }

    private mutating func value(_ type: NamedType, named name: String) -> String {
        switch (type.kind, type.name) {
        case (.enum, _): return type.values[random.below(type.values.count)].name
        case (.inputObject, _):
            let fields = type.inputFields.filter { $0.isRequired || random.below(2) == 0 }
            let given = fields.filter { _ in !slips() }.map {
                "\($0.name): \(value($0.type, named: $0.name))"
            }
            return "{" + given.joined(separator: ", ") + "}"
        case (_, "Int"): return "\(random.below(4))"
        case (_, "Float"): return ["0", "1.5", "-2e3"][random.below(3)]
        case (_, "Boolean"): return random.below(2) == 0 ? "true" : "false"
        case _ where name == "after" || name == "before":
            return ["\"cDA\"", "\"cDE\"", "\"cDc\""][random.below(3)]
        case (_, "ID"):
            return ["\"i1\"", "\"j1\"", "\"relay\"", "\"ada\"", "\"me\"", "\"VG9kbzow\"", "7"][
                random.below(7)]
        default:
            return ["\"\"", "\"a\\n\\u00e9\"", "\"\"\"b \"quoted\"\n  c\"\"\""][random.below(3)]
        }
    }
}
