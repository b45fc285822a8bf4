/// How much work validation does before it gives up on a document.
package struct ValidationLimits: Sendable {
    /// Errors reported; after that the rest of the document is ignored. So it is after messages of
    /// ``messageBytes``, each of which may name long names.
    package var maximumErrors: Int
    static let messageBytes = 1 << 20
    /// Fields examined to find those that cannot be merged. Ordinary documents need about as many
    /// as they have fields.
    package var maximumFieldComparisons: Int

    package init(maximumErrors: Int = 100, maximumFieldComparisons: Int = 200_000) {
        self.maximumErrors = maximumErrors
        self.maximumFieldComparisons = maximumFieldComparisons
    }
}

/// What the rules share while one document is validated: the schema, the document's fragments,
/// what the traversal has seen so far, and the errors.
final class ValidationContext {
    let schema: Schema
    let document: Document
    let limits: ValidationLimits
    /// What a client's documents have beyond GraphQL; nil for a server's.
    let dialect: ClientDialect?

    /// Whether so many errors were found that the rest of the document is ignored.
    private(set) var isAborted = false
    private(set) var issues: [DocumentIssue] = []
    private var messageBytes = 0

    /// All fragments, in the order written.
    private(set) var fragments: [Definition<FragmentDefinition>] = []
    /// All operations, in the order written.
    private(set) var operations: [Definition<OperationDefinition>] = []
    /// By name; of two fragments with the same name the later one.
    private var fragmentIndices: [String: Int] = [:]
    /// What the definition being visited contains so far.
    private var current = DefinitionContents()

    /// A definition and what the traversal has found in it.
    struct Definition<Node> {
        let node: Node
        var contents = DefinitionContents()
    }

    init(
        document: Document, schema: Schema, limits: ValidationLimits, dialect: ClientDialect? = nil
    ) {
        self.document = document
        self.schema = schema
        self.limits = limits
        self.dialect = dialect
        for definition in document.definitions {
            switch definition {
            case .operation(let operation): operations.append(Definition(node: operation))
            case .fragment(let fragment):
                fragmentIndices[fragment.name.value] = fragments.count
                fragments.append(Definition(node: fragment))
            case .schema, .type, .directive: break
            }
        }
    }

    // MARK: Fragments

    /// The index in `fragments` that a spread refers to.
    func fragmentIndex(named name: String) -> Int? { fragmentIndices[name] }

    func fragment(named name: String) -> FragmentDefinition? {
        fragmentIndices[name].map { fragments[$0].node }
    }

    /// The fragments that an operation uses, directly or through others.
    func fragmentsReached(from operation: Definition<OperationDefinition>) -> [Int] {
        var pending = operation.contents.spreads
        if pending.isEmpty { return [] }
        var reached: [Int] = []
        var isReached = Array(repeating: false, count: fragments.count)
        while let spread = pending.popLast() {
            guard let index = fragmentIndex(named: spread.name.value), !isReached[index] else {
                continue
            }
            isReached[index] = true
            reached.append(index)
            pending += fragments[index].contents.spreads
        }
        return reached
    }

    // MARK: Errors

    func report(
        _ message: @autoclosure () -> String, at locations: @autoclosure () -> [Int],
        code: String? = nil
    ) {
        if isAborted { return }
        if issues.count >= limits.maximumErrors || messageBytes > ValidationLimits.messageBytes {
            isAborted = true
            issues.append(
                DocumentIssue(
                    "Too many validation errors, error limit reached. Validation aborted.", at: []))
            return
        }
        let message = message()
        messageBytes += message.utf8.count
        issues.append(DocumentIssue(message, at: locations(), code: code))
    }

    func report(_ message: @autoclosure () -> String, at location: Int) {
        report(message(), at: [location])
    }

    // MARK: What definitions contain

    func record(_ usage: VariableUsage) { current.variables.append(usage) }

    func record(_ spread: FragmentSpread) { current.spreads.append(spread) }

    /// Keeps what was recorded since the last call as the contents of this operation.
    func finishOperation(at index: Int) {
        swap(&operations[index].contents, &current)
    }

    /// Keeps what was recorded since the last call as the contents of this fragment.
    func finishFragment(at index: Int) {
        if let dialect {
            let variables = dialect.variables(of: fragments[index].node.name.value)
            VariablesInAllowedPositionRule.check(current.variables, variables, self)
            current.variables.removeAll { variables[$0.name] != nil }
        }
        swap(&fragments[index].contents, &current)
    }

    // MARK: Dialects

    /// The field that `name` selects, with those of the dialect.
    func field(_ name: String, on parent: NamedType) -> SchemaField? {
        if let field = schema.field(name, on: parent) { return field }
        guard let dialect, dialect.metaFields.contains(name) else { return nil }
        return schema.typenameField
    }
}

/// What rules about whole definitions need to know, collected during the traversal.
struct DefinitionContents {
    /// In the order written.
    var variables: [VariableUsage] = []
    /// In the order written, at any depth.
    var spreads: [FragmentSpread] = []
}

/// One use of a variable, and what its place expects.
struct VariableUsage {
    let name: String
    let location: Int
    /// nil if the place itself is unknown.
    let type: WrappedType?
    /// Whether the place has a default value.
    let hasDefault: Bool
    /// The @oneOf input object that directly contains the variable.
    let oneOfType: NamedType?
}
