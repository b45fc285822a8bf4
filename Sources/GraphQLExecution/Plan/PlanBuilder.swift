import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords
import Synchronization
import Threads

/// Compiles an operation to a ``Plan``: CollectFields (GraphQL §6.3.2) for every selection set, ahead of
/// time, for one combination of what `@skip` and `@include` leave in.
///
/// The same selection sets on the same type are compiled once, wherever fragments bring them: each of 40
/// fragments that spreads the next one twice would otherwise come to 2⁴⁰ plans.
final class PlanBuilder: Sendable {
    /// What an object plan is made from: a type, and where its selection sets stand.
    private struct Place: Hashable {
        let type: TypeID
        let selectionSets: [Int]
    }

    private struct WeakPlan: Sendable {
        weak let plan: ObjectPlan?
    }

    private let schema: ExecutableSchema
    private let source: Source
    private let fragments: [String: FragmentDefinition]
    /// nil: everything is left in.
    private let conditions: [String: Bool]?
    /// Held by their parents. The plans of abstract types hold the builder, so it must not hold theirs.
    private let known = Lock<[Place: WeakPlan]>([:])
    private let selectionLimit: Int
    private let laterLimit: Int
    private let onGrowth: @Sendable (Int) -> Void
    /// Selections that may still be looked at; negative once it was too many.
    private let remaining: Atomic<Int>
    /// For what is compiled later, one type after the other.
    private let compiling = Lock<Void>(())
    /// Numbers for the argument lists that depend on variables. Plans for abstract types are made while
    /// executions run, so an execution may see numbers that it does not know.
    private let argumentPlaces = Atomic(0)

