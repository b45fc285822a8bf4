package import GraphQLLanguage
import RelayJSON
@_spi(Rooms) package import RelayRecords

/// One operation, compiled for one schema and one combination of its `@skip`s and `@include`s.
///
/// Everything that does not depend on variables or data has been done: fields are collected and merged
/// (GraphQL §6.3.2), names are bytes ready to be copied, constant arguments are coerced. Immutable, except
/// that abstract types are compiled on demand; shared by all executions.
package final class Plan: Sendable {
    package let operation: OperationType
    package let root: ObjectPlan
    package let variables: [PlannedVariable]
    /// Bytes that a result may have.
    package let resultBytes: Int
    /// Selections that it was made from: those of a fragment count wherever the fragment was compiled anew.
    let selectionCount: Int
    /// Elements of lists that an execution may look at.
    package let visitLimit: Int
    private let laterSelectionCount: @Sendable () -> Int

    /// Selections that have been compiled by now, with the types that values of abstract types turned out to have.
    package var currentSelectionCount: Int { selectionCount + laterSelectionCount() }

    init(
        operation: OperationType, root: ObjectPlan, variables: [PlannedVariable], resultBytes: Int,
        visitLimit: Int, selectionCount: Int, laterSelectionCount: @escaping @Sendable () -> Int
    ) {
        self.visitLimit = visitLimit
        self.selectionCount = selectionCount
        self.laterSelectionCount = laterSelectionCount
        self.operation = operation
        self.root = root
        self.variables = variables
        self.resultBytes = resultBytes
    }
}

/// The fields that a selection set selects on one object type.
package final class ObjectPlan: Sendable {
    package let typeName: String
    /// The type's number in the store; nil for a type without records.
    let type: NameIndex?
    package let fields: ContiguousArray<FieldPlan>
    /// What to do for each field, as plain values, so that executing the plan does no reference counting.
    let steps: ContiguousArray<PlanStep>
    /// The text of all steps, concatenated.
    let text: [UInt8]
    /// The storage keys of the object's record that the fields are read from; a live result depends on
    /// them. Sorted, without duplicates.
    package let keys: [NameIndex]

    init(typeName: String, type: NameIndex?, fields: ContiguousArray<FieldPlan>) {
        self.typeName = typeName
        self.type = type
        self.fields = fields
        let keys = Set(fields.flatMap(\.keys))
        self.keys = keys.sorted { $0.rawValue < $1.rawValue }
        var writer = JSONWriter()
        steps = ContiguousArray(
            fields.enumerated().map { index, field in
                let start = writer.count
                writer.raw(UInt8(ascii: index == 0 ? "{" : ","))
                writer.write(field.responseName)
                writer.raw(UInt8(ascii: ":"))
                if case .typename(let name) = field.resolver { writer.raw(name) }
                return PlanStep(
                    PlanStep.Action(field), field: index, text: start..<writer.count)
            })
        text = writer.bytes
    }
}

/// What to do for one field: write some text, then a value.
struct PlanStep: Sendable {
    enum Action: Sendable {
        /// The text includes the value: `"__typename":"Todo"`.
        case text
        /// A scalar that the record holds.
        case leaf(NameIndex, LeafKind, isNonNull: Bool)
        case id
        /// A part of a connection or an edge.
        case part(ConnectionPart)
        /// Whatever the field's resolver says.
        case resolve
    }

    let action: Action
    /// The field's index in the plan.
    let field: Int
    /// `{"name":` of the first field, `,"name":` of the others.
    let text: Range<Int>

    init(_ action: Action, field: Int, text: Range<Int>) {
        self.action = action
        self.field = field
        self.text = text
    }
}

extension PlanStep.Action {
    init(_ field: FieldPlan) {
        guard field.rule == nil else {
            self = .resolve
            return
        }
        switch field.resolver {
        case .typename: self = .text
        case .id: self = .id
        case .connectionPart(let part): self = .part(part)
        case .stored(let key):
            switch field.shape {
            case .leaf(.scalar(let kind)): self = .leaf(key, kind, isNonNull: false)
            case .nonNull(.leaf(.scalar(let kind))): self = .leaf(key, kind, isNonNull: true)
            default: self = .resolve
            }
        default: self = .resolve
        }
    }
}

/// One field of an object plan.
package final class FieldPlan: Sendable {
    package let name: String
    /// The type that the field belongs to.
    package let parentType: String
    package let responseName: String
    package let resolver: FieldResolver
    let arguments: PlannedArguments
    let shape: OutputShape
    package let location: SourceLocation
    /// What has to be asked before the field is read.
    let rule: FieldRule?
    /// The types of the records in the field's list or connection.
    let listedTypes: [NameIndex]

    init(
        name: String, parentType: String, responseName: String, resolver: FieldResolver,
        arguments: PlannedArguments, shape: OutputShape, location: SourceLocation,
        rule: FieldRule?, listedTypes: [NameIndex] = []
    ) {
        self.rule = rule
        self.listedTypes = listedTypes
        self.name = name
        self.parentType = parentType
        self.responseName = responseName
        self.resolver = resolver
        self.arguments = arguments
        self.shape = shape
        self.location = location
    }

    /// The storage keys of the object's own record that the value is read from.
    var keys: [NameIndex] {
        switch resolver {
        case .stored(let key): [key]
        case .count(let count): [count.changingKey]
        case .connection(.field(let key), _), .links(.field(let key), _): [key]
        default: []
        }
    }
}

/// Where the rule of a field is.
enum FieldRule: Sendable {
    /// With the rules of the record's type, under this name.
    case record(NameIndex)
    case root(OperationType)
}

/// A field's arguments: known when the plan is made, or coerced once in each execution and then
/// found at `place`.
enum PlannedArguments: Sendable {
    case constant(JSONObject)
    case variable(ArgumentList, place: Int)
}

/// What a value must be to be written, according to the field's type (GraphQL §6.4.3).
indirect enum OutputShape: Sendable {
    case leaf(LeafShape)
    case object(SelectionPlan)
    case list(OutputShape)
    case nonNull(OutputShape)
}

/// A scalar or an enum.
enum LeafShape: Sendable {
    case scalar(LeafKind)
    case `enum`(name: String, values: Set<ExactText>)
}
