package import RelayJSON
@_spi(Rooms) import RelayRecords

/// Which records of a state.
package struct RecordSearch: Sendable {
    package var type: String
    /// Those behind the record with this id, in the order that is asked for.
    package var after: String?
    /// The order is that of their creation, or the reverse.
    package var isNewestFirst = false
    /// Those in which a field has this value: in the form of a seed file, a number in any spelling, or the id for a link.
    package var field: (name: String, value: JSONValue)?

    package init(type: String) { self.type = type }
}

extension JSONValue {
    /// Whether a field's value is what somebody has typed to find it.
    fileprivate func isFound(by wanted: JSONValue) -> Bool {
        switch (self, wanted) {
        case (.int(let number), .double(let wanted)), (.double(let wanted), .int(let number)):
            return Double(number) == wanted
        case (.object(let object), .string(let wanted)):
            return object.members.count == 1 && object["ref"]?.string == wanted
        default: return self == wanted
        }
    }
}

extension History {
    /// The types of a state, by name, each with the number of its records.
    package func typePage(
        at sequence: UInt64, _ limits: HistoryPage.Limits
    ) throws(EventStoreError) -> HistoryPage {
        var page = HistoryPage(limits)
        for (type, count) in try snapshot(at: sequence).recordCounts().sorted(by: {
            $0.type < $1.type
        }) {
            let line: JSONValue = ["type": .string(type), "count": .int(Int64(count))]
            page.add(line.text)
        }
        return page
    }

    /// The record of a state with an id, if there is one.
    package func recordPage(
        id: String, at sequence: UInt64, _ limits: HistoryPage.Limits
    ) throws(EventStoreError) -> HistoryPage {
        var page = HistoryPage(limits)
        if let line = try recordLine([BlameTarget(record: id)], at: sequence) { page.add(line) }
        return page
    }

    /// Records of a type in a state, in the form of a seed file.
    ///
    /// Ends early when there is no time left.
    /// - Parameter mayGoOn: asked now and then.
    /// - Throws: ``HistoryPageError`` too, if the record to begin behind does not exist.
    package func recordPage(
        _ search: RecordSearch, at sequence: UInt64, _ limits: HistoryPage.Limits,
        mayGoOn: () -> Bool = { true }
    ) throws -> HistoryPage {
        var page = HistoryPage(limits)
        let state = try snapshot(at: sequence)
        var records = state.recordsInCreationOrder(of: search.type)[...]
        if let after = search.after {
            guard let last = state.creation(ofRecord: after) else {
                throw HistoryPageError.nothing("There is no record \(after) at event \(sequence).")
            }
            // In creation order, so that what is behind it is at one end.
            records =
                search.isNewestFirst
                ? records.prefix { $0.creation < last } : records.drop { $0.creation <= last }
        }
        let inOrder = search.isNewestFirst ? Array(records.reversed()) : Array(records)
        var last: RecordIndex?
        for (place, (_, record)) in inOrder.enumerated() {
            if let last, page.isFull || (place % 1_024 == 0 && !mayGoOn()) {
                let id = state.recordJSON(last)?.id.rawValue ?? ""
                page.next = [.at: "\(sequence)", .after: id]
                break
            }
            last = record
            if let (name, value) = search.field,
                state.fieldValue(name, of: record)?.recordJSON.isFound(by: value) != true
            {
                continue
            }
            if let shown = state.recordJSON(record) { page.add(shown.sorted.json.text) }
        }
        return page
    }
}
