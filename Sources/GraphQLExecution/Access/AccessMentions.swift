import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords

/// What the rules that decide about an operation's results depend on, apart from the records.
package struct AccessMentions: Sendable, Hashable {
    /// There is a rule.
    package var hasRules = false
    package var viewerID = false
    package var claims: Set<String> = []
    /// Cursors are sealed for who may not see everything.
    package var hasCursors = false
    /// Swift code decides.
    package var asksHandlers = false

    package init() {}

    mutating func add(_ rule: AccessRule) {
        hasRules = true
        rule.visit { rule in
            switch rule {
            case .claim(let name, _): claims.insert(name)
            case .handler(let handler):
                asksHandlers = true
                viewerID = true
                claims.formUnion(handler.claims)
            case .field(let test):
                switch test.expectation {
                case .viewer: viewerID = true
                case .claim(let name): claims.insert(name)
                case .value, .behind: break
                }
            case .all, .any, .not, .viewer: break
            }
        }
    }
}

/// What makes the results of one operation different for two identities: equal ones share executions.
package struct AccessScope: Sendable, Hashable {
    private enum Kind: Hashable { case any, unrestricted, nobody, viewer }

    private let kind: Kind
    private let viewerID: ExactText?
    private let claims: [String: JSONValue]

    package init(_ identity: Identity, _ mentions: AccessMentions) {
        let known = identity.viewer
        viewerID = mentions.viewerID ? known.map { ExactText($0.id) } : nil
        var claims: [String: JSONValue] = [:]
        for name in mentions.claims { claims[name] = known?.claimValues[name] }
        self.claims = claims
        if mentions.hasRules {
            switch identity {
            case .unrestricted: kind = .unrestricted
            case .nobody: kind = .nobody
            case .viewer: kind = .viewer
            }
        } else if mentions.hasCursors, case .unrestricted = identity {
            kind = .unrestricted
        } else {
            kind = .any
        }
    }
}

/// Collects what an operation mentions: linear in its document.
struct AccessMentionCollector {
    private let schema: ExecutableSchema
    private let fragments: [String: FragmentDefinition]
    private var seenTypes: Set<TypeID> = []
    private var seenFragments: Set<String> = []
    private(set) var mentions = AccessMentions()

    init(_ document: Document, _ schema: ExecutableSchema) {
        self.schema = schema
        fragments = Dictionary(
            document.fragments.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    }

    mutating func add(_ operation: OperationDefinition, on root: NamedType) {
        add(operation.selectionSet, on: root)
    }

    private mutating func add(_ selectionSet: SelectionSet, on type: NamedType) {
        for selection in selectionSet.selections {
            switch selection {
            case .field(let field): add(field, on: type)
            case .inlineFragment(let fragment):
                let condition = fragment.typeCondition.flatMap {
                    schema.schema.type(named: $0.value)
                }
                add(fragment.selectionSet, on: condition ?? type)
            case .fragmentSpread(let spread):
                guard seenFragments.insert(spread.name.value).inserted,
                    let fragment = fragments[spread.name.value],
                    let condition = schema.schema.type(named: fragment.typeCondition.value)
                else { continue }
                add(fragment.selectionSet, on: condition)
            }
        }
    }

    private mutating func add(_ field: Field, on type: NamedType) {
        guard let definition = schema.schema.field(field.name.value, on: type) else { return }
        for object in schema.schema.possibleTypes(of: type.id) {
            let object = schema.schema[object]
            if let rule = schema.fieldRule(of: definition.name, on: object) { mentions.add(rule) }
            let reached = schema.reached(by: definition.name, on: object.id)
            for type in reached.types { add(type) }
            for rule in reached.fieldRules { mentions.add(rule) }
            if schema.hasCursors(definition.name, on: object.id) { mentions.hasCursors = true }
        }
        let named = schema.schema[definition.namedType]
        for type in schema.schema.possibleTypes(of: named.id) { add(type) }
        if let inner = field.selectionSet { add(inner, on: named) }
    }

    /// Records of an object type may be in the result, or decide about it.
    private mutating func add(_ type: TypeID) {
        guard seenTypes.insert(type).inserted,
            let rules = schema.access.statedRules(ofType: schema.schema[type].name)
        else { return }
        let rule = rules.rule(for: .read)
        if !rule.isOpen { mentions.add(rule) }
    }
}
