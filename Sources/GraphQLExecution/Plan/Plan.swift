package import GraphQLLanguage
import RelayJSON
package import RelayStore

/// One operation, compiled for one schema and one choice of its `@skip`s and `@include`s.
///
/// Everything that does not depend on variables or data has been done: fields are collected and merged
/// (GraphQL §6.3.2), names are bytes ready to be copied, constant arguments are coerced. Immutable but for
/// what abstract types still have to compile; shared by all executions.
package final class Plan: Sendable {
    package let operation: OperationType
    package let root: ObjectPlan
    package let variables: [PlannedVariable]

    init(operation: OperationType, root: ObjectPlan, variables: [PlannedVariable]) {
        self.operation = operation
        self.root = root
        self.variables = variables
    }
}

/// The fields that a selection set selects on one object type.
package final class ObjectPlan: Sendable {
    package let typeName: String
    /// The type's number in the store; nil for a type of which there are no records.
    let type: NameIndex?
    package let fields: ContiguousArray<FieldPlan>
    /// The storage keys of the object's record that the fields are read from; a live result depends on
    /// them. Sorted, each once.
    package let keys: [NameIndex]

    init(typeName: String, type: NameIndex?, fields: ContiguousArray<FieldPlan>) {
        self.typeName = typeName
        self.type = type
        self.fields = fields
        let keys = Set(fields.flatMap(\.keys))
        self.keys = keys.sorted { $0.rawValue < $1.rawValue }
    }
}

/// One field of an object plan.
package final class FieldPlan: Sendable {
    package let name: String
    /// The type that the field belongs to.
    package let parentType: String
    package let responseName: String
    /// `"responseName":` as it is written.
    let responseKey: [UInt8]
    package let resolver: FieldResolver
    let arguments: PlannedArguments
    let shape: OutputShape
    package let location: SourceLocation

    init(
        name: String, parentType: String, responseName: String, resolver: FieldResolver,
        arguments: PlannedArguments, shape: OutputShape, location: SourceLocation
    ) {
        self.name = name
        self.parentType = parentType
        self.responseName = responseName
        var writer = JSONWriter(capacity: responseName.utf8.count + 4)
        writer.write(responseName)
        writer.raw(UInt8(ascii: ":"))
        self.responseKey = writer.bytes
        self.resolver = resolver
        self.arguments = arguments
        self.shape = shape
        self.location = location
    }

    /// The storage keys of the object's own record that the value is read from.
    var keys: [NameIndex] {
        switch resolver {
        case .stored(let key), .count(let key, _): [key]
        case .connection(.field(let key), _), .links(.field(let key), _): [key]
        case .custom(let resolver): resolver.dependencies
        default: []
        }
    }
}

/// A field's arguments: known when the plan is made, or to be coerced once in each execution, where
/// `place` finds them again.
enum PlannedArguments: Sendable {
    case constant(JSONObject)
    case variable(ArgumentList, place: Int)
}

/// What a value must be to be written, from the field's type (GraphQL §6.4.3).
indirect enum OutputShape: Sendable {
    case leaf(LeafShape)
    case object(SelectionPlan)
    case list(OutputShape)
    case nonNull(OutputShape)
}

/// A scalar or an enum.
enum LeafShape: Sendable {
    case int
    case float
    case string
    case boolean
    case id
    case `enum`(name: String, values: Set<String>)
    /// A scalar of the schema's own: any JSON.
    case custom
}
