import RelayJSON
@_spi(Rooms) package import RelayRecords

extension Snapshot {
    /// Every record in the form of a seed file, in creation order.
    package var recordLines: some Sequence<String> {
        recordsInCreationOrder().lazy.compactMap { recordJSON($0)?.sorted.json.text }
    }

    /// Prints every record in the form of a seed file, in creation order.
    package func printRecords(to output: LineOutput) throws {
        for line in recordLines { try output.write(line) }
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
