import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords

// Completing values (GraphQL §6.4.3): from what a resolver found to bytes of the field's shape.

extension Execution {
    /// Writes the value in a slot of a row; no slot means that the field was never set.
    mutating func writeStored(
        _ row: Row, _ slot: Int?, _ shape: OutputShape, _ field: FieldPlan
    ) -> Outcome {
        switch shape {
        case .nonNull(let inner):
            return require(writeStored(row, slot, inner, field), field)
        case .leaf(let leaf):
            guard let slot else { return .null }
            return writeLeaf(row, slot, leaf, field)
        case .object(let selection):
            guard let slot, row.tag(slot) == .link else { return .null }
            return writeLink(row.link(slot), selection, field)
        case .list(let element):
            guard let slot else { return .null }
            switch row.tag(slot) {
            case .links:
                let records = row.links(slot).records
                return writeList(records, element, field) { execution, record, shape in
                    execution.writeRecordReference(record, shape, field)
                }
            case .json:
                return writeStoredList(row, slot, element, field)
            default:
                return .null
            }
        }
    }

    /// Writes a list of leaves, which was checked when it was stored.
    private mutating func writeStoredList(
        _ row: Row, _ slot: Int, _ element: OutputShape, _ field: FieldPlan
    ) -> Outcome {
        // Some logs have nulls where none are allowed: numbers that JSON cannot express were written that way.
        if element.hasNonNull, row.withText(slot, { $0.hasNull }), let value = row.leaf(slot) {
            return writeJSON(value, .list(element), field)
        }
        row.withText(slot) { writer.raw($0) }
        return .written
    }

    /// Writes a record that a value refers to, or null if it does not exist.
    /// - Parameter isKnownVisible: it was asked for, as an element of a list.
    mutating func writeRecordReference(
        _ record: RecordIndex?, _ shape: OutputShape, _ field: FieldPlan,
        isKnownVisible: Bool = false
    ) -> Outcome {
        switch shape {
        case .nonNull(let inner):
            return require(
                writeRecordReference(record, inner, field, isKnownVisible: isKnownVisible), field)
        case .object(let selection):
            guard let record else { return .null }
            return writeLink(record, selection, field, isKnownVisible: isKnownVisible)
        case .leaf, .list:
            return fail("a record was found where a \(shape.description) is expected", field)
        }
    }

    private mutating func writeLink(
        _ record: RecordIndex, _ selection: SelectionPlan, _ field: FieldPlan,
        isKnownVisible: Bool = false
    ) -> Outcome {
        guard let row = snapshot.row(record) else {
            // Deleted, or not created yet: if it is created, the result changes.
            depend(on: record, [], for: field)
            return .null
        }
        guard isKnownVisible || isVisible(record, row, for: .link) else {
            depend(on: record, [], for: field)
            return .null
        }
        let fitting: ObjectPlan?
        do throws(ExecutionError) {
            fitting = try selection.plan(for: row.type)
        } catch {
            depend(on: record, [], for: field)
            note(error, at: field)
            return .failed
        }
        guard let plan = fitting else {
            depend(on: record, [], for: field)
            return fail(
                """
                record "\(snapshot.symbols.idString(record))" is of type \
                "\(snapshot.symbols.nameString(row.type))", which does not fit the field's type
                """, field)
        }
        return writeRecord(plan, record, row) ? .written : .failed
    }

    /// Writes an object that is not a record.
    mutating func writeObjectValue(
        _ object: ObjectValue?, _ shape: OutputShape, _ field: FieldPlan
    ) -> Outcome {
        switch shape {
        case .nonNull(let inner):
            return require(writeObjectValue(object, inner, field), field)
        case .object(let selection):
            switch object {
            case nil: return .null
            case .record(let record): return writeLink(record, selection, field)
            case let object?:
                let known: ObjectPlan?
                do throws(ExecutionError) {
                    if let only = selection.onlyPlan {
                        known = only
                    } else {
                        known = try plan(selection, for: object)
                    }
                } catch {
                    note(error, at: field)
                    return .failed
                }
                guard let plan = known else {
                    return fail("the type of an object is not known", field)
                }
                return writeObject(plan, object) ? .written : .failed
            }
        case .leaf, .list:
            return fail("an object was found where a \(shape.description) is expected", field)
        }
    }

    /// The plan for an object of an abstract type that states its own type.
    private func plan(
        _ selection: SelectionPlan, for object: ObjectValue
    ) throws(ExecutionError) -> ObjectPlan? {
        guard case .value(let value) = object, let name = value["__typename"]?.string,
            let type = snapshot.symbols.findName(name)
        else { return nil }
        return try selection.plan(for: type)
    }

    /// `[…]` of anything, each element written by the closure.
    mutating func writeList<Element>(
        _ elements: [Element], _ shape: OutputShape, _ field: FieldPlan,
        _ write: (inout Execution, Element, OutputShape) -> Outcome
    ) -> Outcome {
        writer.raw(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { writer.raw(UInt8(ascii: ",")) }
            let start = writer.count
            let errorsBefore = errors.count
            var outcome = write(&self, element, shape)
            if isOver { return .failed }
            if case .nonNull = shape { outcome = require(outcome, field) }
            if errors.count > errorsBefore { addPath(.index(index), toErrorsFrom: errorsBefore) }
            switch outcome {
            case .written: continue
            case .null, .failed:
                if case .nonNull = shape { return .failed }
                writer.truncate(to: start)
                writer.writeNull()
            }
        }
        writer.raw(UInt8(ascii: "]"))
        return .written
    }

