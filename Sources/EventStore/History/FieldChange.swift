@_spi(Rooms) package import RelayRecords

/// A value before and after.
package enum FieldChange: Sendable, Hashable {
    /// Nil where the record or its field is not there.
    case value(before: FieldValue?, after: FieldValue?)
    /// A list of links that has changed: what was removed at one place, and inserted there. A list is long,
    /// and what happens to it is short.
    case links(start: Int, removed: [DataID?], inserted: [DataID?])

    /// The value after it; a list's change has none of its own.
    package var after: FieldValue? {
        if case .value(_, let after) = self { after } else { nil }
    }

    package var before: FieldValue? {
        if case .value(let before, _) = self { before } else { nil }
    }

    /// Nothing is different.
    package var isEmpty: Bool {
        switch self {
        case .value(let before, let after): before == after
        case .links(_, let removed, let inserted): removed.isEmpty && inserted.isEmpty
        }
    }
}

extension Snapshot {
    /// How a field changed between this state and another, of this or of any other log.
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

    /// Of two logs, whose records have different numbers.
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
