import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords

extension Normalizer {
    /// A field of a record.
    struct RecordField: Hashable {
        let record: RecordIndex
        let key: NameIndex
    }

    /// The errors of a field, each once, in order of arrival.
    struct FieldErrors {
        private(set) var values: [JSONValue] = []
        private var told: Set<JSONValue> = []

        init(_ errors: [JSONValue]) {
            for error in errors { append(error) }
        }

        mutating func append(_ error: JSONValue) {
            if told.insert(error).inserted { values.append(error) }
        }
    }

    /// A record and what is selected on it.
    struct Place {
        let record: RecordIndex
        let plan: NormalizationPlan
    }

    func selection(of place: Place) -> FlatSelection {
        let type = place.plan.concreteType ?? snapshot.type(of: place.record) ?? symbols.name("")
        return place.plan.flat(type) { [snapshot] in snapshot.type(type, has: $0) }
    }

    /// The field of a place with this response name.
    func field(_ name: String, of place: Place) -> FlatSelection.Field? {
        let flat = selection(of: place)
        var name = name
        return name.withUTF8 { flat.place(of: $0) }.map { flat.fields[$0] }
    }

    /// The record's own name for a response name.
    func name(_ name: String, of place: Place) -> String {
        field(name, of: place).map { symbols.nameString($0.key) } ?? name
    }

    /// The record at a path of the response; nil if there is none.
    ///
    /// - Parameter visit: called with each field on the path: its record and its name.
    func locate(
        _ path: ArraySlice<JSONValue>, _ plan: NormalizationPlan, _ root: RecordIndex,
        visit: (Place, String) -> Void = { _, _ in }
    ) -> Place? {
        var place = Place(record: root, plan: plan)
        var path = path
        while case .string(let name)? = path.popFirst() {
            visit(place, name)
            guard let field = field(name, of: place), let child = field.child,
                let row = snapshot.rows.row(place.record), let slot = row.slot(of: field.key)
            else { return nil }
            switch row.tag(slot) {
            case .link:
                place = Place(record: row.link(slot), plan: child)
            case .links:
                guard let index = path.popFirst()?.int,
                    let record = row.links(slot).record(at: index)
                else { return nil }
                place = Place(record: record, plan: child)
            default: return nil
            }
        }
        return path.isEmpty ? place : nil
    }

    /// The fields with handlers that a part at a path belongs to: the last field on the path, or the one before it.
    /// Fields further away keep nothing of the part.
    /// - Parameter part: what the part is to the field; it is passed the name of the last field if that is not the one
    ///   with the handler.
    func handled(
        at path: ArraySlice<JSONValue>, _ plan: NormalizationPlan, _ root: RecordIndex,
        part: (_ member: String?) -> FieldPart
    ) -> [Handled] {
        var (last, beforeLast): ([Handled], [Handled]) = ([], [])
        var member: String?
        _ = locate(path, plan, root) { place, name in
            beforeLast = last
            member = self.name(name, of: place)
            last = selection(of: place).handles.filter { ($0.alias ?? $0.name) == name }
                .map { Handled(record: place.record, handle: $0, part: part(nil)) }
        }
        return last
            + beforeLast.map { Handled(record: $0.record, handle: $0.handle, part: part(member)) }
    }

    /// Where a server error belongs.
    enum ErrorPlace {
        /// On the field that is null because of it.
        case field(NameIndex, of: RecordIndex)
        /// On an element of this list; nil: of a list of leaves.
        case element(NameIndex, of: RecordIndex, LinkList?)
    }

    /// On the first null on its path (GraphQL §6.4.4); inside a list the error is kept with the list.
    func place(
        of error: JSONValue, _ plan: NormalizationPlan, _ root: RecordIndex
    ) -> ErrorPlace? {
        guard case .array(let path)? = error["path"] else { return nil }
        var place = Place(record: root, plan: plan)
        var rest = path[...]
        while case .string(let name)? = rest.popFirst() {
            guard let field = field(name, of: place) else { return nil }
            guard let row = snapshot.rows.row(place.record), let slot = row.slot(of: field.key)
            else { return .field(field.key, of: place.record) }
            switch row.tag(slot) {
            case .null, .failed: return .field(field.key, of: place.record)
            case .link:
                guard let child = field.child else { return nil }
                place = Place(record: row.link(slot), plan: child)
            case .links:
                guard let child = field.child, let index = rest.popFirst()?.int else { return nil }
                guard let record = row.links(slot).record(at: index) else {
                    return .element(field.key, of: place.record, row.links(slot))
                }
                place = Place(record: record, plan: child)
            default:
                // A list of leaves with a null in it.
                return rest.isEmpty ? nil : .element(field.key, of: place.record, nil)
            }
        }
        return nil
    }