    /// - Parameters:
    ///   - conditions: the values of the variables used in `@skip` and `@include`; nil for the largest plan,
    ///     in which everything is left in.
    ///   - selectionLimit: how many selections may be looked at.
    ///   - laterLimit: how many may be looked at later, for the types that values of abstract types turn out to have.
    ///   - onGrowth: is told how many were looked at then.
    init(
        _ document: Document, schema: ExecutableSchema, conditions: [String: Bool]?,
        selectionLimit: Int, laterLimit: Int, onGrowth: @escaping @Sendable (Int) -> Void
    ) {
        self.selectionLimit = selectionLimit
        self.laterLimit = laterLimit
        self.onGrowth = onGrowth
        remaining = Atomic(selectionLimit)
        self.schema = schema
        self.conditions = conditions
        source = document.source
        fragments = Dictionary(
            document.fragments.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The plan of an operation whose document is valid.
    /// - Parameter root: the type of its root.
    /// - Returns: a plan that has more selections than the limit, and is not whole, if there are too many.
    func plan(
        _ operation: OperationDefinition, on root: NamedType, variables: [PlannedVariable],
        resultBytes: Int, visitLimit: Int
    ) -> Plan {
        var fields = FieldCollector()
        collect(operation.selectionSet, on: root.id, into: &fields)
        let plan = objectPlan(fields, on: root)
        let rest = remaining.exchange(laterLimit, ordering: .relaxed)
        return Plan(
            operation: operation.operation, root: plan, variables: variables,
            resultBytes: resultBytes, visitLimit: visitLimit, selectionCount: selectionLimit - rest,
            laterSelectionCount: { [self] in laterLimit - remaining.load(ordering: .relaxed) })
    }

    private var hasRoom: Bool { remaining.load(ordering: .relaxed) >= 0 }

    static func tooLarge(_ limit: Int, at locations: [SourceLocation]) -> ExecutionError {
        ExecutionError(
            "With its fragments in each place, the operation has more than \(limit) selections.",
            code: .limitExceeded, locations: locations)
    }

    // MARK: Collecting fields

    private func collect(
        _ selectionSet: SelectionSet, on type: TypeID, into fields: inout FieldCollector
    ) {
        let count = selectionSet.selections.count
        let rest = remaining.wrappingSubtract(count, ordering: .relaxed).newValue
        guard rest >= 0 else { return }
        for selection in selectionSet.selections {
            switch selection {
            case .field(let field):
                if isIncluded(field.directives) { fields.add(field) }
            case .inlineFragment(let fragment):
                guard isIncluded(fragment.directives),
                    applies(fragment.typeCondition?.value, to: type)
                else { continue }
                collect(fragment.selectionSet, on: type, into: &fields)
            case .fragmentSpread(let spread):
                guard isIncluded(spread.directives), !fields.visited.contains(spread.name.value),
                    let fragment = fragments[spread.name.value]
                else { continue }
                fields.visited.insert(spread.name.value)
                guard applies(fragment.typeCondition.value, to: type) else { continue }
                collect(fragment.selectionSet, on: type, into: &fields)
            }
        }
    }

    /// GraphQL §3.13.1, §3.13.2: `@skip` wins over `@include`.
    private func isIncluded(_ directives: [Directive]) -> Bool {
        if directives.isEmpty || conditions == nil { return true }
        if let skip = directives.named("skip"), condition(skip) { return false }
        if let include = directives.named("include"), !condition(include) { return false }
        return true
    }

    private func condition(_ directive: Directive) -> Bool {
        switch directive.argument("if")?.kind {
        case .boolean(let value): value
        case .variable(let name): conditions?[name] ?? false
        default: false
        }
    }

    private func applies(_ condition: String?, to type: TypeID) -> Bool {
        guard let condition else { return true }
        guard let other = schema.schema.type(named: condition) else { return false }
        return schema.schema.isSubType(type, of: other.id)
    }

    // MARK: Plans

    private func objectPlan(_ fields: FieldCollector, on type: NamedType) -> ObjectPlan {
        var plans = ContiguousArray<FieldPlan>()
        plans.reserveCapacity(fields.groups.count)
        for group in fields.groups {
            if let plan = fieldPlan(group, on: type) { plans.append(plan) }
        }
        return ObjectPlan(typeName: type.name, type: schema.typeName(type.id), fields: plans)
    }

    private func fieldPlan(_ group: [Field], on type: NamedType) -> FieldPlan? {
        guard let field = group.first,
            let definition = schema.schema.field(field.name.value, on: type)
        else { return nil }
        return FieldPlan(
            name: definition.name, parentType: type.name, responseName: field.responseName,
            resolver: resolver(of: definition, on: type),
            arguments: arguments(of: field, definition),
            shape: shape(definition.type, group),
            location: source.location(at: field.location),
            rule: schema.rule(of: definition.name, on: type),
            listedTypes: schema.types(listedBy: definition.name, on: type.id))
    }

    private func resolver(of definition: SchemaField, on type: NamedType) -> FieldResolver {
        if definition.name == schema.schema.typenameField.name {
            return .typename(JSONValue.string(type.name).bytes)
        }
        if type.origin == .builtIn || definition === schema.schema.schemaField
            || definition === schema.schema.typeField
        {
            return .introspection
        }
        return schema.resolver(of: definition.name, on: type.id) ?? .member(definition.name)
    }

    private func arguments(of field: Field, _ definition: SchemaField) -> PlannedArguments {
        if definition.arguments.isEmpty { return .constant([:]) }
        let list = ArgumentList(
            definitions: definition.arguments, given: field.arguments, schema: schema.schema)
        if !list.usesVariables {
            do throws(ExecutionError) {
                return .constant(try list.coerce(.none))
            } catch {
                // Left to the execution, which reports it at the field.
            }
        }
        return .variable(list, place: argumentPlaces.wrappingAdd(1, ordering: .relaxed).oldValue)
    }

    /// The shape of a field's values; its objects select what all fields of the group select.
    private func shape(_ type: WrappedType, _ group: [Field]) -> OutputShape {
        switch type {
        case .nonNull(let inner): return .nonNull(shape(inner, group))
        case .list(let item): return .list(shape(item, group))
        case .named(let id):
            let type = schema.schema[id]
            return type.kind.isComposite
                ? .object(selection(on: type, group)) : .leaf(LeafShape(type))
        }
    }

    private func selection(on type: NamedType, _ group: [Field]) -> SelectionPlan {
        guard type.kind.isAbstract else { return SelectionPlan(mergedPlan(group, on: type)) }
        return SelectionPlan { [self] name throws(ExecutionError) in
            guard let concrete = schema.type(named: name),
                schema.schema.isSubType(concrete, of: type.id)
            else { return nil }
            return try compileLater(group, on: schema.schema[concrete])
        }
    }

    private func compileLater(
        _ group: [Field], on type: NamedType
    ) throws(ExecutionError) -> ObjectPlan {
        try compiling.withLock { _ throws(ExecutionError) in
            let before = remaining.load(ordering: .relaxed)
            let plan = mergedPlan(group, on: type)
            let rest = remaining.load(ordering: .relaxed)
            guard rest >= 0 else {
                // Other types may fit.
                remaining.store(before, ordering: .relaxed)
                throw Self.tooLarge(laterLimit, at: [])
            }
            if rest < before { onGrowth(before - rest) }
            return plan
        }
    }

    /// MergeSelectionSets (GraphQL §6.4.3).
    private func mergedPlan(_ group: [Field], on type: NamedType) -> ObjectPlan {
        let sets = group.compactMap(\.selectionSet)
        // Without fragments, nothing is met twice, except for other types.
        if fragments.isEmpty { return plan(sets, on: type) }
        let place = Place(type: type.id, selectionSets: sets.map(\.location))
        if let plan = known.withLock({ $0[place]?.plan }) { return plan }
        let plan = plan(sets, on: type)
        // What ended at the limit is not whole.
        if hasRoom { known.withLock { $0[place] = WeakPlan(plan: plan) } }
        return plan
    }

    private func plan(_ selectionSets: [SelectionSet], on type: NamedType) -> ObjectPlan {
        var fields = FieldCollector()
        for selectionSet in selectionSets {
            collect(selectionSet, on: type.id, into: &fields)
        }
        return objectPlan(fields, on: type)
    }
}

/// Fields by response name, in order of first occurrence.
private struct FieldCollector {
    private(set) var groups: [[Field]] = []
    private var places: [String: Int] = [:]
    var visited: Set<String> = []

    mutating func add(_ field: Field) {
        if let place = places[field.responseName] {
            groups[place].append(field)
        } else {
            places[field.responseName] = groups.count
            groups.append([field])
        }
    }
}

extension LeafShape {
    init(_ type: NamedType) {
        switch (type.kind, type.name) {
        case (.enum, let name):
            self = .enum(name: name, values: Set(type.values.map { ExactText($0.name) }))
        case (_, "Int"): self = .scalar(.int)
        case (_, "Float"): self = .scalar(.float)
        case (_, "String"): self = .scalar(.string)
        case (_, "Boolean"): self = .scalar(.boolean)
        case (_, "ID"): self = .scalar(.id)
        default: self = .scalar(.any)
        }
    }
}
