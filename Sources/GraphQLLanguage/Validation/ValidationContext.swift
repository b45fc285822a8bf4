/// How much work validation does before it gives up on a document.
package struct ValidationLimits: Sendable {
    /// Errors reported; the rest of the document is not looked at after that.
    package var maximumErrors: Int
    /// Fields looked at to find those that cannot be merged. Ordinary documents need about as many
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

    /// Whether so many errors were found that the rest of the document is of no interest.
    private(set) var isAborted = false
    private(set) var errors: [GraphQLError] = []

    /// By name; of two with the same name the later one.
    let fragments: [String: FragmentDefinition]
    /// What operations and fragments contain, by where they start.
    private(set) var contents: [Int: DefinitionContents] = [:]
    /// What the definition that is being visited contains so far.
    private var current = DefinitionContents()

    init(document: Document, schema: Schema, limits: ValidationLimits) {
        self.document = document
        self.schema = schema
        self.limits = limits
        var fragments: [String: FragmentDefinition] = [:]
        for case .fragment(let fragment) in document.definitions {
            fragments[fragment.name.value] = fragment
        }
        self.fragments = fragments
    }

    // MARK: Errors

    func report(
        _ message: @autoclosure () -> String, at locations: @autoclosure () -> [Int],
        code: String? = nil
    ) {
        if isAborted { return }
        if errors.count >= limits.maximumErrors {
            isAborted = true
            errors.append(
                GraphQLError(
                    "Too many validation errors, error limit reached. Validation aborted."))
            return
        }
        errors.append(
            GraphQLError(
                message(), locations: locations().map(document.source.location), code: code))
    }

    func report(_ message: @autoclosure () -> String, at location: Int) {
        report(message(), at: [location])
    }

    // MARK: What definitions contain

    func record(_ usage: VariableUsage) { current.variables.append(usage) }

    func record(_ spread: FragmentSpread) { current.spreads.append(spread) }

    /// Keeps what was recorded since the last call as the contents of the definition at `location`.
    func finishDefinition(at location: Int) {
        if current.variables.isEmpty, current.spreads.isEmpty { return }
        contents[location] = current
        current = DefinitionContents()
    }

    /// The fragments that an operation uses, directly or through others.
    func fragmentsReached(from operation: OperationDefinition) -> [FragmentDefinition] {
        guard !fragments.isEmpty else { return [] }
        var reached: [FragmentDefinition] = []
        var seen: Set<String> = []
        var pending = contents[operation.location]?.spreads ?? []
        while let spread = pending.popLast() {
            guard seen.insert(spread.name.value).inserted,
                let fragment = fragments[spread.name.value]
            else { continue }
            reached.append(fragment)
            pending += contents[fragment.location]?.spreads ?? []
        }
        return reached
    }
}

/// What rules about whole definitions need to know, collected on the way through the document.
struct DefinitionContents {
    /// In the order written.
    var variables: [VariableUsage] = []
    /// In the order written, at any depth.
    var spreads: [FragmentSpread] = []
}

/// One use of a variable, and what the place expects.
struct VariableUsage {
    let name: String
    let location: Int
    /// nil where the place is unknown itself.
    let type: WrappedType?
    /// Whether the place has a value of its own if none is given.
    let hasDefault: Bool
    /// The @oneOf input object that the variable stands directly in.
    let oneOfType: NamedType?
}
