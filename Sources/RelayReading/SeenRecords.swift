@_spi(Rooms) package import RelayRecords

/// A record, and what was read of it; nothing if the record did not exist.
package struct SeenRecord: Sendable {
    package let record: RecordIndex
    package let reading: FlatReading?
}

/// The records that were read for one snapshot of data. As long as a program holds these, or any data read with them,
/// their numbers are not reused.
package final class SeenRecords: Sendable {
    let records: ContiguousArray<SeenRecord>
    package let symbols: Symbols

    /// Meanwhile the caller retains the snapshot that they were read from.
    init(_ records: ContiguousArray<SeenRecord>, _ symbols: Symbols) {
        self.records = records
        self.symbols = symbols
        for seen in records { symbols.ids.hold(seen.record.rawValue) }
    }

    deinit { for seen in records { symbols.ids.endHold(seen.record.rawValue) } }
}
