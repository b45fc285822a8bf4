import GraphQLLanguage
@_spi(Rooms) import RelayRecords
import Threads

/// What is selected on a field's objects: one object plan if the type is concrete, one for each type that
/// occurs if it is abstract.
///
/// Types of an abstract field are planned when their first object occurs: most of them never do.
package final class SelectionPlan: Sendable {
    private let concrete: ObjectPlan?
    private let compile: (@Sendable (NameIndex) throws(ExecutionError) -> ObjectPlan?)?
    /// What was too large stays so: what may be compiled later only gets less.
    private let compiled = Lock<[NameIndex: Result<ObjectPlan, ExecutionError>]>([:])

    init(_ plan: ObjectPlan) {
        concrete = plan
        compile = nil
    }

    /// - Parameter compile: returns the plan for a record's type; nil if the type does not belong to
    ///   the abstract type; throws if the plan would be too large.
    init(abstract compile: @escaping @Sendable (NameIndex) throws(ExecutionError) -> ObjectPlan?) {
        concrete = nil
        self.compile = compile
    }

    /// The plan for an object that is not a record: its type is determined by the field.
    var onlyPlan: ObjectPlan? { concrete }

    /// The plan for a record of this type; nil if the record's type does not fit the field.
    /// - Throws: that it would be too large.
    func plan(for type: NameIndex) throws(ExecutionError) -> ObjectPlan? {
        if let concrete { return concrete.type == type ? concrete : nil }
        return try compiled.withLock { compiled throws(ExecutionError) in
            if let known = compiled[type] { return try known.get() }
            do throws(ExecutionError) {
                guard let plan = try compile?(type) else { return nil }
                compiled[type] = .success(plan)
                return plan
            } catch {
                compiled[type] = .failure(error)
                throw error
            }
        }
    }
}
