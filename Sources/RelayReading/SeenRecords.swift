@_spi(Rooms) package import RelayRecords

/// A record, and what was read of it; nothing where the record did not exist.
package struct SeenRecord: Sendable {
    package let record: RecordIndex
    package let reading: FlatReading?
}

/// The records that were read for one snapshot of data. As long as a program has these, or any data that was read with
/// them, their numbers stay theirs.
package final class SeenRecords: Sendable {
    let records: ContiguousArray<SeenRecord>
    package let symbols: Symbols

    /// The caller keeps the snapshot that they were read from meanwhile.
    init(_ records: ContiguousArray<SeenRecord>, _ symbols: Symbols) {
        self.records = records
        self.symbols = symbols
        for seen in records { symbols.ids.hold(seen.record.rawValue) }
    }

    deinit { for seen in records { symbols.ids.endHold(seen.record.rawValue) } }
}
