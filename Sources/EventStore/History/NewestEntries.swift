import RelayJSON
@_spi(Rooms) import RelayRecords
@_spi(Rooms) import Threads

/// The writes that a blame has found, in log order: all of them, or the newest as far as there is room.
struct NewestEntries {
    struct Limit {
        var count = Int.max
        /// Approximate bytes of the values.
        var bytes = Int.max
        /// So many are kept however large they are.
        var least = 1

        init() {}

        /// For a page of so many lines, which are behind others that are passed over.
        init(wanted: Int, after passed: Int, bytes: Int) {
            // A client says how many are passed.
            (least, _) = passed.addingReportingOverflow(1)
            if least <= 0 { least = .max }
            let (sum, isTooMany) = least.addingReportingOverflow(wanted)
            count = isTooMany ? .max : sum
            self.bytes = bytes
        }
    }

    private var entries = FIFO<BlameEntry>()
    private let limit: Limit
    private var byteCount = 0
    /// Older ones were left out.
    private(set) var isCut = false

    init(_ limit: Limit) { self.limit = limit }

    mutating func append(_ entry: BlameEntry) {
        entries.append(entry)
        byteCount += entry.approximateByteCount
        while entries.count > limit.count
            || (byteCount > limit.bytes && entries.count > limit.least),
            let oldest = entries.popFirst()
        {
            byteCount -= oldest.approximateByteCount
            isCut = true
        }
    }

    var newestFirst: [BlameEntry] { entries.reversed() }
}

extension BlameEntry {
    fileprivate var approximateByteCount: Int {
        256 + change.approximateByteCount + (shown?.approximateByteCount ?? 0)
    }
}

extension FieldValue {
    fileprivate var approximateByteCount: Int {
        switch self {
        case .null, .bool, .int, .double, .unset: 16
        case .string(let text): text.utf8.count
        case .json(let value), .failed(let value): value.text.utf8.count
        case .link(let id), .append(let id), .remove(let id): id.rawValue.utf8.count
        case .links(let ids), .splice(_, _, let ids): 32 * ids.count
        }
    }
}

extension FieldChange {
    /// Of the value after it: that before it belongs to an earlier write.
    fileprivate var approximateByteCount: Int {
        switch self {
        case .value(_, let after): after?.approximateByteCount ?? 0
        case .links(_, let removed, let inserted): 32 * (removed.count + inserted.count)
        }
    }
}
