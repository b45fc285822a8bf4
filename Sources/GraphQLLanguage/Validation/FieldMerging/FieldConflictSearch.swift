/// Finds all conflicts of a document as graphql-js does, pair by pair, so that messages and
/// locations are the same: for every selection set, its own fields, then those fields against each
/// fragment it spreads, then the fragments against one another.
struct FieldConflictSearch {
    /// A selection set's own fields, inline fragments included, and the fragments it spreads.
    private final class Selected {
        let location: Int
        let fields: FieldGroups
        let fragmentNames: [String]

        init(location: Int, fields: FieldGroups, fragmentNames: [String]) {
            self.location = location
            self.fields = fields
            self.fragmentNames = fragmentNames
        }
    }

    private struct FieldsAndFragment: Hashable {
        let location: Int
        let fragment: String
    }

    private struct FragmentPair: Hashable {
        let first: String
        let second: String

        init(_ name: String, _ other: String) {
            (first, second) = name < other ? (name, other) : (other, name)
        }
    }

    /// Comparison recurses like the fields, so this bounds the stack.
    private static let maximumDepth = 100

    private let context: ValidationContext
    private var schema: Schema { context.schema }
    private var remainingSteps: Int
    /// Pairs of fields found to conflict, at any depth. One message names all of those below it.
    private var pairCount = 0
    private static let pairsPerError = 10
    private var depth = 0
    private var selected: [Int: Selected] = [:]
    // Pairs already compared; true if only as mutually exclusive, which requires less.
    private var comparedWithFragment: [FieldsAndFragment: Bool] = [:]
    private var comparedFragments: [FragmentPair: Bool] = [:]

    init(_ context: ValidationContext) {
        self.context = context
        self.remainingSteps = context.limits.maximumFieldComparisons
    }

    mutating func run() -> [FieldConflict] {
        var conflicts: [FieldConflict] = []
        for definition in context.document.definitions {
            switch definition {
            case .operation(let operation):
                let root = schema.rootType(of: operation.operation)
                search(operation.selectionSet, root, &conflicts)
            case .fragment(let fragment):
                let type = schema.compositeType(fragment.typeCondition.value)
                search(fragment.selectionSet, type, &conflicts)
            case .schema, .type, .directive: break
            }
        }
        return conflicts
    }

    /// Searches for conflicts within this selection set, then within nested ones.
    private mutating func search(
        _ selectionSet: SelectionSet, _ parent: NamedType?, _ conflicts: inout [FieldConflict]
    ) {
        if isDone(conflicts) { return }
        findConflicts(within: selected(selectionSet, parent), &conflicts)
        for selection in selectionSet.selections {
            switch selection {
            case .field(let field):
                guard let selectionSet = field.selectionSet else { continue }
                let definition = PlacedField(field: field, parent: parent).definition
                search(selectionSet, definition.map { schema[$0.namedType] }, &conflicts)
            case .inlineFragment(let fragment):
                let type = fragment.typeCondition.map { schema.compositeType($0.value) } ?? parent
                search(fragment.selectionSet, type, &conflicts)
            case .fragmentSpread: break
            }
        }
    }

    /// Whether no more conflicts would be reported, or could be found within the limit.
    private func isDone(_ conflicts: [FieldConflict]) -> Bool {
        remainingSteps < 0 || conflicts.count > context.limits.maximumErrors
            || pairCount / Self.pairsPerError > context.limits.maximumErrors
    }

    // MARK: What to compare with what

    private mutating func findConflicts(
        within set: Selected, _ conflicts: inout [FieldConflict]
    ) {
        for group in set.fields.all where !group.others.isEmpty {
            let fields = group.fields
            for (index, field) in fields.enumerated() {
                if isDone(conflicts) { return }
                for other in fields[(index + 1)...] {
                    if isDone(conflicts) { return }
                    compare(field, other, areExclusive: false, &conflicts)
                }
            }
        }
        for (index, name) in set.fragmentNames.enumerated() {
            compare(set, fragment: name, areExclusive: false, &conflicts)
            for other in set.fragmentNames[(index + 1)...] {
                compareFragments(name, other, areExclusive: false, &conflicts)
            }
        }
    }

    private mutating func compare(
        _ set: Selected, _ other: Selected, areExclusive: Bool,
        _ conflicts: inout [FieldConflict]
    ) {
        for group in set.fields.all {
            let others = other.fields[group.first.field.responseName]
            for field in group.fields {
                for other in others {
                    if isDone(conflicts) { return }
                    compare(field, other, areExclusive: areExclusive, &conflicts)
                }
            }
        }
    }

