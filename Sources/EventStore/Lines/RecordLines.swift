import RelayJSON
@_spi(Rooms) package import RelayRecords

extension Snapshot {
    /// Every record in the form of a seed file, in creation order.
    package var recordLines: some Sequence<String> { recordLines(from: 0) }

    /// - Parameter place: leaves out as many records.
    package func recordLines(from place: Int) -> some Sequence<String> {
        recordsInCreationOrder().dropFirst(place).lazy
            .compactMap { recordJSON($0)?.sorted.json.text }
    }
}

extension RecordJSON {
    /// The same with the fields by the bytes of their names: their order in memory depends on whether a
    /// checkpoint was read, and printed lines must not.
    package var sorted: RecordJSON {
        var record = self
        record.fields.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return record
    }
}

extension History {
    /// A record after an event, in the form of a seed file.
    /// - Parameter targets: the first one whose record exists is shown, with all its fields or one.
    /// - Returns: nil if none of the records exists, or the record has no such field.
    package func recordLine(
        _ targets: [BlameTarget], at sequence: UInt64
    ) throws(EventStoreError) -> String? {
        let state = try snapshot(at: sequence, of: targets.map(\.record))
        guard let target = targets.first(where: { state.existing($0.record) != nil }),
            let record = state.existing(target.record), var shown = state.recordJSON(record)
        else { return nil }
        if let field = target.field {
            shown.fields.removeAll { !$0.key.isSame(as: field) }
            if shown.fields.isEmpty { return nil }
        }
        return shown.sorted.json.text
    }
}
