import GraphQLLanguage
package import RelayJSON
@_spi(Rooms) package import RelayRecords

/// One run of a plan: reads a snapshot and writes the response as bytes (GraphQL §6).
///
///     var execution = Execution(plan, variables: variables, on: snapshot, schema: schema)
///     let response = execution.response(source: nil)
///
/// Values go from the rows straight into the buffer. A null in place of a required value undoes what has
/// been written since the nearest nullable value (GraphQL §6.4.4): writing functions return false for
/// such a null, and the first nullable field above truncates the buffer.
package struct Execution: ~Copyable {
    package let plan: Plan
    let variables: CoercedVariables
    let schema: ExecutableSchema
    /// Who asks.
    let identity: Identity
    /// What they may see; nil: everything.
    let access: Access?
    /// A type whose records are all visible.
    var openType: NameIndex?
    /// Writes and reads cursors; nil if they are plain.
    let cursorSealer: CursorSealer?
    /// What is read. A mutation's root fields each have their own.
    package private(set) var snapshot: Snapshot
    package private(set) var errors: [ExecutionError] = []
    private var hasMoreErrors = false
    /// How many errors a result tells of; one after them says that there are more.
    private static let errorLimit = 1_000
    private var isReplaced = false
    /// The result has more bytes than ``Plan/resultBytes``; ``finish(isOpen:)`` puts an error in its place.
    package var isTooLarge: Bool { isReplaced || isOver }
    /// The execution has looked at more elements of lists than ``Plan/visitLimit``, which is too much work.
    package var visitsTooMuch: Bool { remainingVisits < 0 || remainingHiddenVisits < 0 }
    /// Nothing more is written.
    var isOver: Bool { writer.exceedsLimit || visitsTooMuch }
    /// Elements of lists that may still be looked at.
    var remainingVisits: Int
    /// Those that are hidden do not count among these, so that the limit tells nothing about them; but there is one.
    var remainingHiddenVisits: Int
    /// What the result was read from; nil if that is not tracked.
    package internal(set) var dependencies: Dependencies?

    var writer: JSONWriter
    /// The value of ``FieldResolver/source``.
    var source: ObjectValue?
    /// Arguments that depend on variables, coerced on first use.
    private var arguments: [JSONObject?] = []

    /// - Parameters:
    ///   - present: if the snapshot is not the present: the present, in which everything must be visible as well.
    ///   - cursorSeal: nil: cursors are sealed for who may not see everything, with the seal of the rules.
    package init(
        _ plan: Plan, variables: CoercedVariables, on snapshot: Snapshot,
        schema: ExecutableSchema, rules: AccessRules? = nil, identity: Identity,
        present: Snapshot? = nil, recordsDependencies: Bool = false, cursorSeal: CursorSeal? = nil
    ) {
        let access = Access(identity, rules ?? schema.access, on: snapshot, present: present)
        self.identity = identity
        self.access = access
        let seal = cursorSeal ?? (access == nil ? nil : schema.access.cursorSeal)
        cursorSealer = seal.map(CursorSealer.init)
        self.plan = plan
        self.variables = variables
        self.schema = schema
        self.snapshot = snapshot
        dependencies = recordsDependencies ? Dependencies() : nil
        writer = JSONWriter(capacity: 512, limit: plan.resultBytes)
        remainingVisits = plan.visitLimit
        remainingHiddenVisits = plan.visitLimit
    }

    /// Runs the whole plan: `{"data":…}`, with `errors` if there are any. The closing brace is omitted
    /// if `isOpen`, so that the caller can add `extensions`.
    /// - Parameter source: the value of root fields with resolver ``FieldResolver/source``.
    package mutating func response(source: ObjectValue? = nil, isOpen: Bool = false) -> [UInt8] {
        self.source = source
        begin()
        if !writeObject(plan.root, .root) { discardData() }
        return finish(isOpen: isOpen)
    }

    /// The response to an event of a subscription, which is the value of its one root field, or to an
    /// error in its place.
    package mutating func response(
        toEvent event: Result<ObjectValue, ExecutionError>, isOpen: Bool = false
    ) -> [UInt8] {
        switch event {
        case .success(let source): return response(source: source, isOpen: isOpen)
        case .failure:
            beginRootFields()
            if !plan.root.fields.isEmpty, !writeRootField(0, event) { discardData() }
            return finish(isOpen: isOpen)
        }
    }

    // MARK: Field by field, for mutations

    /// Starts a response whose root fields the caller runs one by one, of which there may be none: `@skip` and `@include`
    /// decide.
    package mutating func beginRootFields() {
        begin()
        if plan.root.fields.isEmpty { writer.raw("{}") }
    }

    private mutating func begin() {
        writer.truncate(to: 0)
        writer.raw("{\"data\":")
    }

    /// Drops the data, because a non-null root field was null.
    package mutating func discardData() {
        begin()
        writer.writeNull()
    }

    /// The next root field reads another state.
    package mutating func move(to snapshot: Snapshot) {
        self.snapshot = snapshot
        openType = nil
        access?.move(to: snapshot)
    }

    /// Writes one root field of the plan with the value `source`, or an error.
    /// - Returns: false if this makes the whole data null.
    package mutating func writeRootField(
        _ index: Int, _ result: Result<ObjectValue, ExecutionError>
    ) -> Bool {
        let field = plan.root.fields[index]
        write(plan.root.steps[index].text, of: plan.root)
        defer { if index == plan.root.fields.count - 1 { writer.raw(UInt8(ascii: "}")) } }
        switch result {
        case .success(let value):
            if case .text = plan.root.steps[index].action { return true }
            source = value
            return writeField(field, .root)
        case .failure(let error):
            let errorsBefore = errors.count
            note(error, at: field)
            return settle(.failed, field, from: writer.count, errorsBefore)
        }
    }

    package mutating func finish(isOpen: Bool = false) -> [UInt8] {
        if !errors.isEmpty, !isOver {
            for index in errors.indices { errors[index].path.reverse() }
            if hasMoreErrors {
                errors.append(
                    ExecutionError(
                        "There are more than \(Self.errorLimit) errors; the others are left out.",
                        code: .limitExceeded))
            }
            write(errors)
        }
        if isOver { replaceByError() }
        if !isOpen { writer.raw(UInt8(ascii: "}")) }
        return writer.bytes
    }

    private mutating func write(_ errors: [ExecutionError]) {
        writer.raw(",\"errors\":")
        writer.write(errors)
    }

    /// What was written of a result that is too large gives its memory back.
    private mutating func replaceByError() {
        isReplaced = true
        errors = [
            ExecutionError(
                visitsTooMuch
                    ? "More than \(plan.visitLimit) elements of lists are looked at for the result; ask for less."
                    : "The result has more than \(plan.resultBytes) bytes; ask for less.",
                code: .limitExceeded)
        ]
        writer = JSONWriter()
        discardData()
        write(errors)
    }

    package var rootFieldIndices: Range<Int> { plan.root.fields.indices }

    package func rootField(_ index: Int) -> FieldPlan { plan.root.fields[index] }

    /// The arguments of a root field, coerced.
    package mutating func rootArguments(_ index: Int) throws(ExecutionError) -> JSONObject {
        try arguments(of: plan.root.fields[index])
    }

    // MARK: Objects and fields

    /// The result of writing a value.
    enum Outcome {
        case written
        /// The value is null, and nothing was written.
        case null
        /// Null because of an error that was noted; whatever was written must be truncated.
        case failed
    }

    /// Writes `{…}`; false if a non-null field is null.
    mutating func writeObject(_ plan: ObjectPlan, _ object: ObjectValue) -> Bool {
        if plan.steps.isEmpty { writer.raw(UInt8(ascii: "{")) }
        for index in plan.steps.indices {
            let step = plan.steps[index]
            write(step.text, of: plan)
            let isSettled =
                switch step.action {
                case .text: true
                case .part(let part): writePart(part, object, plan.fields[step.field])
                case .leaf, .id, .resolve: writeField(plan.fields[step.field], object)
                }
            guard isSettled, !isOver else { return false }
        }
        writer.raw(UInt8(ascii: "}"))
        return true
    }

    /// The same for an existing record, the usual case.
    mutating func writeRecord(_ plan: ObjectPlan, _ record: RecordIndex, _ row: Row) -> Bool {
        dependencies?.insert(record, plan)
        if plan.steps.isEmpty { writer.raw(UInt8(ascii: "{")) }
        var hint = 0
        for index in plan.steps.indices {
            let step = plan.steps[index]
            write(step.text, of: plan)
            switch step.action {
            case .text:
                continue
            case .id:
                writer.write(utf8: snapshot.symbols.id(record))
            case .leaf(let key, let kind, let isNonNull):
                switch row.writeLeaf(key, hint: &hint, as: kind, to: &writer) {
                case .written:
                    if writer.exceedsLimit { return false }
                case .null where !isNonNull: writer.writeNull()
                case .null, .mismatch:
                    guard writeField(plan.fields[step.field], .record(record)) else { return false }
                }
            case .part, .resolve:
                guard writeField(plan.fields[step.field], .record(record)), !isOver
                else { return false }
            }
        }
        writer.raw(UInt8(ascii: "}"))
        return true
    }

    @inline(__always)
    private mutating func write(_ text: Range<Int>, of plan: ObjectPlan) {
        plan.text.withUnsafeBufferPointer { writer.raw(UnsafeBufferPointer(rebasing: $0[text])) }
    }

    /// A field's value, after its name; false if it is non-null and null.
    private mutating func writeField(_ field: FieldPlan, _ object: ObjectValue) -> Bool {
        let start = writer.count
        let errorsBefore = errors.count
        let outcome: Outcome
        do throws(ExecutionError) {
            if field.rule != nil { try checkAccess(to: field, object) }
            outcome = try writeValue(of: field, object)
        } catch {
            note(error, at: field)
            outcome = .failed
        }
        return settle(outcome, field, from: start, errorsBefore)
    }

    private mutating func writePart(
        _ part: ConnectionPart, _ object: ObjectValue, _ field: FieldPlan
    ) -> Bool {
        let start = writer.count
        let errorsBefore = errors.count
        let outcome = writePart(part, of: object, field)
        return settle(outcome, field, from: start, errorsBefore)
    }

    /// Ends a field: errors below it get its name in their path, a missing value becomes null.
    @inline(__always)
    private mutating func settle(
        _ outcome: Outcome, _ field: FieldPlan, from start: Int, _ errorsBefore: Int
    ) -> Bool {
        if case .written = outcome, errors.count == errorsBefore { return true }
        return settleSlowly(outcome, field, from: start, errorsBefore)
    }

    private mutating func settleSlowly(
        _ outcome: Outcome, _ field: FieldPlan, from start: Int, _ errorsBefore: Int
    ) -> Bool {
        var isNull = false
        switch outcome {
        case .written: break
        case .null, .failed:
            if case .nonNull = field.shape {
                // GraphQL §6.4.4: a null without an error yet is an error of this field.
                _ = require(outcome, field)
                addPath(.field(field.responseName), toErrorsFrom: errorsBefore)
                return false
            }
            isNull = true
        }
        addPath(.field(field.responseName), toErrorsFrom: errorsBefore)
        if isNull {
            writer.truncate(to: start)
            writer.writeNull()
        }
        return true
    }

    /// Errors collect their path from the inside out.
    mutating func addPath(_ segment: ExecutionError.PathSegment, toErrorsFrom first: Int) {
        for index in first..<errors.count { errors[index].path.append(segment) }
    }

    /// - Precondition: the outcome of the field is ``Outcome/failed``, whether or not there is room for the error.
    mutating func note(_ error: ExecutionError, at field: FieldPlan) {
        guard errors.count < Self.errorLimit else {
            hasMoreErrors = true
            return
        }
        var error = error
        error.locations = [field.location]
        errors.append(error)
    }

    /// Arguments as the resolvers get them (GraphQL §6.4.1).
    mutating func arguments(of field: FieldPlan) throws(ExecutionError) -> JSONObject {
        switch field.arguments {
        case .constant(let arguments):
            return arguments
        case .variable(let list, let place):
            if place < arguments.count, let known = arguments[place] { return known }
            let coerced = try list.coerce(variables)
            while arguments.count <= place { arguments.append(nil) }
            arguments[place] = coerced
            return coerced
        }
    }

    mutating func depend(on record: RecordIndex, _ keys: [NameIndex], for field: FieldPlan) {
        dependencies?.insert(record, keys, for: field)
    }

    mutating func depend(onRecordsOf type: NameIndex, with key: NameIndex? = nil) {
        dependencies?.insert(type: type, key: key)
    }

    mutating func depend(onMissing id: String) { dependencies?.insert(missing: id) }
}
