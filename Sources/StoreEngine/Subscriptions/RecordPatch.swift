import RelayJSON
@_spi(Rooms) import RelayRecords
import ResultPatches

/// The difference between the records of two results: `extensions.relay.records`.
///
/// Applied to the records of the old result, it gives exactly those of the new one, byte for byte what
/// normalizing the new result alone gives.
struct RecordPatch: Sendable, Equatable {
    /// `{id: {key: VALUE} or null}` as JSON text, ids and keys sorted.
    let bytes: [UInt8]
    /// Of the removed records, those that still exist, sorted: they are only absent from this result, and
    /// other operations of the client may still show them.
    let left: [ExactText]

    /// - Parameters:
    ///   - result: what is sent in its place if there is no patch.
    ///   - isDeleted: whether an object's record no longer exists in the store.
    /// - Returns: nil if the result is much shorter: names of records and fields may be long, and are repeated.
    init?(
        from old: ResultRecords, to new: ResultRecords, inPlaceOf result: ExecutedResult,
        isDeleted: (ExactText) -> Bool
    ) {
        var changes: [(id: ExactText, fields: [ExactText: JSONValue]?)] = []
        for (id, fields) in new.records {
            let known = old.records[id]
            let changed = Self.changes(from: known ?? [:], to: fields)
            if known == nil || !changed.isEmpty { changes.append((id, changed)) }
        }
        let gone = old.records.keys.filter { new.records[$0] == nil }
        changes += gone.map { ($0, nil) }
        // Long ids are not even sorted.
        let byteLimit = 4 * result.bytes.count + 4_096
        if changes.reduce(0, { $0 + $1.id.text.utf8.count }) > byteLimit { return nil }
        changes.sort { $0.id < $1.id }
        guard let text = Self.text(of: changes, byteLimit: byteLimit) else {
            return nil
        }
        bytes = text
        left = old.existing(among: gone, isDeleted: isDeleted).sorted()
    }

    private static func text(
        of changes: [(id: ExactText, fields: [ExactText: JSONValue]?)], byteLimit: Int
    ) -> [UInt8]? {
        var writer = JSONWriter()
        writer.raw(UInt8(ascii: "{"))
        for (place, change) in changes.enumerated() {
            if place > 0 { writer.raw(UInt8(ascii: ",")) }
            writer.write(change.id.text)
            writer.raw(UInt8(ascii: ":"))
            if let fields = change.fields {
                ResultRecords.write(fields, to: &writer)
            } else {
                writer.writeNull()
            }
            if writer.count > byteLimit { return nil }
        }
        writer.raw(UInt8(ascii: "}"))
        return writer.bytes
    }

    /// The fields that are new or different, and `{"unset": true}` for fields that are gone.
    private static func changes(
        from old: [ExactText: JSONValue], to new: [ExactText: JSONValue]
    ) -> [ExactText: JSONValue] {
        var changes: [ExactText: JSONValue] = [:]
        for (key, value) in new where old[key] != value {
            changes[key] = splice(from: old[key], to: value) ?? value
        }
        for key in old.keys where new[key] == nil { changes[key] = ["unset": true] }
        return changes
    }

    /// `{"splice": [start, deleted, [ids…]]}` for a list of links that changed in one place; nil when it is
    /// not such a list, or the whole list is shorter.
    private static func splice(from old: JSONValue?, to new: JSONValue) -> JSONValue? {
        guard let old = old?["refs"]?.array, let new = new["refs"]?.array else { return nil }
        var start = 0
        while start < old.count, start < new.count, old[start] == new[start] { start += 1 }
        var end = 0
        while end < old.count - start, end < new.count - start,
            old[old.count - 1 - end] == new[new.count - 1 - end]
        {
            end += 1
        }
        let inserted = new[start..<(new.count - end)]
        guard inserted.count + 2 < new.count else { return nil }
        return [
            "splice": [
                .int(Int64(start)), .int(Int64(old.count - end - start)), .array(Array(inserted)),
            ]
        ]
    }
}

extension ResultRecords {
    /// The records that are gone from a result but still exist. For an object, the store decides. A
    /// client-only record stands for a place in another record. It exists as long as that record does, unless
    /// something else was put in its place.
    fileprivate func existing(
        among gone: [ExactText], isDeleted: (ExactText) -> Bool
    ) -> Set<ExactText> {
        var existing = Set(gone.filter { $0 == Self.rootID || !Self.isPlace($0) && !isDeleted($0) })
        var places = Set(gone.filter(Self.isPlace))
        if places.isEmpty { return existing }
        var unseen = Array(existing)
        while let id = unseen.popLast() {
            for link in records[id]?.values.lazy.flatMap(Self.links) ?? [] {
                guard places.remove(link) != nil else { continue }
                existing.insert(link)
                unseen.append(link)
            }
        }
        return existing
    }

    private static func isPlace(_ id: ExactText) -> Bool { id.text.hasPrefix("client:") }

    private static func links(_ value: JSONValue) -> [ExactText] {
        if let id = value["ref"]?.string { return [ExactText(id)] }
        return value["refs"]?.array?.compactMap { $0.string.map { ExactText($0) } } ?? []
    }
}
