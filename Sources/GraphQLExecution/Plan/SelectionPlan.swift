import GraphQLLanguage
@_spi(Rooms) import RelayRecords
import Threads

/// What is selected on a field's objects: one object plan if the type is concrete, one for each type that
/// occurs if it is abstract.
///
/// Types of an abstract field are planned when their first object occurs: planning all of them ahead would
/// take time exponential in the depth of the document.
package final class SelectionPlan: Sendable {
    private let concrete: ObjectPlan?
    private let compile: (@Sendable (NameIndex) -> ObjectPlan?)?
    private let compiled = Lock<[NameIndex: ObjectPlan]>([:])

    init(_ plan: ObjectPlan) {
        concrete = plan
        compile = nil
    }

    /// - Parameter compile: returns the plan for a record's type; nil if the type does not belong to
    ///   the abstract type.
    init(abstract compile: @escaping @Sendable (NameIndex) -> ObjectPlan?) {
        concrete = nil
        self.compile = compile
    }

    /// The plan for an object that is not a record: its type is determined by the field.
    var onlyPlan: ObjectPlan? { concrete }

    /// The plan for a record of this type; nil if the record's type does not fit the field.
    func plan(for type: NameIndex) -> ObjectPlan? {
        if let concrete { return concrete.type == type ? concrete : nil }
        return compiled.withLock { compiled in
            if let plan = compiled[type] { return plan }
            guard let plan = compile?(type) else { return nil }
            compiled[type] = plan
            return plan
        }
    }
}
