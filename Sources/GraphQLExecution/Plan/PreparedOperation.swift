package import GraphQLLanguage
package import RelayJSON
import Threads

/// One operation of a valid document, ready to be executed any number of times.
///
/// A few variables decide which fields `@skip` and `@include` leave in; there is one ``Plan`` for each
/// combination of their values seen so far.
package final class PreparedOperation: Sendable {
    package let kind: OperationType
    package let name: String?
    package let variables: [PlannedVariable]
    /// The operation has `@live`: its result is sent again whenever it changes.
    package let isLive: Bool

    /// What makes its results different for different identities.
    package let mentions: AccessMentions

    /// There may be any number of results: a subscription, or a query with `@live`.
    package var isStream: Bool { kind == .subscription || isLive }

    /// As in the document.
    package let definition: OperationDefinition

    /// The document that contains it.
    package let document: Document
    private let schema: ExecutableSchema
    private let root: NamedType
    private let resultBytes: Int
    private let visitLimit: Int
    private let selectionLimit: Int
    private let onGrowth: @Sendable (Int) -> Void
    /// The variables that `@skip` and `@include` use.
    private let conditionVariables: [String]
    private let plans: Lock<[[Bool]: Plan]>
    /// How many selections the plans may have that are kept: those of a few plans, or of some small ones. (A
    /// client may vary 20 conditions.)
    package let keptSelections: Int

    private static let keptPlans = 4
    private static let smallPlans = 1_024

    /// Finds and prepares an operation.
    /// - Parameters:
    ///   - document: a document that has been validated.
    ///   - operationName: required if the document has several.
    ///   - resultBytes: how many bytes a result may have; a larger one is replaced by an error.
    ///   - visitLimit: how many elements of lists may be looked at for one result.
    ///   - selectionLimit: how many selections the operation may have, with its fragments in each place; and as many
    ///     again for the types that values of abstract types turn out to have.
    ///   - onGrowth: is told how many of those have been compiled, whenever there are more.
    /// - Throws: the error for a request that names no operation, or one that the schema cannot run, or one
    ///   that is too large.
    package init(
        _ document: Document, operationName: String?, schema: ExecutableSchema,
        resultBytes: Int = .max, visitLimit: Int = .max, selectionLimit: Int = .max,
        onGrowth: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws(ExecutionError) {
        let operation = try Self.find(operationName, in: document)
        guard let root = schema.schema.rootType(of: operation.operation) else {
            throw ExecutionError(
                "Schema is not configured to execute \(operation.operation.rawValue) operation.",
                locations: [document.source.location(at: operation.location)])
        }
        self.document = document
        definition = operation
        self.schema = schema
        self.root = root
        self.resultBytes = resultBytes
        self.visitLimit = visitLimit
        self.selectionLimit = selectionLimit
        self.onGrowth = onGrowth
        kind = operation.operation
        name = operation.name?.value
        isLive = operation.directives.named("live") != nil
        variables = operation.variables.compactMap { definition in
            guard let type = schema.schema.resolve(definition.type) else { return nil }
            return PlannedVariable(
                name: definition.name.value, type: type,
                defaultValue: definition.defaultValue.map {
                    Literal.constant($0, type, in: schema.schema)
                },
                location: document.source.location(at: definition.location))
        }
        if schema.access.isEmpty {
            mentions = AccessMentions()
        } else {
            var collector = AccessMentionCollector(document, schema)
            collector.add(operation, on: root)
            mentions = collector.mentions
        }
        var found: Set<String> = []
        Self.findConditions(in: operation.selectionSet, &found)
        for fragment in document.fragments {
            Self.findConditions(in: fragment.selectionSet, &found)
        }
        conditionVariables = found.sorted()
        let builder = PlanBuilder(
            document, schema: schema, conditions: found.isEmpty ? [:] : nil,
            selectionLimit: selectionLimit, laterLimit: selectionLimit, onGrowth: onGrowth)
        let largest = builder.plan(
            operation, on: root, variables: variables, resultBytes: resultBytes,
            visitLimit: visitLimit)
        // With conditions it is only measured.
        plans = Lock(found.isEmpty ? [[]: largest] : [:])
        keptSelections =
            found.isEmpty
            ? largest.selectionCount
            : max(Self.keptPlans * largest.selectionCount, Self.smallPlans)
        try checkSize(of: largest)
    }

    private func checkSize(of plan: Plan) throws(ExecutionError) {
        guard plan.selectionCount > selectionLimit else { return }
        throw PlanBuilder.tooLarge(
            selectionLimit, at: [document.source.location(at: definition.location)])
    }

    /// Selections of the plans that are kept now.
    package var compiledSelectionCount: Int {
        plans.withLock { $0.values.reduce(0) { $0 + $1.currentSelectionCount } }
    }

    /// The plan for these variables, which ``coerce(_:)`` has accepted.
    package func plan(for variables: CoercedVariables) -> Plan {
        plan(for: variables, selectionLimit: .max)
    }

    /// - Parameter selectionLimit: a plan that exceeds it is not whole, and not kept.
    private func plan(for variables: CoercedVariables, selectionLimit: Int) -> Plan {
        let choice = conditionVariables.map { variables.values[$0] == .bool(true) }
        if let known = plans.withLock({ $0[choice] }) { return known }
        let builder = PlanBuilder(
            document, schema: schema,
            conditions: Dictionary(uniqueKeysWithValues: zip(conditionVariables, choice)),
            selectionLimit: selectionLimit, laterLimit: self.selectionLimit, onGrowth: onGrowth)
        let plan = builder.plan(
            definition, on: root, variables: self.variables, resultBytes: resultBytes,
            visitLimit: visitLimit)
        guard plan.selectionCount <= min(keptSelections, selectionLimit) else { return plan }
        return plans.withLock { plans in
            let kept = plans.values.reduce(plan.selectionCount) { $0 + $1.selectionCount }
            if kept > keptSelections { plans = [:] }
            plans[choice] = plan
            return plan
        }
    }

    /// Coerces a request's variables.
    /// - Throws: also that the operation is too large. What `@skip` and `@include` take out of one of two places makes
    ///   these different, so that they are no longer compiled once.
    package func coerce(_ variables: JSONObject) throws(ExecutionErrors) -> CoercedVariables {
        let coerced = try CoercedVariables(variables, for: self.variables, in: schema.schema)
        if conditionVariables.isEmpty { return coerced }
        do throws(ExecutionError) {
            try checkSize(of: plan(for: coerced, selectionLimit: selectionLimit))
        } catch {
            throw ExecutionErrors(errors: [error])
        }
        return coerced
    }

    /// GetOperation (GraphQL §6.1).
    private static func find(
        _ name: String?, in document: Document
    ) throws(ExecutionError) -> OperationDefinition {
        let operations = document.operations
        guard let name else {
            guard let only = operations.first else {
                throw ExecutionError("Must provide an operation.", code: .badUserInput)
            }
            guard operations.count == 1 else {
                throw ExecutionError(
                    "Must provide operation name if query contains multiple operations.",
                    code: .badUserInput)
            }
            return only
        }
        guard let operation = operations.first(where: { $0.name?.value == name }) else {
            throw ExecutionError(
                "Unknown operation named \"\(name.shortened)\".", code: .badUserInput)
        }
        return operation
    }

    private static func findConditions(in selectionSet: SelectionSet, _ found: inout Set<String>) {
        for selection in selectionSet.selections {
            let directives: [Directive]
            switch selection {
            case .field(let field):
                directives = field.directives
                if let inner = field.selectionSet { findConditions(in: inner, &found) }
            case .inlineFragment(let fragment):
                directives = fragment.directives
                findConditions(in: fragment.selectionSet, &found)
            case .fragmentSpread(let spread):
                directives = spread.directives
            }
            for directive in directives
            where directive.name.value == "skip" || directive.name.value == "include" {
                if case .variable(let name) = directive.argument("if")?.kind { found.insert(name) }
            }
        }
    }
}
