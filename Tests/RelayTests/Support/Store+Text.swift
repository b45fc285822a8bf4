@_spi(Rooms) import RelayStore

extension Store {
    /// A string field of a record, as readers see it now.
    func snapshotText(of id: String, _ field: String) -> String? {
        let snapshot = snapshot
        guard let record = snapshot.existing(id),
            case .string(let text)? = snapshot.fieldValue(field, of: record)
        else { return nil }
        return text
    }
}
