import RelayJSON
@_spi(Rooms) import RelayRecords

// Resolving fields (GraphQL §6.4.2), by kind of resolver.

extension Execution {
    /// Finds the value of a field and writes it.
    mutating func writeValue(
        of field: FieldPlan, _ object: ObjectValue
    ) throws(ExecutionError) -> Outcome {
        if case .value(let value) = object, field.resolver.readsItsObject {
            return writeJSON(value[field.name] ?? .null, field.shape, field)
        }
        switch field.resolver {
        case .typename(let json):
            writer.raw(json)
            return .written
        case .source:
            if case .value(let value) = source { return writeJSON(value, field.shape, field) }
            return writeObjectValue(source, field.shape, field)
        case .connectionPart(let part):
            return writePart(part, of: object, field)
        case .payloadPart(let part):
            return writePart(part, of: object, field)
        case .lookup(let lookup):
            let record = find(
                lookup, try arguments(of: field)[lookup.argument], for: .lookup, field)
            return writeRecordReference(record, field.shape, field)
        case .nodes(let argument):
            return writeNodes(try arguments(of: field)[argument]?.array ?? [], field)
        case .introspection:
            return writeIntrospection(
                of: object, field, try arguments(of: field), field.shape)
        case .member:
            return .null
        case .custom(let resolver):
            return try writeCustom(resolver, object, field)
        case .stored(let key):
            guard let record = record(of: object), let row = snapshot.row(record) else {
                return .null
            }
            return writeStored(row, row.slot(of: key), field.shape, field)
        case .id:
            guard let record = record(of: object) else { return .null }
            writer.write(utf8: snapshot.symbols.id(record))
            return .written
        case .connection(let source, let filters):
            guard let list = links(source, of: object) else { return .null }
            let arguments = try arguments(of: field)
            let mark = listMark(source, of: object)
            let page = try PageArguments(arguments) { readCursor($0, of: mark) }
            let isClosed = isClosed(field)
            let conditions = isClosed ? [] : conditions(filters, arguments, field)
            let connection = ConnectionPage(list, mark, page) {
                isIncluded($0, conditions, isClosed: isClosed, field)
            }
            return writeObjectValue(.connection(connection), field.shape, field)
        case .links(let source, let filters):
            guard let list = links(source, of: object) else { return .null }
            let arguments = try arguments(of: field)
            let isClosed = isClosed(field)
            let conditions = isClosed ? [] : conditions(filters, arguments, field)
            let records = list.records.filter {
                isIncluded($0, conditions, isClosed: isClosed, field)
            }
            return writeLinks(records, field.shape, field, areKnownVisible: true)
        case .count(let count):
            writer.write(Int64(self.count(count, of: object, field)))
            return .written
        }
    }

    private func record(of object: ObjectValue) -> RecordIndex? {
        if case .record(let record) = object { record } else { nil }
    }

    // MARK: Look-ups

    /// The record that an argument names, by its id or a unique field's value.
    private mutating func find(
        _ lookup: Lookup, _ argument: JSONValue?, for exit: AccessExit, _ field: FieldPlan
    ) -> RecordIndex? {
        let text: String
        switch argument {
        case .string(let value): text = value
        case .int(let value): text = String(value)
        default: return nil
        }
        // Looked for again below each element of a list; a long text costs as much as many elements.
        remainingVisits -= text.utf8.count / 64
        let found = findVisible(text, lookup, for: exit)
        if dependencies == nil { return found }
        if let found {
            // The value may move to another record; then that one is found.
            depend(on: found, lookup.uniqueKeys.map(\.key), for: field)
        }
        // With several unique fields, a value of an earlier one comes before that of a later one.
        if found == nil || lookup.uniqueKeys.count > 1 {
            for unique in lookup.uniqueKeys { depend(onRecordsOf: unique.type, with: unique.key) }
        }
        // A record with this id comes before one with this value.
        if found.map({ snapshot.symbols.idString($0) }) != text { depend(onMissing: text) }
        return found
    }

    private mutating func writeNodes(_ ids: [JSONValue], _ field: FieldPlan) -> Outcome {
        let records = ids.map { id -> RecordIndex? in
            guard let id = id.string else { return nil }
            let found = snapshot.existing(id)
            if found == nil { depend(onMissing: id) }
            return found
        }
        return writeLinks(records, field.shape, field)
    }

    /// The record that a text names among those that are visible.
    private mutating func findVisible(
        _ text: String, _ lookup: Lookup, for exit: AccessExit
    ) -> RecordIndex? {
        guard let access else { return snapshot.find(text, lookup) }
        return access.find(text, lookup, for: exit, in: snapshot, &dependencies)
    }

    // MARK: Lists

