@_spi(Rooms) import RelayRecords

/// How a record of a list gets to another place of it: what the log keeps of that is as short for a long list as for a
/// short one.
struct ListMove: Equatable {
    /// How often the record is in the list.
    let times: Int
    /// Where it goes, in the list without it.
    let index: Int

    /// Nil if the record is not in the list, or is where it is to go, and nowhere else.
    /// - Parameters:
    ///   - records: the list; nil is a null element.
    ///   - place: the index where it goes, in the list without it.
    init?<Record: Equatable>(
        of record: Record, among records: [Record?], to place: (_ others: [Record?]) -> Int
    ) {
        guard let first = records.firstIndex(of: record) else { return nil }
        let others = records.filter { $0 != record }
        times = records.count - others.count
        index = place(others)
        if times == 1, index == first { return nil }
    }

    /// - Parameter id: of the record.
    func writes(_ id: DataID) -> [FieldValue] {
        Array(repeating: .remove(id), count: times) + [.splice(start: index, deleted: 0, [id])]
    }
}
