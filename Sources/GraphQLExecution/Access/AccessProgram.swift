import RelayJSON
@_spi(Rooms) import RelayRecords

/// Rules for one identity and one state, compiled to plain steps, so that asking them counts no references.
///
/// A step tests one thing and says where to go on if it is so, and where if it is not: `any`, `all` and `not` are nothing
/// else. What a rule says of a record behind a link is a rule of its own, which the step enters.
///
/// Not Sendable: it remembers what it has found out. Nothing is added while a rule is asked, and nothing reads what is
/// written at that moment, so exclusive access is not checked.
final class AccessProgram {
    /// Where to go on.
    struct Target: BitwiseCopyable, Hashable {
        /// A step's number, or one of these.
        let rawValue: Int32

        static let met = Target(rawValue: -1)
        static let unmet = Target(rawValue: -2)
        /// Swift code could not decide. Then the whole rule is not met, not even by a `not`.
        static let failed = Target(rawValue: -3)

        @inline(__always) var isStep: Bool { rawValue >= 0 }

        static func constant(_ isMet: Bool) -> Target { isMet ? met : unmet }
    }

    struct Step: BitwiseCopyable {
        enum Kind: UInt8, BitwiseCopyable {
            /// The record is one of the operands.
            case isRecord
            case isNull
            case isOneOf
            /// The field links to, or its list has, one of the operands.
            case links
            /// The field links to a record that meets the rule at `inner`.
            case behind
            case handler
        }

        let kind: Kind
        var keyNumber: UInt32 = 0
        /// The operands' numbers; of a handler, its own.
        var first: Int32 = 0
        var count: Int32 = 0
        /// Operands behind these: records that do not exist, to which links lead nowhere.
        var absentCount: Int32 = 0
        var areAbsentNoted = false
        var inner = Target.unmet
        let ifMet: Target
        let ifUnmet: Target

        /// The shape that was seen last, and the key's slot in it: records of one list mostly have the same.
        var shape: UnsafeRawPointer?
        var slot: Int32 = -1
        /// What is known of records behind the link: many records link to the same ones. The last one is asked for most.
        var known = VerdictTable()
        var last = UInt32.max
        var isLastMet = false

        var key: NameIndex { NameIndex(rawValue: keyNumber) }
    }

    struct Operand: BitwiseCopyable {
        enum Kind: UInt8, BitwiseCopyable { case bool, int, double, text, record, other }

        let kind: Kind
        /// The value, or the place of its text in ``text``.
        let word: UInt64
        var length: Int = 0
    }

    let identity: Identity
    @exclusivity(unchecked) private(set) var snapshot: Snapshot
    @exclusivity(unchecked) private var steps = PlainStorage<Step>()
    @exclusivity(unchecked) private var operands = PlainStorage<Operand>()
    @exclusivity(unchecked) private var text = PlainStorage<UInt8>()
    /// The operands as they are; null for records.
    @exclusivity(unchecked) private var values: [JSONValue] = []
    @exclusivity(unchecked) private var handlers: [(handler: AccessHandler, viewer: Viewer?)] = []
    /// The fields that each step reads.
    @exclusivity(unchecked) private var keys: [[NameIndex]] = []

    init(_ identity: Identity, _ snapshot: Snapshot) {
        self.identity = identity
        self.snapshot = snapshot
    }

    deinit { forget() }

    private func forget() {
        for index in 0..<steps.count { steps.address(index).pointee.known.deallocate() }
    }

    /// Forgets all rules.
    func move(to snapshot: Snapshot) {
        forget()
        self.snapshot = snapshot
        steps.removeAll()
        operands.removeAll()
        text.removeAll()
        values = []
        handlers = []
        keys = []
    }

    // MARK: Asking

    /// Whether a record meets a rule.
    @inline(__always)
    func isMet(
        _ rule: Target, by record: RecordIndex, _ row: Row, _ dependencies: inout Dependencies?
    ) -> Bool {
        run(rule, record, row, &dependencies) == .met
    }

    /// - Returns: met, unmet or failed.
    private func run(
        _ rule: Target, _ record: RecordIndex, _ row: Row, _ dependencies: inout Dependencies?
    ) -> Target {
        var target = rule
        while target.isStep {
            let step = steps.address(Int(target.rawValue))
            let outcome: Target
            switch step.pointee.kind {
            case .isRecord: outcome = .constant(hasOperand(step, record))
            case .handler: outcome = ask(step, record, &dependencies)
            case .isNull, .isOneOf, .links, .behind:
                if dependencies != nil {
                    dependencies?.insert(record, keys[Int(target.rawValue)], for: self)
                }
                if let slot = slot(step, row) {
                    outcome = test(step, slot, record, row, &dependencies)
                } else {
                    outcome = .constant(step.pointee.kind == .isNull)
                }
            }
            if outcome == .failed { return .failed }
            target = outcome == .met ? step.pointee.ifMet : step.pointee.ifUnmet
        }
        return target
    }