    /// How many links of a list lead to a record that matches: the count that the store keeps, if it knows that all of
    /// them are visible.
    private mutating func count(
        _ count: LinkCountPlan, of object: ObjectValue, _ field: FieldPlan
    ) -> Int {
        if let access, access.seesNone(ofTypes: count.nodes) { return 0 }
        let owner = record(of: object).flatMap { snapshot.type(of: $0) }
        if let name = count.name, access?.seesAll(of: count, in: owner) ?? true {
            return record(of: object).flatMap { snapshot.indexes.count(name, of: $0) } ?? 0
        }
        if let record = record(of: object) {
            depend(on: record, [count.key], for: field)
            // A hidden list has no elements.
            guard mayRead(count.key, of: record) else { return 0 }
        }
        guard let list = links(.field(count.key), of: object) else { return 0 }
        var values: [RequiredValue] = []
        for condition in count.conditions { values.append(required(condition, field)) }
        return list.records.count { $0 != nil && isIncluded($0, values, field) }
    }

    private mutating func links(_ source: LinkSource, of object: ObjectValue) -> LinkList? {
        switch source {
        case .records(let type):
            if let access, access.seesNone(ofTypes: [type]) { return .empty }
            depend(onRecordsOf: type)
            return snapshot.indexes.records(of: type)
        case .field(let key):
            guard let record = record(of: object), let row = snapshot.row(record) else {
                return nil
            }
            guard let slot = row.slot(of: key), row.tag(slot) == .links else { return .empty }
            return row.links(slot)
        }
    }

    private mutating func writeLinks(
        _ records: [RecordIndex?], _ shape: OutputShape, _ field: FieldPlan,
        areKnownVisible: Bool = false
    ) -> Outcome {
        switch shape {
        case .nonNull(let inner):
            return require(
                writeLinks(records, inner, field, areKnownVisible: areKnownVisible), field)
        case .list(let element):
            return writeList(records, element, field) { execution, record, shape in
                execution.writeRecordReference(
                    record, shape, field, isKnownVisible: areKnownVisible)
            }
        case .leaf, .object:
            return fail("links were found where a \(shape.description) is expected", field)
        }
    }

    private mutating func conditions(
        _ filters: [LinkFilter], _ arguments: JSONObject, _ field: FieldPlan
    ) -> [RequiredValue] {
        var conditions: [RequiredValue] = []
        for filter in filters {
            guard let value = arguments[filter.argument], value != .null else { continue }
            conditions.append(
                required(
                    LinkCondition(key: filter.key, value: value, lookup: filter.lookup), field))
        }
        return conditions
    }

    /// What a condition comes to now: the record that it names is looked up once, not for each link.
    private mutating func required(_ condition: LinkCondition, _ field: FieldPlan) -> RequiredValue
    {
        guard let lookup = condition.lookup, condition.value != .null else {
            return RequiredValue(key: condition.key, test: .value(condition.value))
        }
        let record = find(lookup, condition.value, for: .filter, field)
        if let record { depend(on: record, [], for: field) }
        return RequiredValue(key: condition.key, test: .link(record))
    }

    /// Whether a link belongs to a list: its record exists and has the required values.
    /// - Parameter isClosed: no record of the list is visible, so that only null elements remain.
    private mutating func isIncluded(
        _ record: RecordIndex?, _ conditions: [RequiredValue], isClosed: Bool = false,
        _ field: FieldPlan
    ) -> Bool {
        guard remainingVisits >= 0, remainingHiddenVisits >= 0 else { return false }
        if isClosed, record != nil {
            remainingHiddenVisits -= 1
            return false
        }
        // Without the first element beyond the limit, the result would be within it.
        if let record, dependencies != nil {
            depend(on: record, conditions.map(\.key), for: field)
        }
        let row = record.flatMap { snapshot.row($0) }
        if let record, let row, !isVisible(record, row, for: .list) {
            remainingHiddenVisits -= 1
            return false
        }
        remainingVisits -= 1
        guard remainingVisits >= 0 else { return false }
        guard let record else { return true }  // a null element stays what it is
        guard let row else { return false }
        return conditions.allSatisfy { condition in
            // A hidden field is null.
            mayRead(condition.key, of: record) ? condition.isMet(by: row) : condition.isMetByNull
        }
    }

    // MARK: Parts of connections and payloads

