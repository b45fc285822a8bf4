import GraphQLExecution
import GraphQLLanguage

/// Measures a document that may be hostile: its fragments may be many, nested or cyclic.
///
/// Each definition is measured once. The limit on depth also bounds the recursion, whatever the document
/// contains.
struct DocumentShapeCheck {
    private enum Progress {
        case measuring
        case measured(Measure)
    }

    private let document: Document
    private let limits: DocumentLimits
    private let fragments: [String: FragmentDefinition]
    private var progress: [String: Progress] = [:]
    private var aliasCount = 0
    private var directiveCount = 0

    init(_ document: Document, _ limits: DocumentLimits) {
        self.document = document
        self.limits = limits
        fragments = Dictionary(
            document.fragments.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    }

    mutating func run() throws(ExecutionError) {
        for definition in document.definitions {
            switch definition {
            case .operation(let operation):
                try count(operation.directives)
                for variable in operation.variables { try count(variable.directives) }
                let root = try measure(operation.selectionSet, level: 1)
                if root.fields > limits.rootFields {
                    throw exceeded("\(limits.rootFields) root fields", operation.location)
                }
            case .fragment(let fragment):
                _ = try measure(fragment, level: 1)
            case .schema, .type, .directive:
                continue  // validation refuses these
            }
        }
    }

    private mutating func measure(
        _ selectionSet: SelectionSet, level: Int
    ) throws(ExecutionError) -> Measure {
        guard level <= limits.depth else { throw tooDeep(selectionSet.location) }
        var result = Measure()
        for selection in selectionSet.selections {
            switch selection {
            case .field(let field):
                try count(field.directives)
                if field.alias != nil { try countAlias(at: field.location) }
                result.fields += 1
                guard let inner = field.selectionSet else { continue }
                let measure = try measure(inner, level: level + 1)
                result.include(measure, of: field.name.value)
                if measure.introspectionLists > DocumentLimits.introspectionLists,
                    Self.introspectionRoots.contains(field.name.value)
                {
                    throw exceeded(
                        "\(DocumentLimits.introspectionLists) nested lists of introspection",
                        field.location)
                }
            case .inlineFragment(let fragment):
                try count(fragment.directives)
                result.include(try measure(fragment.selectionSet, level: level + 1))
            case .fragmentSpread(let spread):
                try count(spread.directives)
                guard let fragment = fragments[spread.name.value] else { continue }
                let measure = try measure(fragment, level: level + 1)
                guard level + measure.depth <= limits.depth else {
                    throw tooDeep(spread.location)
                }
                result.include(measure)
            }
        }
        return result
    }

    private mutating func measure(
        _ fragment: FragmentDefinition, level: Int
    ) throws(ExecutionError) -> Measure {
        let name = fragment.name.value
        switch progress[name] {
        case .measured(let measure)?: return measure
        case .measuring?: return Measure()  // a cycle, which validation refuses
        case nil: break
        }
        progress[name] = .measuring
        try count(fragment.directives)
        let measure = try measure(fragment.selectionSet, level: level)
        progress[name] = .measured(measure)
        return measure
    }

    private mutating func count(_ directives: [Directive]) throws(ExecutionError) {
        directiveCount += directives.count
        if directiveCount > limits.directives, let last = directives.last {
            throw exceeded("\(limits.directives) directives", last.location)
        }
    }

    private mutating func countAlias(at location: Int) throws(ExecutionError) {
        aliasCount += 1
        if aliasCount > limits.aliases { throw exceeded("\(limits.aliases) aliases", location) }
    }

    private func tooDeep(_ location: Int) -> ExecutionError {
        .limitExceeded(
            "The document nests deeper than \(limits.depth) levels.",
            at: [document.source.location(at: location)])
    }

    private func exceeded(_ limit: String, _ location: Int) -> ExecutionError {
        .limitExceeded(
            "The document has more than \(limit).", at: [document.source.location(at: location)])
    }

    private static let introspectionRoots: Set<String> = ["__schema", "__type"]
}

/// The size of a selection set, including its fragments.
private struct Measure {
    /// Depth of nested selection sets, counting this one.
    var depth = 1
    /// Depth of nested introspection lists.
    var introspectionLists = 0
    /// Fields directly in it.
    var fields = 0

    /// Adds what is nested inside a field of the selection set.
    mutating func include(_ inner: Measure, of field: String) {
        depth = max(depth, inner.depth + 1)
        let own = Self.introspectionLists.contains(field) ? 1 : 0
        introspectionLists = max(introspectionLists, inner.introspectionLists + own)
    }

    /// Adds a fragment of the selection set.
    mutating func include(_ fragment: Measure) {
        depth = max(depth, fragment.depth + 1)
        introspectionLists = max(introspectionLists, fragment.introspectionLists)
        let (sum, overflows) = fields.addingReportingOverflow(fragment.fields)
        fields = overflows ? .max : sum
    }

    private static let introspectionLists: Set<String> = [
        "fields", "inputFields", "interfaces", "possibleTypes",
    ]
}
