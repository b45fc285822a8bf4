/// Finds out whether all fields of a document can be merged (GraphQL §5.3.2).
///
/// Instead of comparing pairs, it merges as execution would: all fields with one response name
/// form a group, every field of the group is compared with the first, and what they select is
/// checked together as one set. That is enough, because both questions are equivalences:
///
/// 1. Everything in a group must have the same shape, whatever object it is selected on.
/// 2. What can be selected on the same object must also have the same name and arguments. Fields
///    of different object types never meet, so a group falls into one class per object type, and
///    fields of abstract types are in each of them.
///
/// A set of selection sets that has been checked is not checked again, which also ends cycles of
/// fragments. Work that waits is in a list, not on the stack.
struct FieldMergeCheck {
    enum Outcome {
        case mergeable
        case conflict(FieldConflict)
        case tooComplex
    }

    private struct TypedSelectionSet {
        let parent: NamedType?
        let selectionSet: SelectionSet
    }

    /// Which of the two questions is asked.
    private struct Question: OptionSet, Hashable {
        let rawValue: UInt8
        static let shape = Question(rawValue: 1)
        static let sameness = Question(rawValue: 2)
        static let both: Question = [.shape, .sameness]
    }

    private struct Task {
        let sets: [TypedSelectionSet]
        let question: Question
    }

    private struct TaskKey: Hashable {
        let locations: [Int]
        let question: Question
    }

    private let context: ValidationContext
    private var schema: Schema { context.schema }
    private var remainingSteps: Int
    private var pending: [Task] = []
    private var done: Set<TaskKey> = []
    private var conflict: FieldConflict?

    init(_ context: ValidationContext) {
        self.context = context
        self.remainingSteps = context.limits.maximumFieldComparisons
    }

    mutating func run() -> Outcome {
        for definition in context.document.definitions {
            switch definition {
            case .operation(let operation):
                let root = schema.rootType(of: operation.operation)
                enqueue([TypedSelectionSet(parent: root, selectionSet: operation.selectionSet)])
            case .fragment(let fragment):
                let type = schema.compositeType(fragment.typeCondition.value)
                enqueue([TypedSelectionSet(parent: type, selectionSet: fragment.selectionSet)])
            case .schema, .type, .directive: break
            }
        }
        while let task = pending.popLast() {
            check(task)
            if let conflict { return .conflict(conflict) }
            if remainingSteps < 0 { return .tooComplex }
        }
        return .mergeable
    }

    // MARK: Tasks

    private mutating func enqueue(_ sets: [TypedSelectionSet], _ question: Question = .both) {
        guard !sets.isEmpty else { return }
        // Without fragments every selection set is met once.
        if !context.fragments.isEmpty {
            let locations = sets.map(\.selectionSet.location).sorted()
            guard done.insert(TaskKey(locations: locations, question: question)).inserted else {
                return
            }
        }
        pending.append(Task(sets: sets, question: question))
    }

    private mutating func enqueueSubselections(
        of fields: [SelectedField], _ question: Question
    ) {
        var sets: [TypedSelectionSet] = []
        for selected in fields {
            guard let selectionSet = selected.field.selectionSet else { continue }
            let parent = selected.definition.map { schema[$0.namedType] }
            sets.append(TypedSelectionSet(parent: parent, selectionSet: selectionSet))
        }
        enqueue(sets, question)
    }

    private mutating func check(_ task: Task) {
        var groups = FieldGroups()
        collect(task.sets, into: &groups)
        for fields in groups.all {
            if conflict != nil || remainingSteps < 0 { return }
            check(fields, task.question)
        }
    }

    // MARK: Groups

    /// - Parameter fields: all with one response name.
    private mutating func check(_ fields: [SelectedField], _ question: Question) {
        guard fields.count > 1 else { return enqueueSubselections(of: fields, question) }
        if question.contains(.shape) { checkShape(of: fields) }
        guard question.contains(.sameness) else {
            return enqueueSubselections(of: fields, .shape)
        }
        let classes = sameParentClasses(of: fields)
        for fields in classes { checkSameness(of: fields) }
        if classes.count == 1 {
            return enqueueSubselections(of: fields, question)
        }
        for fields in classes { enqueueSubselections(of: fields, .sameness) }
        if question.contains(.shape) { enqueueSubselections(of: fields, .shape) }
    }

    private mutating func checkShape(of fields: [SelectedField]) {
        guard let first = fields.first(where: { $0.definition != nil }) else { return }
        for other in fields {
            if let reason = first.shapeDifference(from: other, schema) {
                conflict = first.conflict(with: other, because: reason)
                return
            }
        }
    }

    private mutating func checkSameness(of fields: [SelectedField]) {
        for other in fields.dropFirst() {
            if let reason = fields[0].difference(from: other) {
                conflict = fields[0].conflict(with: other, because: reason)
                return
            }
        }
    }

    /// Fields that may be selected on one object, object type by object type.
    private mutating func sameParentClasses(of fields: [SelectedField]) -> [[SelectedField]] {
        var byObjectType: [TypeID: [SelectedField]] = [:]
        var anywhere: [SelectedField] = []
        for selected in fields {
            if let parent = selected.parent, parent.kind == .object {
                byObjectType[parent.id, default: []].append(selected)
            } else {
                anywhere.append(selected)
            }
        }
        if byObjectType.count < 2 { return [fields] }
        remainingSteps -= anywhere.count * byObjectType.count
        if remainingSteps < 0 { return [] }
        return byObjectType.sorted { $0.key.index < $1.key.index }.map { $0.value + anywhere }
    }

    // MARK: Collecting

    /// Gathers the fields of the sets by response name, looking into fragments, each once.
    private mutating func collect(_ sets: [TypedSelectionSet], into groups: inout FieldGroups) {
        var visitedFragments: Set<String> = []
        var open = sets.reversed().map {
            (parent: $0.parent, rest: $0.selectionSet.selections[...])
        }
        while var (parent, rest) = open.popLast() {
            guard let selection = rest.popFirst() else { continue }
            open.append((parent, rest))
            remainingSteps -= 1
            if remainingSteps < 0 { return }
            switch selection {
            case .field(let field): groups.append(SelectedField(field, on: parent))
            case .inlineFragment(let fragment):
                if let condition = fragment.typeCondition {
                    parent = schema.compositeType(condition.value)
                }
                open.append((parent, fragment.selectionSet.selections[...]))
            case .fragmentSpread(let spread):
                guard visitedFragments.insert(spread.name.value).inserted,
                    let fragment = context.fragments[spread.name.value]
                else { continue }
                parent = schema.compositeType(fragment.typeCondition.value)
                open.append((parent, fragment.selectionSet.selections[...]))
            }
        }
    }
}

/// Fields by response name, in the order of the first of each.
struct FieldGroups {
    private(set) var all: [[SelectedField]] = []
    /// Only kept when there are so many groups that looking through them would be slow.
    private var indices: [String: Int] = [:]

    mutating func append(_ selected: SelectedField) {
        let name = selected.field.responseName
        if let index = index(of: name) {
            all[index].append(selected)
            return
        }
        if all.count == 8 {
            for (index, group) in all.enumerated() { indices[group[0].field.responseName] = index }
        }
        if all.count >= 8 { indices[name] = all.count }
        all.append([selected])
    }

    /// The fields with this response name.
    subscript(name: String) -> [SelectedField] { index(of: name).map { all[$0] } ?? [] }

    private func index(of name: String) -> Int? {
        all.count > 8
            ? indices[name] : all.firstIndex { $0[0].field.responseName == name }
    }
}
