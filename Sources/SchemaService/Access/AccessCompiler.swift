import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords

/// Compiles `@access`: who may see and do what.
struct AccessCompiler {
    let types: ServiceTypes
    let mistakes: MistakeCollector
    let handlers: Handlers
    private(set) var rules = AccessRules.none
    /// The stored types that no `@access` opens.
    private(set) var closedTypes: [String] = []
    /// Lists that rules look for records in.
    private(set) var indexes: [IndexDefinition] = []
    private var usedHandlers: Set<String> = []

    private var schema: Schema { types.schema }

    init(types: ServiceTypes, mistakes: MistakeCollector, handlers: Handlers) {
        self.types = types
        self.mistakes = mistakes
        self.handlers = handlers
    }

    mutating func compile() {
        let isOpen = isOpenByDefault()
        var ofTypes: [String: AccessRules.OfType] = [:]
        for type in types.stored {
            let directive = type.directives.named("access")
            var rules = AccessRules.OfType()
            if let directive {
                rules.actions = actions(directive, of: type)
                if rules.actions.isEmpty { closedTypes.append(type.name) }
            } else if isOpen {
                rules.actions = Dictionary(
                    uniqueKeysWithValues: AccessAction.allCases.map { ($0, .open) })
            } else {
                closedTypes.append(type.name)
            }
            for field in type.fields {
                if let rule = fieldRule(field, of: type) { rules.fields[field.name] = rule }
            }
            if directive == nil, isOpen, rules.fields.isEmpty { continue }
            ofTypes[type.name] = rules
        }
        var roots: [OperationType: [String: AccessRule]] = [:]
        for operation in OperationType.allCases {
            for field in schema.rootType(of: operation)?.fields ?? [] {
                if let rule = rootRule(field, operation) {
                    roots[operation, default: [:]][field.name] = rule
                }
            }
        }
        checkOtherPlaces()
        checkHandlers()
        rules = AccessRules(isOpenByDefault: isOpen, types: ofTypes, roots: roots)
    }

    // MARK: Places

    private func isOpenByDefault() -> Bool {
        guard let directive = schema.directives.named("access") else { return false }
        reject(
            directive, but: ["default"], "the schema: it says what is true of types without @access"
        )
        if case .enum("OPEN") = directive.argument("default")?.kind { return true }
        return false
    }

    private mutating func actions(
        _ directive: Directive, of type: NamedType
    ) -> [AccessAction: AccessRule] {
        reject(
            directive, but: AccessAction.allCases.map(\.rawValue),
            "type \"\(type.name)\": it has rules for read, create, update and delete")
        var actions: [AccessAction: AccessRule] = [:]
        for action in AccessAction.allCases {
            guard let value = directive.argument(action.rawValue) else { continue }
            actions[action] = rule(value, Place(record: type.id, description: "\"\(type.name)\""))
        }
        return actions
    }

    private mutating func fieldRule(_ field: SchemaField, of type: NamedType) -> AccessRule? {
        guard let directive = field.directives.named("access") else { return nil }
        let name = "\(type.name).\(field.name)"
        reject(directive, but: ["read"], "field \"\(name)\": it has a rule for read")
        rejectNonNull(field, name)
        return directive.argument("read").map {
            rule($0, Place(record: type.id, description: "\"\(name)\""))
        } ?? .closed
    }

    private mutating func rootRule(_ field: SchemaField, _ operation: OperationType) -> AccessRule?
    {
        guard let directive = field.directives.named("access") else { return nil }
        let name = "\(schema.rootType(of: operation)?.name ?? "").\(field.name)"
        reject(directive, but: ["if"], "field \"\(name)\": it says who may use it with if")
        rejectNonNull(field, name)
        return directive.argument("if").map {
            rule($0, Place(record: nil, description: "\"\(name)\""))
        } ?? .closed
    }

    /// What is null for those who may not read it must be nullable.
    private func rejectNonNull(_ field: SchemaField, _ name: String) {
        guard field.type.isNonNull else { return }
        mistakes.report(
            """
            "\(name)" has a rule, so it is null for some, and its type is \
            \(schema.print(field.type)). Write: \(field.name): \
            \(schema.print(field.type.nullable)) @access(…)
            """, at: field.typeLocation)
    }

    private func reject(_ directive: Directive, but names: [String], _ place: String) {
        for argument in directive.arguments where !names.contains(argument.name.value) {
            mistakes.report(
                "@access: \"\(argument.name.value)\" means nothing on \(place).",
                at: argument.location)
        }
    }