    @inline(__always)
    private func test(
        _ step: UnsafeMutablePointer<Step>, _ slot: Int, _ record: RecordIndex, _ row: Row,
        _ dependencies: inout Dependencies?
    ) -> Target {
        let tag = row.tag(slot)
        switch step.pointee.kind {
        case .isOneOf:
            return .constant(
                tag == .json ? isOneOf(step, slot, row) : hasOperand(step, slot, tag, row))
        case .links:
            if tag == .link {
                let linked = row.link(slot)
                let isMet = hasOperand(step, linked)
                if dependencies != nil { note(step, isMet ? linked : nil, &dependencies) }
                return .constant(isMet)
            }
            return .constant(tag == .links && listsOperand(step, record, &dependencies))
        case .behind:
            guard tag == .link else { return .unmet }
            let linked = row.link(slot)
            if step.pointee.last == linked.rawValue { return .constant(step.pointee.isLastMet) }
            return behind(step, linked, &dependencies)
        case .isNull:
            guard tag == .link else { return .constant(row.holds(.null, under: step.pointee.key)) }
            // It may be deleted, or created.
            let linked = row.link(slot)
            dependencies?.insert(linked, [], for: self)
            return .constant(snapshot.row(linked) == nil)
        case .isRecord, .handler: return .unmet
        }
    }

    /// The slot of the step's field, if it has a value.
    ///
    /// A shape is known by its address: the state that is held has the rows, and these have their shapes.
    @inline(__always)
    private func slot(_ step: UnsafeMutablePointer<Step>, _ row: Row) -> Int? {
        let shape = row.shapeIdentity
        if step.pointee.shape != shape {
            step.pointee.slot = row.shape.slot(of: step.pointee.key).map(Int32.init) ?? -1
            step.pointee.shape = shape
        }
        let slot = Int(step.pointee.slot)
        return slot >= 0 && row.tag(slot) != .absent ? slot : nil
    }

    @inline(__always)
    private func hasOperand(_ step: UnsafeMutablePointer<Step>, _ record: RecordIndex) -> Bool {
        let first = Int(step.pointee.first)
        for index in first..<first + Int(step.pointee.count)
        where operands.address(index).pointee.word == UInt64(record.rawValue) {
            return true
        }
        return false
    }

    private func listsOperand(
        _ step: UnsafeMutablePointer<Step>, _ owner: RecordIndex,
        _ dependencies: inout Dependencies?
    ) -> Bool {
        let first = Int(step.pointee.first)
        let found = (first..<first + Int(step.pointee.count)).lazy.map(record).first {
            snapshot.position(of: $0, in: step.pointee.key, of: owner) != nil
        }
        if dependencies != nil { note(step, found, &dependencies) }
        return found != nil
    }

    /// - Parameter operand: the number of an operand that is a record.
    private func record(_ operand: Int) -> RecordIndex {
        RecordIndex(rawValue: UInt32(truncatingIfNeeded: operands.address(operand).pointee.word))
    }

    /// Records what else the outcome depends on: the record that is linked to may be deleted, and the others created.
    private func note(
        _ step: UnsafeMutablePointer<Step>, _ found: RecordIndex?,
        _ dependencies: inout Dependencies?
    ) {
        if let found { dependencies?.insert(found, [], for: self) }
        // They are the same for all records.
        if step.pointee.absentCount == 0 || step.pointee.areAbsentNoted { return }
        step.pointee.areAbsentNoted = true
        let absent = Int(step.pointee.first) + Int(step.pointee.count)
        for operand in absent..<absent + Int(step.pointee.absentCount) {
            dependencies?.insert(record(operand), [], for: self)
        }
    }

    /// As ``Row/holds(_:under:)``, of a value that is no JSON text.
    @inline(__always)
    private func hasOperand(
        _ step: UnsafeMutablePointer<Step>, _ slot: Int, _ tag: Row.Tag, _ row: Row
    ) -> Bool {
        let first = Int(step.pointee.first)
        for index in first..<first + Int(step.pointee.count) {
            let operand = operands.address(index).pointee
            let isEqual =
                switch (operand.kind, tag) {
                case (.bool, .true): operand.word == 1
                case (.bool, .false): operand.word == 0
                case (.int, .int): operand.word == row.word(slot)
                case (.int, .double):
                    row.double(slot) == Double(Int64(bitPattern: operand.word))
                case (.double, .int): Double(row.int(slot)) == Double(bitPattern: operand.word)
                case (.double, .double): row.double(slot) == Double(bitPattern: operand.word)
                case (.text, .string): isText(operand, slot, row)
                case (.other, _): row.holds(values[index], under: step.pointee.key)
                default: false
                }
            if isEqual { return true }
        }
        return false
    }

    private func isText(_ operand: Operand, _ slot: Int, _ row: Row) -> Bool {
        row.withText(slot) { found in
            found.count == operand.length
                && (operand.length == 0
                    || found.elementsEqual(
                        UnsafeBufferPointer(
                            start: text.address(Int(operand.word)), count: operand.length)))
        }
    }