    /// Puts an error where it belongs; not on a field that has a value, nor on a list that has changed since.
    /// - Parameter isOfPart: whether the errors already there may be from the same response: they then stay. An
    ///   independent response replaces them.
    mutating func put(_ error: JSONValue, at place: ErrorPlace, isOfPart: Bool) {
        switch place {
        case .element(let key, let record, let list):
            guard list == nil || isList(list, of: record, key) else { return }
            let field = RecordField(record: record, key: key)
            if elementErrors[field] == nil {
                elementErrors[field] = FieldErrors(isOfPart ? knownElementErrors(of: field) : [])
            }
            elementErrors[field]?.append(error)
        case .field(let key, let record):
            let field = RecordField(record: record, key: key)
            if failures[field] == nil {
                guard let known = knownErrors(of: field) else { return }
                // Errors of the field's own value are from this response.
                let own = isOfPart || errors.isEmpty ? [] : Set(errors)
                failures[field] = FieldErrors(isOfPart ? known : known.filter(own.contains))
            }
            failures[field]?.append(error)
        }
    }

    /// The errors of a field that has no value; nil if it has one.
    private func knownErrors(of field: RecordField) -> [JSONValue]? {
        guard let row = snapshot.rows.row(field.record) else { return nil }
        guard let slot = row.slot(of: field.key), row.tag(slot) != .null else { return [] }
        guard row.tag(slot) == .failed else { return nil }
        return row.withText(slot) { try? JSONValue(parsing: $0) }?.array ?? []
    }

    /// Whether a field still holds this list. The answer is cached: many errors may concern one list, or a few in turn.
    private mutating func isList(
        _ list: LinkList?, of record: RecordIndex, _ key: NameIndex
    ) -> Bool {
        let field = RecordField(record: record, key: key)
        let current = self.list(key, of: record)
        if let known = compared[field], known.list === list, known.current === current {
            return known.isSame
        }
        let isSame = list == current
        compared[field] = (list, current, isSame)
        return isSame
    }

    /// A list is replaced: errors of its elements are dropped unless the response repeats them.
    mutating func renewElementErrors(of key: NameIndex, _ record: RecordIndex, _ old: Row) {
        guard let errors = symbols.elementErrorsKey(of: key), old.slot(of: errors) != nil
        else { return }
        elementErrors[RecordField(record: record, key: key)] = FieldErrors([])
    }

    /// Writes the errors of fields without a value and of list elements. Equal errors have equal texts, because fields
    /// are compared by them.
    mutating func settleErrors() {
        for (field, errors) in Self.inOrder(failures) {
            write(
                symbols.nameString(field.key), .failed(JSONValue.array(errors.values).canonical),
                of: field.record)
        }
        // An error of an element is kept in a field of its own: the list has a value.
        for (list, errors) in Self.inOrder(elementErrors)
        where errors.values != knownElementErrors(of: list) {
            write(
                elementErrorsName(of: list),
                errors.values.isEmpty ? .unset : .json(JSONValue.array(errors.values).canonical),
                of: list.record)
        }
        (failures, elementErrors) = ([:], [:])
    }

    /// In a fixed order, because it goes into a log.
    private static func inOrder(
        _ errors: [RecordField: FieldErrors]
    ) -> [(key: RecordField, value: FieldErrors)] {
        errors.sorted {
            ($0.key.record.rawValue, $0.key.key.rawValue)
                < ($1.key.record.rawValue, $1.key.key.rawValue)
        }
    }

    private func knownElementErrors(of list: RecordField) -> [JSONValue] {
        guard
            case .json(.array(let errors))? = snapshot.fieldValue(
                elementErrorsName(of: list), of: list.record)
        else { return [] }
        return errors
    }

    private func elementErrorsName(of list: RecordField) -> String {
        symbols.nameString(list.key) + Symbols.elementErrorsSuffix
    }

    /// The list of a field; nil if there is none.
    func list(_ key: NameIndex, of record: RecordIndex) -> LinkList? {
        guard let row = snapshot.rows.row(record), let slot = row.slot(of: key),
            row.tag(slot) == .links
        else { return nil }
        return row.links(slot)
    }

    /// Inserts records into a list at an index.
    mutating func splice(
        _ items: [RecordIndex?], into key: NameIndex, of record: RecordIndex, at index: Int
    ) {
        let ids = items.map { $0.map { DataID(symbols.idString($0)) } }
        write(
            symbols.nameString(key), .splice(start: index, deleted: items.count, ids), of: record)
    }

    private mutating func write(_ key: String, _ value: FieldValue, of record: RecordIndex) {
        guard let type = snapshot.type(of: record) else { return }
        var writes = WriteSetWriter()
        writes.write(
            DataID(symbols.idString(record)), type: symbols.nameString(type),
            fields: [(key: key, value: value)])
        apply(writes.writeSet)
    }
}

extension LinkList {
    /// The link at an index that does not count holes.
    func record(at index: Int64) -> RecordIndex? {
        guard index >= 0, index < Int64(count) else { return nil }
        if count == end {
            if case .link(let record) = self[Int(index)] { return record }
            return nil
        }
        return records[Int(index)]
    }
}