    /// Objects that are not stored are seen by whoever sees what they are a part of.
    private func checkOtherPlaces() {
        let roots = OperationType.allCases.compactMap { schema.rootType(of: $0)?.id }
        for type in schema.types where type.origin == .document && !types.isStored(type.id) {
            if let directive = type.directives.named("access") {
                mistakes.report(
                    """
                    @access means nothing on type "\(type.name)", which is not stored. Write it on \
                    the types that implement Node, or on the fields of the query, mutation and \
                    subscription type.
                    """, at: directive.location)
            }
            if roots.contains(type.id) { continue }
            for field in type.fields {
                guard let directive = field.directives.named("access") else { continue }
                mistakes.report(
                    """
                    @access means nothing on "\(type.name).\(field.name)": it stands on fields of \
                    stored types, and of the query, mutation and subscription type.
                    """, at: directive.location)
            }
        }
    }

    private func checkHandlers() {
        for name in handlers.accessChecks.keys.sorted() where !usedHandlers.contains(name) {
            mistakes.report(
                """
                An access check is registered as "\(name)", and no rule has \
                { handler: "\(name)" }.\(nearest(name, among: usedHandlers.sorted()))
                """)
        }
    }

    // MARK: Rules

    /// Where a rule is.
    private struct Place {
        /// The type of the record that it decides about; nil for a root field.
        let record: TypeID?
        let description: String
    }

    private static let members = ["all", "any", "not", "claim", "viewer", "field", "handler"]

    private mutating func rule(_ value: Value, _ place: Place) -> AccessRule {
        guard case .object(let members) = value.kind, members.count == 1 else {
            report(
                """
                A rule of \(place.description) is an object with one member: \
                \(Self.members.joined(separator: ", ")). Write, for example: { viewer: true }, or \
                { all: [{ … }, { … }] } for several.
                """, at: value.location)
            return .closed
        }
        let (name, content) = (members[0].name.value, members[0].value)
        switch name {
        case "all": return .all(rules(content, "all", place))
        case "any": return .any(rules(content, "any", place))
        case "not": return .not(rule(content, place))
        case "viewer":
            if case .boolean(true) = content.kind { return .viewer }
            report(
                "\"viewer\" can only be true: somebody is logged in. Its opposite is { not: { viewer: true } }.",
                at: content.location)
            return .closed
        case "claim": return claims(content, place)
        case "field": return fields(content, place)
        case "handler": return handler(content, place)
        default:
            report(
                "There is no rule \"\(name)\".\(nearest(name, among: Self.members))",
                at: members[0].location)
            return .closed
        }
    }

    private mutating func rules(_ value: Value, _ name: String, _ place: Place) -> [AccessRule] {
        // All of no rules are met for everybody.
        guard case .list(let values) = value.kind, name == "all" || !values.isEmpty else {
            report(
                "\"\(name)\" is a list of rules. Write: { \(name): [{ … }, { … }] }",
                at: value.location)
            return [.closed]
        }
        var rules: [AccessRule] = []
        for value in values { rules.append(rule(value, place)) }
        return rules
    }

    private func claims(_ value: Value, _ place: Place) -> AccessRule {
        guard case .object(let members) = value.kind, !members.isEmpty else {
            report(
                "\"claim\" is an object. Write: { claim: { name: \"value\" } }", at: value.location)
            return .closed
        }
        let rules: [AccessRule] = members.map { member in
            switch member.value.kind {
            case .string(let text, _) where text == "$viewer" || text.hasPrefix("$claim."):
                // Under `not` it would be met by everybody.
                report(
                    """
                    Claim "\(member.name.value)" must be compared with a literal value: "\(text)" can be \
                    used in { field: … } only.
                    """, at: member.value.location)
            case .string, .int, .float, .boolean, .enum: break
            case .null, .list, .object, .variable:
                report(
                    """
                    Claim "\(member.name.value)" is compared with one text, number or boolean, \
                    and equals it or contains it.
                    """, at: member.value.location)
            }
            return .claim(member.name.value, member.value.constant.canonical)
        }
        return rules.count == 1 ? rules[0] : .all(rules)
    }

    private mutating func handler(_ value: Value, _ place: Place) -> AccessRule {
        guard case .string(let name, _) = value.kind else {
            report("\"handler\" is a name. Write: { handler: \"Issue.read\" }", at: value.location)
            return .closed
        }
        guard place.record != nil else {
            report(
                """
                \(place.description) is about no record, so no access check can decide about it. \
                Write { claim: … } or { viewer: true }.
                """, at: value.location)
            return .closed
        }
        usedHandlers.insert(name)
        guard let body = handlers.accessChecks[name] else {
            // A schema that is read without its program: nobody restricted uses it, but its rules may be explained.
            if handlers.areAbsent {
                return .handler(AccessHandler(name: name, decide: { _ in false }))
            }
            report(
                """
                No access check is registered as \
                "\(name)".\(nearest(name, among: handlers.accessChecks.keys.sorted())) Register \
                it with handlers.access("\(name)") { viewer, record in … }
                """, at: value.location)
            return .closed
        }
        return .handler(AccessHandler(name: name, claims: body.claims, decide: body.decide))
    }