    mutating func writePart(
        _ part: ConnectionPart, of object: ObjectValue, _ field: FieldPlan
    ) -> Outcome {
        switch (part, object) {
        case (.edges, .connection(let page)):
            return writeEdges(page.edges, field.shape, field)
        case (.pageInfo, .connection(let page)):
            return writeObjectValue(.pageInfo(page), field.shape, field)
        case (.node, .edge(let edge)):
            return writeRecordReference(
                edge.record, field.shape, field, isKnownVisible: edge.isVisible)
        case (.cursor, .edge(let edge)):
            writeCursor(edge)
        case (.hasNextPage, .pageInfo(let page)):
            writer.write(page.hasNextPage)
        case (.hasPreviousPage, .pageInfo(let page)):
            writer.write(page.hasPreviousPage)
        case (.startCursor, .pageInfo(let page)):
            guard let edge = page.edges.first else { return .null }
            writeCursor(edge)
        case (.endCursor, .pageInfo(let page)):
            guard let edge = page.edges.last else { return .null }
            writeCursor(edge)
        case (_, .value(let value)):
            return writeJSON(value[field.name] ?? .null, field.shape, field)
        default:
            return .null
        }
        return .written
    }

    private mutating func writeEdges(
        _ edges: [ConnectionEdge], _ shape: OutputShape, _ field: FieldPlan
    ) -> Outcome {
        switch shape {
        case .nonNull(let inner):
            return require(writeEdges(edges, inner, field), field)
        case .list(let element):
            return writeList(edges, element, field) { execution, edge, shape in
                execution.writeObjectValue(.edge(edge), shape, field)
            }
        case .leaf, .object:
            return fail("edges were found where a \(shape.description) is expected", field)
        }
    }

    private mutating func writePart(
        _ part: PayloadPart, of object: ObjectValue, _ field: FieldPlan
    ) -> Outcome {
        guard case .payload(let payload) = object else { return .null }
        switch part {
        case .record:
            return writeRecordReference(payload.record, field.shape, field)
        case .edge:
            let edge = visible(payload.edge)
            return writeObjectValue(edge.map { .edge(self.edge($0)) }, field.shape, field)
        case .parent:
            return writeRecordReference(payload.parent, field.shape, field)
        case .deletedID:
            return writeJSON(payload.deletedID.map(JSONValue.string) ?? .null, field.shape, field)
        case .clientMutationID:
            return writeJSON(payload.clientMutationID ?? .null, field.shape, field)
        }
    }

    // MARK: Swift code

    private mutating func writeCustom(
        _ resolver: any CustomFieldResolver, _ object: ObjectValue, _ field: FieldPlan
    ) throws(ExecutionError) -> Outcome {
        let reads = dependencies == nil ? nil : ReadLog()
        let call = FieldCall(
            object: object, arguments: try arguments(of: field), identity: identity,
            snapshot: snapshot, reads: reads)
        defer { if let reads { dependencies?.insert(reads, for: field) } }
        let value: JSONValue
        do {
            value = try resolver.resolve(call)
        } catch let error as ExecutionError {
            throw error
        } catch {
            throw ExecutionError("\(error)")
        }
        return writeJSON(value, field.shape, field)
    }
}

/// What a field of a linked record must be.
private struct RequiredValue {
    enum Test {
        case value(JSONValue)
        /// A link to this record; nil if there is none of the name, so that no link is right.
        case link(RecordIndex?)
    }

    let key: NameIndex
    let test: Test

    var isMetByNull: Bool { if case .value(.null) = test { true } else { false } }

    func isMet(by row: Row) -> Bool {
        switch test {
        case .value(let value):
            return row.holds(value, under: key)
        case .link(let record):
            guard let record, let slot = row.slot(of: key), row.tag(slot) == .link else {
                return false
            }
            return row.link(slot) == record
        }
    }
}

extension PageArguments {
    /// Takes first, after, last and before from a connection field's arguments.
    /// - Parameter read: what a text names; nil if it is not a cursor of the connection.
    init(
        _ arguments: JSONObject, _ read: (String) -> ConnectionCursor?
    ) throws(ExecutionError) {
        first = try Self.count("first", arguments)
        last = try Self.count("last", arguments)
        after = try Self.cursor("after", arguments, read)
        before = try Self.cursor("before", arguments, read)
    }

    private static func count(
        _ name: String, _ arguments: JSONObject
    ) throws(ExecutionError) -> Int? {
        guard let value = arguments[name]?.int else { return nil }
        guard value >= 0 else {
            throw ExecutionError(
                "Argument \"\(name)\" must be a non-negative integer, not \(value).",
                code: .badUserInput)
        }
        return Int(clamping: value)
    }

    private static func cursor(
        _ name: String, _ arguments: JSONObject, _ read: (String) -> ConnectionCursor?
    ) throws(ExecutionError) -> ConnectionCursor? {
        guard let text = arguments[name]?.string else { return nil }
        guard let cursor = read(text) else {
            throw ExecutionError(
                "Argument \"\(name)\" is not a cursor of this connection: \"\(text.shortened)\".",
                code: .badUserInput)
        }
        return cursor
    }
}
