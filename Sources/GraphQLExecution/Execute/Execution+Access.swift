@_spi(Rooms) package import RelayRecords

// What the identity may not see is not there.

extension Execution {
    /// Whether a record exists for whom the execution is.
    mutating func isVisible(_ record: RecordIndex, for exit: AccessExit) -> Bool {
        guard let access else { return true }
        return access.isVisible(record, for: exit, &dependencies)
    }

    /// The same of a record with its row: most often one of a type whose records are all visible.
    @inline(__always)
    mutating func isVisible(_ record: RecordIndex, _ row: Row, for exit: AccessExit) -> Bool {
        guard access != nil, row.type != openType else { return true }
        return isVisibleByRule(record, row, for: exit)
    }

    private mutating func isVisibleByRule(
        _ record: RecordIndex, _ row: Row, for exit: AccessExit
    ) -> Bool {
        guard let access else { return true }
        switch access.verdict(record, row, for: exit, &dependencies) {
        case .open:
            openType = row.type
            return true
        case .visible: return true
        case .hidden: return false
        }
    }

    /// Whether no record that a list may have is visible, whatever is in it.
    func isClosed(_ list: FieldPlan) -> Bool {
        guard let access else { return false }
        return access.seesNone(ofTypes: list.listedTypes)
    }

    /// Whether a field of a visible record may be read.
    mutating func mayRead(_ field: NameIndex, of record: RecordIndex) -> Bool {
        guard let access else { return true }
        return access.mayRead(field, of: record, &dependencies)
    }

    /// - Throws: that the field may not be read.
    mutating func checkAccess(
        to field: FieldPlan, _ object: ObjectValue
    ) throws(ExecutionError) {
        guard let access, let rule = field.rule else { return }
        let isAllowed =
            switch (rule, object) {
            case (.record(let key), .record(let record)):
                access.mayRead(key, of: record, &dependencies)
            case (.root(let operation), _): access.mayUse(field.name, of: operation)
            case (.record, _): true
            }
        if !isAllowed { throw access.refusal(of: field) }
    }

    /// The edge of a payload, if its record and the record with the list exist for whom the execution is.
    mutating func visible(_ edge: PayloadEdge?) -> PayloadEdge? {
        guard let edge, access != nil else { return edge }
        guard isVisible(edge.record, for: .link), isVisible(edge.owner, for: .link),
            mayRead(edge.key, of: edge.owner)
        else { return nil }
        return edge
    }
}

extension Access {
    /// Whether nothing of what a count depends on is hidden.
    /// - Parameter owner: the type of the record with the list; nil if there is none.
    func seesAll(of count: LinkCountPlan, in owner: NameIndex?) -> Bool {
        seesAll(ofTypes: count.nodes)
            && owner.map { readsAll(count.key, ofType: $0) } ?? true
            && count.conditions.allSatisfy { condition in
                count.nodes.allSatisfy { readsAll(condition.key, ofType: $0) }
            }
    }

    /// The record that a text names among those that are visible: by its id, else by a unique field's value that may be
    /// read.
    package func find(
        _ text: String, _ lookup: Lookup, for exit: AccessExit, in snapshot: Snapshot,
        _ dependencies: inout Dependencies?
    ) -> RecordIndex? {
        if let record = snapshot.find(id: text, lookup),
            isVisible(record, for: exit, &dependencies)
        {
            return record
        }
        for unique in lookup.uniqueKeys {
            guard let record = snapshot.find(text, under: unique),
                isVisible(record, for: exit, &dependencies),
                mayRead(unique.key, of: record, &dependencies)
            else { continue }
            return record
        }
        return nil
    }
}

extension Snapshot {
    /// The record that a text names: by its id, else by a unique field's value. The id comes first, so
    /// that no program can take a record's place by giving another record its id as a value.
    package func find(_ text: String, _ lookup: Lookup) -> RecordIndex? {
        if let record = find(id: text, lookup) { return record }
        for unique in lookup.uniqueKeys {
            if let found = find(text, under: unique) { return found }
        }
        return nil
    }

    fileprivate func find(id text: String, _ lookup: Lookup) -> RecordIndex? {
        guard let record = existing(text), let type = type(of: record),
            lookup.types.isEmpty || lookup.types.contains(type)
        else { return nil }
        return record
    }

    fileprivate func find(_ text: String, under unique: Lookup.UniqueKey) -> RecordIndex? {
        indexes.record(of: unique.type, where: unique.key, is: text)
    }
}