    private mutating func compare(
        _ set: Selected, fragment name: String, areExclusive: Bool,
        _ conflicts: inout [FieldConflict]
    ) {
        let key = FieldsAndFragment(location: set.location, fragment: name)
        if let compared = comparedWithFragment[key], !compared || areExclusive { return }
        comparedWithFragment[key] = areExclusive
        remainingSteps -= 1
        guard remainingSteps >= 0, depth < Self.maximumDepth,
            let fragment = selected(fragmentNamed: name), fragment !== set
        else { return }
        compare(set, fragment, areExclusive: areExclusive, &conflicts)
        depth += 1
        for name in fragment.fragmentNames {
            compare(set, fragment: name, areExclusive: areExclusive, &conflicts)
        }
        depth -= 1
    }

    private mutating func compareFragments(
        _ name: String, _ other: String, areExclusive: Bool, _ conflicts: inout [FieldConflict]
    ) {
        if name == other { return }
        let key = FragmentPair(name, other)
        if let compared = comparedFragments[key], !compared || areExclusive { return }
        comparedFragments[key] = areExclusive
        remainingSteps -= 1
        guard remainingSteps >= 0, depth < Self.maximumDepth,
            let set = selected(fragmentNamed: name), let otherSet = selected(fragmentNamed: other)
        else { return }
        compare(set, otherSet, areExclusive: areExclusive, &conflicts)
        depth += 1
        for next in otherSet.fragmentNames {
            compareFragments(name, next, areExclusive: areExclusive, &conflicts)
        }
        for next in set.fragmentNames {
            compareFragments(next, other, areExclusive: areExclusive, &conflicts)
        }
        depth -= 1
    }

    // MARK: Two fields

    /// - Parameter areExclusive: whether their parents are never the same object.
    private mutating func compare(
        _ field: PlacedField, _ other: PlacedField, areExclusive: Bool,
        _ conflicts: inout [FieldConflict]
    ) {
        remainingSteps -= 1
        guard remainingSteps >= 0, depth < Self.maximumDepth else { return }
        let areExclusive = areExclusive || field.isExclusive(of: other)
        if !areExclusive, let reason = field.difference(from: other) {
            pairCount += 1
            return conflicts.append(field.conflict(with: other, because: reason))
        }
        if let reason = field.shapeDifference(from: other, schema) {
            pairCount += 1
            return conflicts.append(field.conflict(with: other, because: reason))
        }
        guard let set = selectedBelow(field), let otherSet = selectedBelow(other) else { return }
        depth += 1
        var below: [FieldConflict] = []
        compareSubselections(set, otherSet, areExclusive: areExclusive, &below)
        depth -= 1
        guard !below.isEmpty else { return }
        conflicts.append(
            FieldConflict(
                responseName: field.field.responseName, reason: .subfields(below),
                fields: [field.field] + below.flatMap(\.fields),
                otherFields: [other.field] + below.flatMap(\.otherFields)))
    }

    private mutating func compareSubselections(
        _ set: Selected, _ other: Selected, areExclusive: Bool,
        _ conflicts: inout [FieldConflict]
    ) {
        compare(set, other, areExclusive: areExclusive, &conflicts)
        for name in other.fragmentNames {
            compare(set, fragment: name, areExclusive: areExclusive, &conflicts)
        }
        for name in set.fragmentNames {
            compare(other, fragment: name, areExclusive: areExclusive, &conflicts)
        }
        for name in set.fragmentNames {
            for otherName in other.fragmentNames {
                compareFragments(name, otherName, areExclusive: areExclusive, &conflicts)
            }
        }
    }

    // MARK: Selection sets

    private mutating func selectedBelow(_ field: PlacedField) -> Selected? {
        field.field.selectionSet.map {
            selected($0, field.definition.map { schema[$0.namedType] })
        }
    }

    private mutating func selected(fragmentNamed name: String) -> Selected? {
        context.fragment(named: name).map {
            selected($0.selectionSet, schema.compositeType($0.typeCondition.value))
        }
    }

    private mutating func selected(
        _ selectionSet: SelectionSet, _ parent: NamedType?
    ) -> Selected {
        if let known = selected[selectionSet.location] { return known }
        var fields = FieldGroups()
        var names: [String] = []
        collect(selectionSet, parent, &fields, &names)
        let result = Selected(
            location: selectionSet.location, fields: fields, fragmentNames: names)
        selected[selectionSet.location] = result
        return result
    }

    private func collect(
        _ selectionSet: SelectionSet, _ parent: NamedType?, _ fields: inout FieldGroups,
        _ names: inout [String]
    ) {
        for selection in selectionSet.selections {
            switch selection {
            case .field(let field): fields.append(PlacedField(field: field, parent: parent))
            case .fragmentSpread(let spread):
                if !names.contains(spread.name.value) { names.append(spread.name.value) }
            case .inlineFragment(let fragment):
                let type = fragment.typeCondition.map { schema.compositeType($0.value) } ?? parent
                collect(fragment.selectionSet, type, &fields, &names)
            }
        }
    }
}

extension PlacedField {
    fileprivate func isExclusive(of other: PlacedField) -> Bool {
        guard let parent, let otherParent = other.parent, parent.id != otherParent.id else {
            return false
        }
        return parent.kind == .object && otherParent.kind == .object
    }
}
