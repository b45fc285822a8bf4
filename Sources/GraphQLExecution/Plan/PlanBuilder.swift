import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords
import Synchronization

/// Compiles an operation to a ``Plan``: CollectFields (GraphQL §6.3.2) for every selection set, ahead of
/// time, for one combination of what `@skip` and `@include` leave in.
final class PlanBuilder: Sendable {
    private let schema: ExecutableSchema
    private let source: Source
    private let fragments: [String: FragmentDefinition]
    private let conditions: [String: Bool]
    /// Numbers for the argument lists that depend on variables. Plans for abstract types are made while
    /// executions run, so an execution may see numbers that it does not know.
    private let argumentPlaces = Atomic(0)

    /// - Parameter conditions: the values of the variables used in `@skip` and `@include`.
    init(_ document: Document, schema: ExecutableSchema, conditions: [String: Bool]) {
        self.schema = schema
        self.conditions = conditions
        source = document.source
        fragments = Dictionary(
            document.fragments.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The plan of an operation whose document is valid.
    func plan(
        _ operation: OperationDefinition, variables: [PlannedVariable], resultBytes: Int
    ) -> Plan? {
        guard let type = schema.schema.rootType(of: operation.operation) else { return nil }
        var fields = FieldCollector()
        collect(operation.selectionSet, on: type.id, into: &fields)
        let root = objectPlan(fields, on: type)
        return Plan(
            operation: operation.operation, root: root, variables: variables,
            resultBytes: resultBytes)
    }

    // MARK: Collecting fields

    private func collect(
        _ selectionSet: SelectionSet, on type: TypeID, into fields: inout FieldCollector
    ) {
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
        if directives.isEmpty { return true }
        if let skip = directives.named("skip"), condition(skip) { return false }
        if let include = directives.named("include"), !condition(include) { return false }
        return true
    }

    private func condition(_ directive: Directive) -> Bool {
        switch directive.argument("if")?.kind {
        case .boolean(let value): value
        case .variable(let name): conditions[name] ?? false
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
            location: source.location(at: field.location))
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
        return SelectionPlan { [self] name in
            guard let concrete = schema.type(named: name),
                schema.schema.isSubType(concrete, of: type.id)
            else { return nil }
            return mergedPlan(group, on: schema.schema[concrete])
        }
    }

    /// MergeSelectionSets (GraphQL §6.4.3).
    private func mergedPlan(_ group: [Field], on type: NamedType) -> ObjectPlan {
        var fields = FieldCollector()
        for field in group {
            if let selectionSet = field.selectionSet {
                collect(selectionSet, on: type.id, into: &fields)
            }
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