    /// The same of a JSON text, mostly a list.
    private func isOneOf(_ step: UnsafeMutablePointer<Step>, _ slot: Int, _ row: Row) -> Bool {
        let first = Int(step.pointee.first)
        let values = values[first..<first + Int(step.pointee.count)]
        if let elements = row.leaf(slot)?.array {
            return elements.contains { values.contains($0.canonical) }
        }
        return values.contains { row.holds($0, under: step.pointee.key) }
    }

    private func behind(
        _ step: UnsafeMutablePointer<Step>, _ linked: RecordIndex,
        _ dependencies: inout Dependencies?
    ) -> Target {
        let outcome: Target
        if let isMet = step.pointee.known[linked] {
            outcome = .constant(isMet)
        } else {
            // If it does not exist, it may be created.
            dependencies?.insert(linked, [], for: self)
            outcome =
                snapshot.row(linked).map { run(step.pointee.inner, linked, $0, &dependencies) }
                ?? .unmet
            if outcome == .failed { return outcome }
            step.pointee.known.insert(linked, outcome == .met)
        }
        step.pointee.last = linked.rawValue
        step.pointee.isLastMet = outcome == .met
        return outcome
    }

    private func ask(
        _ step: UnsafeMutablePointer<Step>, _ record: RecordIndex,
        _ dependencies: inout Dependencies?
    ) -> Target {
        let reads = dependencies == nil ? nil : ReadLog()
        defer { if let reads { dependencies?.insert(reads, for: self) } }
        let (handler, viewer) = handlers[Int(step.pointee.first)]
        let decision = handler.decide(
            AccessCall(viewer: viewer, record: record, snapshot: snapshot, reads: reads))
        return decision.map(Target.constant) ?? .failed
    }
}

// MARK: Compiling

extension AccessProgram {
    /// Adds a rule.
    /// - Returns: its first step, or what it comes to for all records.
    func add(_ rule: AccessRule) -> Target {
        add(ResolvedRule(rule, for: identity, snapshot.symbols), ifMet: .met, ifUnmet: .unmet)
    }

    /// What comes after a step is added before it.
    private func add(_ rule: ResolvedRule, ifMet: Target, ifUnmet: Target) -> Target {
        switch rule {
        case .constant(let isMet): return isMet ? ifMet : ifUnmet
        case .all(let rules):
            return rules.reversed().reduce(ifMet) { add($1, ifMet: $0, ifUnmet: ifUnmet) }
        case .any(let rules):
            return rules.reversed().reduce(ifUnmet) { add($1, ifMet: ifMet, ifUnmet: $0) }
        case .not(let rule): return add(rule, ifMet: ifUnmet, ifUnmet: ifMet)
        case .handler(let handler):
            handlers.append((handler, identity.keeping(claims: handler.claims).viewer))
            return append(
                Step(
                    kind: .handler, first: Int32(handlers.count - 1), ifMet: ifMet,
                    ifUnmet: ifUnmet))
        case .field(let test):
            var step = Step(kind: test.kind, ifMet: ifMet, ifUnmet: ifUnmet)
            if let key = test.key { step.keyNumber = key.rawValue }
            step.first = Int32(operands.count)
            switch test.expectation {
            case .isNull: break
            case .isOneOf(let values): for value in values { append(value) }
            case .isRecord(let records):
                var absent: [RecordIndex] = []
                func append(_ record: RecordIndex) {
                    self.append(Operand(kind: .record, word: UInt64(record.rawValue)), .null)
                }
                // A record that is asked about exists, whatever is linked to it.
                for record in records {
                    if test.key == nil || snapshot.row(record) != nil {
                        append(record)
                    } else {
                        absent.append(record)
                    }
                }
                absent.forEach(append)
                step.absentCount = Int32(absent.count)
            case .behind(let rule):
                step.inner = add(rule, ifMet: .met, ifUnmet: .unmet)
            }
            step.count = Int32(operands.count) - step.first - step.absentCount
            return append(step, reading: test.key)
        }
    }

    private func append(_ step: Step, reading key: NameIndex? = nil) -> Target {
        steps.append(step)
        keys.append(key.map { [$0] } ?? [])
        return Target(rawValue: Int32(steps.count - 1))
    }

    private func append(_ operand: Operand, _ value: JSONValue) {
        operands.append(operand)
        values.append(value)
    }

    private func append(_ value: JSONValue) {
        let operand: Operand
        switch value {
        case .bool(let isTrue): operand = Operand(kind: .bool, word: isTrue ? 1 : 0)
        case .int(let number): operand = Operand(kind: .int, word: UInt64(bitPattern: number))
        case .double(let number): operand = Operand(kind: .double, word: number.bitPattern)
        case .string(let string):
            let start = text.count
            for byte in string.utf8 { text.append(byte) }
            operand = Operand(
                kind: .text, word: UInt64(start), length: text.count - start)
        case .null, .array, .object: operand = Operand(kind: .other, word: 0)
        }
        append(operand, value)
    }
}

extension ResolvedTest {
    fileprivate var kind: AccessProgram.Step.Kind {
        switch expectation {
        case .isNull: .isNull
        case .isOneOf: .isOneOf
        case .isRecord: key == nil ? .isRecord : .links
        case .behind: .behind
        }
    }
}
