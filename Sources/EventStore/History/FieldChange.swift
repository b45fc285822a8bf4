@_spi(Rooms) package import RelayRecords

/// A value before and after.
package enum FieldChange: Sendable, Hashable {
    /// Nil if the record or its field does not exist.
    case value(before: FieldValue?, after: FieldValue?)
    /// A change to a list of links: what was removed at one place, and inserted there. Lists are long, but
    /// their changes are short.
    case links(start: Int, removed: [DataID?], inserted: [DataID?])

    /// The value after the change; nil for a change to a list.
    package var after: FieldValue? {
        if case .value(_, let after) = self { after } else { nil }
    }

    package var before: FieldValue? {
        if case .value(let before, _) = self { before } else { nil }
    }

    /// Whether nothing differs.
    package var isEmpty: Bool {
        switch self {
        case .value(let before, let after): before == after
        case .links(_, let removed, let inserted): removed.isEmpty && inserted.isEmpty
        }
    }
}

extension Snapshot {
    /// How a field changed between this state and another, from this or any other log.
    /// - Parameter key: a storage key, or `__typename`.
    func change(of key: String, of record: String, to other: Snapshot) -> FieldChange {
        let (mine, theirs) = (existing(record), other.existing(record))
        if key == "__typename" {
            return .value(before: mine.flatMap(typeValue), after: theirs.flatMap(other.typeValue))
        }
        if let before = mine.flatMap({ links(key, of: $0) }),
            let after = theirs.flatMap({ other.links(key, of: $0) })
        {
            return symbols === other.symbols
                ? links(of: after.splice(from: before)) : links(from: before, to: after, of: other)
        }
        return .value(
            before: mine.flatMap { fieldValue(key, of: $0) },
            after: theirs.flatMap { other.fieldValue(key, of: $0) })
    }

    private func links(of splice: LinkSplice?) -> FieldChange {
        .links(
            start: splice?.start ?? 0, removed: splice?.removed.map(dataID) ?? [],
            inserted: splice?.inserted.map(dataID) ?? [])
    }

    /// For states of two logs, whose records have different numbers.
    private func links(
        from before: LinkList, to after: LinkList, of other: Snapshot
    ) -> FieldChange {
        let (old, new) = (before.records.map(dataID), after.records.map(other.dataID))
        let start = zip(old, new).prefix { $0 == $1 }.count
        let end = min(
            zip(old.reversed(), new.reversed()).prefix { $0 == $1 }.count,
            min(old.count, new.count) - start)
        return .links(
            start: start, removed: Array(old[start..<old.count - end]),
            inserted: Array(new[start..<new.count - end]))
    }

    private func dataID(_ record: RecordIndex?) -> DataID? {
        record.map { DataID(symbols.idString($0)) }
    }
}