    // MARK: Fields

    /// Links that a rule may follow.
    private static let linkLimit = 2

    private mutating func fields(_ value: Value, _ place: Place) -> AccessRule {
        guard let record = place.record else {
            report(
                """
                \(place.description) is about no record, so there is no field to look at. Write \
                { claim: … } or { viewer: true }.
                """, at: value.location)
            return .closed
        }
        return fields(value, of: record, links: 0)
    }

    private mutating func fields(_ value: Value, of type: TypeID, links: Int) -> AccessRule {
        guard case .object(let members) = value.kind, !members.isEmpty else {
            report(
                "\"field\" is an object. Write: { field: { name: value } }", at: value.location)
            return .closed
        }
        var rules: [AccessRule] = []
        for member in members { rules.append(field(member, of: schema[type], links: links)) }
        return rules.count == 1 ? rules[0] : .all(rules)
    }

    private mutating func field(
        _ member: ObjectField, of type: NamedType, links: Int
    ) -> AccessRule {
        let name = member.name.value
        guard let field = type.field(name) else {
            let near = nearest(name, among: type.fields.map(\.name))
            report("\"\(type.name)\" has no field \"\(name)\".\(near)", at: member.location)
            return .closed
        }
        let kind = types.kind(of: field)
        if case .object = member.value.kind {
            return behind(field, kind, of: type, member.value, links: links)
        }
        guard let content = kind?.content else {
            report(
                """
                "\(type.name).\(name)" is not stored, so no rule can look at it.
                """, at: member.location)
            return .closed
        }
        if case .links = content {
            let index = IndexDefinition.places(type: type.name, key: name)
            if !indexes.contains(index) { indexes.append(index) }
        }
        guard let expectation = expectation(member.value, field, content, of: type) else {
            return .closed
        }
        return .field(AccessTest(field: name, content: content, expectation: expectation))
    }

    private mutating func behind(
        _ field: SchemaField, _ kind: RecordFieldKind?, of type: NamedType, _ value: Value,
        links: Int
    ) -> AccessRule {
        guard case .link(let linked) = kind else {
            report(
                """
                "\(type.name).\(field.name)" is \(schema.print(field.type)), and a rule goes on \
                only behind a link to one record.
                """, at: value.location)
            return .closed
        }
        guard links < Self.linkLimit else {
            report(
                """
                A rule follows at most \(Self.linkLimit) links. Write an access check instead: \
                { handler: "…" }
                """, at: value.location)
            return .closed
        }
        let records = types.recordTypes(of: linked)
        guard records.count == 1 else {
            report(
                """
                "\(type.name).\(field.name)" leads to records of several types, which may have \
                different fields. Write an access check instead: { handler: "…" }
                """, at: value.location)
            return .closed
        }
        let inner = fields(value, of: records[0], links: links + 1)
        return .field(
            AccessTest(field: field.name, content: .link, expectation: .behind(inner)))
    }

    private func expectation(
        _ value: Value, _ field: SchemaField, _ content: AccessTest.Content, of type: NamedType
    ) -> AccessTest.Expectation? {
        let constant = value.constant
        if case .string(let text, _) = value.kind, text.hasPrefix("$") {
            if text == "$viewer" {
                let name = schema[field.namedType].name
                guard ["Int", "Float", "Boolean"].contains(name) else { return .viewer }
                report(
                    """
                    "\(type.name).\(field.name)" is \(schema.print(field.type)), and a viewer's id \
                    is a text.
                    """, at: value.location)
                return nil
            }
            if text.hasPrefix("$claim."), text.utf8.count > 7 {
                return .claim(String(text.dropFirst(7)))
            }
            report(
                "\"\(text)\" stands for nothing. There are \"$viewer\" and \"$claim.NAME\".",
                at: value.location)
            return nil
        }
        let isFitting: Bool
        switch content {
        case .id, .links: isFitting = constant.recordName != nil
        case .link: isFitting = constant == .null || constant.recordName != nil
        case .leaf:
            let element = field.type.nullable.listItem ?? field.type
            guard let stored = schema.storable(constant, as: element.nullable) else {
                isFitting = false
                break
            }
            return .value(stored.canonical)
        }
        guard isFitting else {
            report(
                """
                "\(type.name).\(field.name)" is \(schema.print(field.type)), and \
                \(constant.text) is none of its values.
                """, at: value.location)
            return nil
        }
        return .value(constant.recordName.map { .string($0) } ?? .null)
    }

    private func report(_ problem: String, at location: Int) {
        mistakes.report("@access: \(problem)", at: location)
    }
}
