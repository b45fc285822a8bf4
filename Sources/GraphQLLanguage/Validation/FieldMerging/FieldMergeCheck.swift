/// Checks whether all fields of a document can be merged (GraphQL §5.3.2).
///
/// Instead of comparing pairs, it merges as execution would: all fields with one response name form
/// a group, every field of the group is compared with the first, and their selections are checked
/// together as one set. That is enough, because both questions are equivalences:
///
/// 1. Everything in a group must have the same shape, whatever object it is selected on.
/// 2. What can be selected on the same object must also have the same name and arguments. Fields of
///    different object types never meet, so a group splits into one class per object type, and
///    fields of abstract types are in each of them.
///
/// A set of selection sets is checked only once, which also ends cycles of fragments. Pending work
/// is in a list, not on the stack.
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

    /// Which of the two questions to check.
    private struct Question: OptionSet, Hashable {
        let rawValue: UInt8
        static let shape = Question(rawValue: 1)
        static let sameness = Question(rawValue: 2)
        static let both: Question = [.shape, .sameness]
    }

    /// Selection sets to be checked as one.
    private struct Task {
        let first: TypedSelectionSet
        var others: [TypedSelectionSet] = []
        let question: Question
    }

    private struct TaskKey: Hashable {
        let first: Int
        let others: [Int]
        let question: Question
    }

    private let context: ValidationContext
    private var schema: Schema { context.schema }
    private var remainingSteps: Int
    private var pending: [Task] = []
    private var done: Set<TaskKey> = []
    private var isFragmentReached: [Bool]
    private var conflict: FieldConflict?

    init(_ context: ValidationContext) {
        self.context = context
        self.remainingSteps = context.limits.maximumFieldComparisons
        self.isFragmentReached = Array(repeating: false, count: context.fragments.count)
    }

    mutating func run() -> Outcome {
        for operation in context.operations.map(\.node) {
            let root = schema.rootType(of: operation.operation)
            enqueue(operation.selectionSet, on: root)
        }
        if let outcome = work() { return outcome }
        // What operations use was checked where it is used.
        for (index, fragment) in context.fragments.enumerated() where !isFragmentReached[index] {
            let type = schema.compositeType(fragment.node.typeCondition.value)
            enqueue(fragment.node.selectionSet, on: type)
            if let outcome = work() { return outcome }
        }
        return .mergeable
    }

    private mutating func work() -> Outcome? {
        while let task = pending.popLast() {
            check(task)
            if let conflict { return .conflict(conflict) }
            if remainingSteps < 0 { return .tooComplex }
        }
        return nil
    }

    // MARK: Tasks

    private mutating func enqueue(_ task: Task) {
        // Only through fragments, or through a field in several classes, can anything be met twice.
        if !context.fragments.isEmpty || task.question != .both {
            let locations = task.others.map(\.selectionSet.location)
            let key = TaskKey(
                first: task.first.selectionSet.location, others: locations,
                question: task.question)
            guard done.insert(key).inserted else { return }
        }
        pending.append(task)
    }

    private mutating func enqueue(_ selectionSet: SelectionSet, on parent: NamedType?) {
        let set = TypedSelectionSet(parent: parent, selectionSet: selectionSet)
        enqueue(Task(first: set, question: .both))
    }

    /// - Parameter fields: all with one response name.
    private mutating func enqueueSubselections(
        of fields: [PlacedField], _ question: Question
    ) {
        // In a fixed order, so that the same sets are recognized.
        var sets = fields.compactMap(subselection)
        sets.sort { $0.selectionSet.location < $1.selectionSet.location }
        guard let first = sets.first else { return }
        enqueue(Task(first: first, others: Array(sets.dropFirst()), question: question))
    }

    private func subselection(of selected: PlacedField) -> TypedSelectionSet? {
        guard let selectionSet = selected.field.selectionSet else { return nil }
        let parent = selected.definition.map { schema[$0.namedType] }
        return TypedSelectionSet(parent: parent, selectionSet: selectionSet)
    }

    private mutating func check(_ task: Task) {
        if task.others.isEmpty, checkPlain(task.first, task.question) { return }
        var groups = FieldGroups()
        collect([task.first] + task.others, into: &groups)
        for group in groups.all {
            if conflict != nil || remainingSteps < 0 { return }
            if !group.others.isEmpty {
                check(group.fields, task.question)
            } else if let subselection = subselection(of: group.first) {
                enqueue(Task(first: subselection, question: task.question))
            }
        }
    }

    /// The usual case, for which nothing needs to be collected: a few fields with distinct names.
    ///
    /// - Returns: false, having done nothing, if this is not the case.
    private mutating func checkPlain(_ set: TypedSelectionSet, _ question: Question) -> Bool {
        let selections = set.selectionSet.selections
        guard selections.count <= 16 else { return false }
        for (index, selection) in selections.enumerated() {
            guard case .field(let field) = selection else { return false }
            let name = field.responseName
            for case .field(let earlier) in selections[..<index]
            where earlier.responseName == name {
                return false
            }
        }
        remainingSteps -= selections.count
        for case .field(let field) in selections {
            let selected = PlacedField(field: field, parent: set.parent)
            guard let subselection = subselection(of: selected) else { continue }
            enqueue(Task(first: subselection, question: question))
        }
        return true
    }

    // MARK: Groups

    /// - Parameter fields: all with one response name.
    private mutating func check(_ fields: [PlacedField], _ question: Question) {
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

    private mutating func checkShape(of fields: [PlacedField]) {
        guard let first = fields.first(where: { $0.definition != nil }) else { return }
        for other in fields {
            if let reason = first.shapeDifference(from: other, schema) {
                conflict = first.conflict(with: other, because: reason)
                return
            }
        }
    }

    private mutating func checkSameness(of fields: [PlacedField]) {
        for other in fields.dropFirst() {
            if let reason = fields[0].difference(from: other) {
                conflict = fields[0].conflict(with: other, because: reason)
                return
            }
        }
    }

    /// Fields that may be selected on one object, object type by object type.
    private mutating func sameParentClasses(of fields: [PlacedField]) -> [[PlacedField]] {
        var byObjectType: [TypeID: [PlacedField]] = [:]
        var anywhere: [PlacedField] = []
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

    /// Groups the fields of the sets by response name, including those of fragments, each fragment once.
    private mutating func collect(_ sets: [TypedSelectionSet], into groups: inout FieldGroups) {
        var visitedFragments: Set<Int> = []
        var open = sets.reversed().map {
            (parent: $0.parent, rest: $0.selectionSet.selections[...])
        }
        while var (parent, rest) = open.popLast() {
            guard let selection = rest.popFirst() else { continue }
            open.append((parent, rest))
            remainingSteps -= 1
            if remainingSteps < 0 { return }
            switch selection {
            case .field(let field): groups.append(PlacedField(field: field, parent: parent))
            case .inlineFragment(let fragment):
                if let condition = fragment.typeCondition {
                    parent = schema.compositeType(condition.value)
                }
                open.append((parent, fragment.selectionSet.selections[...]))
            case .fragmentSpread(let spread):
                guard let index = context.fragmentIndex(named: spread.name.value),
                    visitedFragments.insert(index).inserted
                else { continue }
                isFragmentReached[index] = true
                let fragment = context.fragments[index].node
                parent = schema.compositeType(fragment.typeCondition.value)
                open.append((parent, fragment.selectionSet.selections[...]))
            }
        }
    }
}

/// Fields by response name, in order of first occurrence.
struct FieldGroups {
    struct Group {
        let first: PlacedField
        var others: [PlacedField] = []

        var fields: [PlacedField] { [first] + others }
    }

    private(set) var all: [Group] = []
    /// Only kept if there are so many groups that a scan would be slow.
    private var indices: [String: Int] = [:]
    private static let manyGroups = 16

    mutating func append(_ selected: PlacedField) {
        let name = selected.field.responseName
        if let index = index(of: name) {
            all[index].others.append(selected)
            return
        }
        if all.count == Self.manyGroups {
            for (index, group) in all.enumerated() {
                indices[group.first.field.responseName] = index
            }
        }
        if all.count >= Self.manyGroups { indices[name] = all.count }
        all.append(Group(first: selected))
    }

    /// The fields with this response name.
    subscript(name: String) -> [PlacedField] { index(of: name).map { all[$0].fields } ?? [] }

    private func index(of name: String) -> Int? {
        all.count > Self.manyGroups
            ? indices[name] : all.firstIndex { $0.first.field.responseName == name }
    }
}