    // MARK: Leaves

    private mutating func writeLeaf(
        _ row: Row, _ slot: Int, _ leaf: LeafShape, _ field: FieldPlan
    ) -> Outcome {
        switch leaf {
        case .scalar(let kind):
            switch row.writeLeaf(slot, as: kind, to: &writer) {
            case .written: return .written
            case .null: return .null
            case .mismatch: return fail(leaf.mismatch(row.leaf(slot) ?? "(link)"), field)
            }
        case .enum(_, let values):
            switch row.tag(slot) {
            case .null, .absent, .failed: return .null
            case .string:
                let name = row.withText(slot) { String(decoding: $0, as: UTF8.self) }
                return writeEnum(name, values, leaf, field)
            default: return fail(leaf.mismatch(row.leaf(slot) ?? "(link)"), field)
            }
        }
    }

    /// Writes a leaf, or a list of leaves, from a JSON value.
    mutating func writeJSON(
        _ value: JSONValue, _ shape: OutputShape, _ field: FieldPlan
    ) -> Outcome {
        switch (shape, value) {
        case (.nonNull(let inner), _):
            return require(writeJSON(value, inner, field), field)
        case (_, .null):
            return .null
        case (.list(let element), .array(let values)):
            return writeList(values, element, field) { execution, value, shape in
                execution.writeJSON(value, shape, field)
            }
        case (.object, .string(let id)):
            guard let record = snapshot.symbols.findRecord(id) else {
                depend(onMissing: id)
                return .null
            }
            return writeRecordReference(record, shape, field)
        case (.object, .object):
            return writeObjectValue(.value(value), shape, field)
        case (.leaf(let leaf), _):
            return writeLeaf(value, leaf, field)
        default:
            return fail(
                "\(value.described) was found where a \(shape.description) is expected", field)
        }
    }

    private mutating func writeLeaf(
        _ value: JSONValue, _ leaf: LeafShape, _ field: FieldPlan
    ) -> Outcome {
        switch (leaf, value) {
        case (.enum(_, let values), .string(let name)):
            return writeEnum(name, values, leaf, field)
        case (.scalar(.int), .int(let number)) where Int32(exactly: number) != nil,
            (.scalar(.float), .int(let number)):
            writer.write(number)
        case (.scalar(.id), .int(let number)):
            writer.write(String(number))
        case (.scalar(.float), .double), (.scalar(.any), _):
            guard value.isFinite else { return fail(leaf.mismatch(value), field) }
            writer.write(value)
        case (.scalar(.string), .string), (.scalar(.id), .string), (.scalar(.boolean), .bool):
            writer.write(value)
        default:
            return fail(leaf.mismatch(value), field)
        }
        return .written
    }

    private mutating func writeEnum(
        _ name: String, _ values: Set<ExactText>, _ leaf: LeafShape, _ field: FieldPlan
    ) -> Outcome {
        guard values.contains(ExactText(name)) else {
            return fail(leaf.mismatch(.string(name)), field)
        }
        writer.write(name)
        return .written
    }

    // MARK: Null where a value is required

    mutating func require(_ outcome: Outcome, _ field: FieldPlan) -> Outcome {
        guard case .null = outcome else { return outcome }
        return fail(
            "Cannot return null for non-nullable field \(field.parentType).\(field.name).", field)
    }

    mutating func fail(_ message: String, _ field: FieldPlan) -> Outcome {
        note(ExecutionError(message), at: field)
        return .failed
    }
}

extension LeafShape {
    /// graphql-js's text for a value that does not fit the type.
    func mismatch(_ value: JSONValue) -> String {
        switch self {
        case .scalar(.int): "Int cannot represent non-integer value: \(value.described)"
        case .scalar(.float): "Float cannot represent non numeric value: \(value.described)"
        case .scalar(.string): "String cannot represent value: \(value.described)"
        case .scalar(.boolean): "Boolean cannot represent a non boolean value: \(value.described)"
        case .scalar(.id): "ID cannot represent value: \(value.described)"
        case .scalar(.any): "The scalar cannot represent value: \(value.described)"
        case .enum(let name, _): "Enum \"\(name)\" cannot represent value: \(value.described)"
        }
    }
}

extension OutputShape {
    /// Whether null is not allowed somewhere in it.
    var hasNonNull: Bool {
        switch self {
        case .nonNull: true
        case .list(let element): element.hasNonNull
        case .leaf, .object: false
        }
    }

    var description: String {
        switch self {
        case .leaf: "scalar"
        case .object: "object"
        case .list: "list"
        case .nonNull(let inner): inner.description
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether `null` occurs anywhere in a text, even inside a string.
    fileprivate var hasNull: Bool {
        guard count >= 4 else { return false }
        for place in 0...count - 4 where self[place] == UInt8(ascii: "n") {
            if self[place + 1] == UInt8(ascii: "u"), self[place + 2] == UInt8(ascii: "l"),
                self[place + 3] == UInt8(ascii: "l")
            {
                return true
            }
        }
        return false
    }
}
